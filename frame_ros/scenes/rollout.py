# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A policy in the simulated scene without ROS, in the simulation's own time: one Episode.

Its streams and metrics are those of an episode read from a bag, through the same pipeline, so a
training loop sees the numbers that the robot will show.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.events import Event, EventType, Outcome
from frame_ros.core.time import SECOND
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.metric_pipeline.options import PipelineOptions
from frame_ros.episodes.processing import process_episode
from frame_ros.episodes.reference import Reference
from frame_ros.policies.base import Policy
from frame_ros.policies.execution.action_check import check_chunk
from frame_ros.policies.execution.action_queue import ActionQueue
from frame_ros.policies.execution.options import ExecutionOptions
from frame_ros.policies.fingerprint import FingerprintText
from frame_ros.policies.protocol import Observation
from frame_ros.robots import Robot, load_robot
from frame_ros.scenes.rollout_record import RolloutRecord
from frame_ros.scenes.simulation.scene_robot import scene_robot
from frame_ros.scenes.simulation.simulation import PickPlaceSimulation
from frame_ros.scenes.simulation.task import TaskState

# Every episode begins here, so that no stamp is 0, which means: not set. ns
START = SECOND
INSTRUCTION = 'pick up the cube and put it in the bin'
OUTCOMES = {
    TaskState.SUCCESS: (EventType.SUCCESS, Outcome.SUCCESS),
    TaskState.FAILURE: (EventType.FAILURE, Outcome.FAILURE),
}
# Gets every control step: the policy's possible observations, and the executed action (D,) rad.
StepListener = Callable[[Observation, NDArray[np.float64]], None]


