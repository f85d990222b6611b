# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One episode of a policy in a simulation without ROS, in the simulation's own time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import PolicyError, ValueRangeError
from frame_ros.core.events import Event, EventType, Outcome
from frame_ros.core.time import SECOND
from frame_ros.core.turns import continuous_among
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.metric_pipeline.options import PipelineOptions
from frame_ros.episodes.metric_pipeline.robot_actions import action_settings
from frame_ros.policies.base import Policy
from frame_ros.policies.execution.action_check import check_chunk
from frame_ros.policies.execution.action_queue import ActionQueue
from frame_ros.policies.execution.options import ExecutionOptions
from frame_ros.policies.fingerprint import FingerprintText
from frame_ros.policies.protocol import Inference, Observation
from frame_ros.robots import Robot, load_robot
from frame_ros.scenes.rollout_record import RolloutRecord
from frame_ros.scenes.run_options import RATES
from frame_ros.scenes.simulation.robot_simulation import RobotSimulation
from frame_ros.scenes.simulation.scene_robot import SceneRobot
from frame_ros.scenes.simulation.task import TaskState

# Every episode begins here, so that no stamp is 0, which means: not set. ns
START = SECOND
OUTCOMES = {
    TaskState.SUCCESS: (EventType.SUCCESS, Outcome.SUCCESS),
    TaskState.FAILURE: (EventType.FAILURE, Outcome.FAILURE),
}
# Gets every control step: the policy's possible observations, and the executed action (D,) rad.
StepListener = Callable[[Observation, NDArray[np.float64]], None]
Answer = TypeVar('Answer')


class UnusableActionsError(PolicyError):
    """A policy gave no actions that the robot can execute, though it could be asked for them."""


class RolloutLoop:
    """The loop that kinds of rollouts share: observe, infer, record, act.

    The simulation waits for the policy, so latency does not change the motion; the measured latency
    is that of the machine. A chunk is executed from its first step, and the next is requested when
    its `n_action_steps` (all of them, if the policy names none) are done.

    Args:
        robot: of the simulation.
        timestep: s, of the physics, of about which the loop's is.
        rate: Hz of control steps.
        timeout: s after which an episode ends.
        cameras: name -> (width, height) of images for listeners.
    """

    simulation: RobotSimulation
    instruction: str

    def __init__(
        self,
        robot: SceneRobot,
        timestep: float,
        rate: float,
        timeout: float,
        cameras: Mapping[str, tuple[int, int]] | None = None,
    ) -> None:
        """Raises ValueRangeError: rate or timeout is out of range."""
        check_rate(rate, timeout)
        # The physics divides a control step evenly: equal times between steps, to the bit.
        self._substeps = max(1, round(1.0 / (timestep * rate)))
        self.timestep = 1.0 / (rate * self._substeps)
        self.rate, self.timeout = rate, timeout
        self._robot: Robot = load_robot(robot.source, robot.tip_link)
        self._limits = self._robot.joint_limits
        self._names = robot.joint_names
        self._arm = [self._names.index(name) for name in self._robot.joint_names]
        self._cameras = dict(cameras or {})

    def _settings(self, ot_task: str) -> PipelineOptions:
        """The settings of the metrics."""
        return _settings_of(tuple(self._limits.items()), self._robot.continuous, ot_task)

    def _roll(
        self, policy: Policy, on_step: StepListener | None = None
    ) -> tuple[RolloutRecord, int]:
        """Runs the policy in the simulation as it stands; returns the record and ns of its end."""
        record = RolloutRecord(self._names, FingerprintText(policy, self.rate))
        queue = ActionQueue(
            1.0 / self.rate,
            ExecutionOptions(alignment='first', n_action_steps=policy.n_action_steps, prefetch=0),
        )
        queue.open()
        steps = round(self.timeout * self.rate)
        for step in range(steps):
            stamp = START + round(step * SECOND / self.rate)
            is_due = queue.wait_for_demand(0.0)
            is_seen = is_due or on_step is not None or policy.needs_history
            observation = self._observe(policy, stamp, step / self.rate, is_seen)
            try:
                if is_due:
                    self._infer(policy, observation, queue, record)
                elif policy.needs_history:
                    self._ask(policy.observe, observation)
            except UnusableActionsError as error:
                if not step or not self._ends_by(error):
                    raise
                return record, stamp
            action, _ = queue.take()
            assert action is not None
            self._record(record, observation, action)
            if on_step is not None:
                on_step(observation, action)
            self.simulation.step(action, self._substeps)
            if self._is_over():
                break
        return record, START + round((step + 1) * SECOND / self.rate)

    def _ends_by(self, error: UnusableActionsError) -> bool:
        """Returns whether the episode ends, rather than fails, by actions after the first ones."""
        return False

    def _ask(self, call: Callable[[Observation], Answer], observation: Observation) -> Answer:
        """Returns what a call of the policy gives."""
        return call(observation)

    def _is_over(self) -> bool:
        """Returns whether the episode ends after this step."""
        raise NotImplementedError

    def _observe(
        self, policy: Policy, stamp: int, executed: float, is_seen: bool = True
    ) -> Observation:
        """Returns the present observation. is_seen: with images."""
        scene = self.simulation
        sizes = {**dict.fromkeys(policy.cameras, (320, 240)), **self._cameras}
        return Observation(
            stamp,
            stamp,
            self._names,
            scene.joint_state().positions,
            {name: scene.render(name, *size).rgb for name, size in sizes.items() if is_seen},
            {'object': scene.object_pose(), 'goal': scene.goal_pose()},
            self.instruction,
            executed,
        )

    def _infer(
        self, policy: Policy, observation: Observation, queue: ActionQueue, record: RolloutRecord
    ) -> Inference:
        request = queue.request()
        assert request is not None
        begun, cpu = time.perf_counter(), time.process_time()
        inference = self._ask(policy.infer, observation)
        try:
            actions, _ = check_chunk(inference, self._limits)
            order = [inference.action_names.index(name) for name in self._names]
        except (PolicyError, ValueError) as error:
            raise UnusableActionsError(str(error)) from error
        turning = continuous_among(self._names, self._robot.continuous)
        arrival = queue.push(request, actions[:, order], inference.dt, is_continuous=turning)
        latency, cpu = time.perf_counter() - begun, time.process_time() - cpu
        record.add_inference(observation, inference, arrival, latency, cpu)
        return inference

    def _record(
        self, record: RolloutRecord, observation: Observation, action: NDArray[np.float64]
    ) -> None:
        scene, joints = self.simulation, self.simulation.joint_state()
        position, orientation = self._robot.forward(joints.positions[self._arm])
        rows = {
            'joints': joints.positions,
            'efforts': joints.efforts,
            'position': position,
            'orientation': orientation,
            'action': action,
            'places': scene.places(),
            # Not those of the observation, which a policy may have written over.
            'object': scene.object_pose(),
            'goal': scene.goal_pose(),
        }
        record.add_step(observation.stamp, scene.contacts(), rows)

    def _episode(
        self,
        name: str,
        state: TaskState,
        record: RolloutRecord,
        end: int,
        attributes: Mapping[str, str],
    ) -> Episode:
        """The episode, not yet processed."""
        kind, outcome = OUTCOMES.get(state, (None, Outcome.TIMEOUT))
        start = Event(START, EventType.START, name, source='rollout')
        events = [start]
        if kind is not None:
            events.append(replace(start, stamp=end, type=kind))
        events.append(replace(start, stamp=end, type=EventType.END, outcome=outcome))
        streams = record.streams(self.simulation.least_distances)
        return Episode(Path(), name, dict(attributes), events, streams, {})


def check_rate(rate: float, timeout: float) -> None:
    """Raises ValueRangeError: rate is not within RATES, or timeout is not positive."""
    if not RATES[0] <= rate <= RATES[1]:
        raise ValueRangeError(
            f'rate is {rate} Hz; it must lie within {RATES[0]:g} and {RATES[1]:g} Hz'
        )
    if not timeout > 0:
        raise ValueRangeError(f'timeout is {timeout} s; it must be positive')


@lru_cache(maxsize=32)
def _settings_of(
    limits: tuple[tuple[str, tuple[float, float]], ...], continuous: tuple[str, ...], ot_task: str
) -> PipelineOptions:
    return PipelineOptions(**action_settings(dict(limits), continuous), ot_task=ot_task)