class Rollouts:
    """Rolls policies out in a `PickPlaceSimulation`, one seeded episode at a time.

    The simulation waits for the policy, so latency does not change the motion; the measured latency
    is that of the machine. A chunk is executed from its first step, and the next is requested when
    its `n_action_steps` (all of them, if the policy names none) are done. OT is that of putting the
    cube into the bin, where it is grasped when both fingers press on it.

    Args:
        rate: Hz of control steps.
        timeout: s after which an episode ends.
        cameras: name -> (width, height) of images for listeners, in addition to those that the
            policy requests; a requested camera that is not named here has 320 x 240.
        robot: 'so101' or 'fr3'.
    """

    def __init__(
        self,
        rate: float = 30.0,
        timeout: float = 20.0,
        instruction: str = INSTRUCTION,
        cameras: Mapping[str, tuple[int, int]] | None = None,
        robot: str = 'so101',
    ) -> None:
        """Builds the scene.

        Raises:
            ValueRangeError: rate is not within 10 and 250 Hz, timeout is not positive, or there is
                no such robot.
            MissingExtraError: mujoco is not installed.
        """
        if not 10.0 <= rate <= 250.0:
            raise ValueRangeError(f'rate is {rate} Hz; it must lie within 10 and 250 Hz')
        if not timeout > 0:
            raise ValueRangeError(f'timeout is {timeout} s; it must be positive')
        # The physics divides a control step evenly: equal times between steps, to the bit.
        self._substeps = max(1, round(1.0 / (scene_robot(robot).timestep * rate)))
        self.rate, self.timeout, self.instruction = rate, timeout, instruction
        self.simulation = PickPlaceSimulation(timestep=1.0 / (rate * self._substeps), robot=robot)
        self._robot: Robot = load_robot(robot, self.simulation.robot.tip_link)
        self._limits = self._robot.joint_limits
        lower, upper = zip(*self._limits.values())
        self.settings = PipelineOptions(
            action_names=tuple(self._limits),
            action_lower=lower,
            action_upper=upper,
            ot_task='put_in',
        )
        self._names = self.simulation.joint_names
        self._arm = [self._names.index(name) for name in self._robot.joint_names]
        self._cameras = dict(cameras or {})

    def run(
        self,
        policy: Policy,
        seed: int,
        on_step: StepListener | None = None,
        references: Sequence[Reference] = (),
    ) -> Episode:
        """Runs one episode in the scene that `seed` draws, with its metrics and summary computed.

        Args:
            references: of ATE and RTE, see `reference_of`; the nearest counts.

        Raises:
            PolicyError: the policy cannot act on the scene's observations, or returned something
                unusable.
            ValueRangeError: the seed is negative.
        """
        self.simulation.reset(seed)
        policy.reset(seed)
        record = RolloutRecord(self._names, FingerprintText(policy, self.rate))
        queue = ActionQueue(
            1.0 / self.rate,
            ExecutionOptions(alignment='first', n_action_steps=policy.n_action_steps, prefetch=0),
        )
        queue.open()
        steps = round(self.timeout * self.rate)
        for step in range(steps):
            stamp = START + round(step * SECOND / self.rate)
            observation = self._observe(policy, stamp, step / self.rate)
            if queue.wait_for_demand(0.0):
                self._infer(policy, observation, queue, record)
            action, _ = queue.take()
            assert action is not None
            self._record(record, observation, action)
            if on_step is not None:
                on_step(observation, action)
            self.simulation.step(action, self._substeps)
            if self.simulation.task_state is not TaskState.RUNNING:
                break
        end = START + round((step + 1) * SECOND / self.rate)
        episode = self._episode(policy, seed, record, end)
        process_episode(episode, references)
        return episode

    def run_many(
        self,
        policy: Policy,
        seeds: Iterable[int],
        references: Mapping[int, Sequence[Reference]] | None = None,
    ) -> list[Episode]:
        """Runs one episode for each seed. references: by seed; otherwise as `run`."""
        known = references or {}
        return [self.run(policy, seed, None, known.get(seed, ())) for seed in seeds]

    def close(self) -> None:
        """Frees the renderers, if there are any."""
        self.simulation.close()

    def _observe(self, policy: Policy, stamp: int, executed: float) -> Observation:
        scene = self.simulation
        sizes = {**dict.fromkeys(policy.cameras, (320, 240)), **self._cameras}
        return Observation(
            stamp,
            stamp,
            self._names,
            scene.joint_state().positions,
            {name: scene.render(name, *size).rgb for name, size in sizes.items()},
            {'object': scene.object_pose(), 'goal': scene.goal_pose()},
            self.instruction,
            executed,
        )

    def _infer(
        self, policy: Policy, observation: Observation, queue: ActionQueue, record: RolloutRecord
    ) -> None:
        request = queue.request()
        assert request is not None
        begun, cpu = time.perf_counter(), time.process_time()
        inference = policy.infer(observation)
        actions, _ = check_chunk(inference, self._limits)
        order = [inference.action_names.index(name) for name in self._names]
        arrival = queue.push(request, actions[:, order], inference.dt)
        latency, cpu = time.perf_counter() - begun, time.process_time() - cpu
        record.add_inference(observation, inference, arrival, latency, cpu)

    def _record(
        self,
        record: RolloutRecord,
        observation: Observation,
        action: NDArray[np.float64],
    ) -> None:
        scene, joints = self.simulation, observation.joint_positions
        position, orientation = self._robot.forward(joints[self._arm])
        rows = {
            'joints': joints,
            'efforts': scene.joint_state().efforts,
            'position': position,
            'orientation': orientation,
            'action': action,
            'distance': scene.distance().distance,
            'object': observation.poses['object'],
            'goal': observation.poses['goal'],
        }
        record.add_step(observation.stamp, scene.contacts(), rows)

    def _episode(self, policy: Policy, seed: int, record: RolloutRecord, end: int) -> Episode:
        name = f'{policy.name}-{seed}'
        kind, outcome = OUTCOMES.get(self.simulation.task_state, (None, Outcome.TIMEOUT))
        start = Event(START, EventType.START, name, source='rollout')
        events = [start]
        if kind is not None:
            events.append(replace(start, stamp=end, type=kind))
        events.append(replace(start, stamp=end, type=EventType.END, outcome=outcome))
        attributes = {
            'robot': self._robot.name,
            'seed': str(seed),
            'policy': policy.name,
            'checkpoint': policy.checkpoint,
            'instruction': self.instruction,
            'metrics_config': self.settings.to_json(),
        }
        return Episode(Path(), name, attributes, events, record.streams(), {})
