# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A policy in a scene of a scene file, without ROS: an Episode, and the steps of its task."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache

import attrs
import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import FrameRosError, PolicyError, PolicyFailedError
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.processing import process_episode
from frame_ros.policies.base import Policy
from frame_ros.policies.execution.action_queue import ActionQueue
from frame_ros.policies.known_scene import KnownObject, KnownScene
from frame_ros.policies.own_failures import is_own_failure
from frame_ros.policies.protocol import Inference, Observation
from frame_ros.scenes.description.scene import Scene, SceneObject
from frame_ros.scenes.generation.constraints import check_scene
from frame_ros.scenes.generation.setting import Setting, setting
from frame_ros.scenes.other_worlds.worlds import scene_world
from frame_ros.scenes.recording.details import EpisodeDetails
from frame_ros.scenes.rollout_loop import Answer, RolloutLoop, StepListener, UnusableActionsError
from frame_ros.scenes.rollout_record import RolloutRecord
from frame_ros.scenes.run_options import SceneRunOptions
from frame_ros.scenes.scene_sensors import SceneSensors
from frame_ros.scenes.simulation.episode_states import StateRecorder
from frame_ros.scenes.simulation.scene_simulation import SceneSimulation
from frame_ros.scenes.simulation.task import REST_SPEED, REST_TIME, TaskState
from frame_ros.scenes.tasks.rules import OWN_RULE, RULES, StepOutcomes, is_success, judge
from frame_ros.scenes.world_names import OURS

OT_TASKS = {'pick_up': 'pick', 'move_near': 'move', 'put_on': 'put_on', 'put_in': 'put_in'}
ENDING_RULE = 'paper'  # by whose success an episode ends
LOOKED = 0.1  # s, between two looks for success
LEAST_MOVE = 0.01  # m, by which the target has moved or been lifted before any success


@attrs.frozen(kw_only=True)
class SceneEpisode:
    """A policy's episode in a scene.

    Attributes:
        episode: None: there is none, as the scene could not be run.
        outcomes: rule -> the steps that were reached; empty with a problem.
        problem: why it does not count; '': it does. It is no failure of the policy.
        duration: s of simulated time.
        note: how the policy broke down after its first actions, a failure of it; '': it did not.
    """

    episode: Episode | None
    outcomes: Mapping[str, StepOutcomes]
    problem: str
    duration: float
    note: str = ''


def run_scene(
    scene: Scene,
    policy: Policy,
    run: SceneRunOptions | None = None,
    seed: int | None = None,
    instruction: str | None = None,
    on_step: StepListener | None = None,
    details: EpisodeDetails | None = None,
) -> SceneEpisode:
    """Runs a policy once in a scene. The same scene, policy and seed give the same bits, but for
    latencies and loads.

    The episode ends when the task is a success by the paper's rule, or by the world's own where it
    has one; when the target has fallen off the table; or after the timeout.

    Args:
        seed: of the policy; None: the scene's policy_seed.
        instruction: None: the scene's.
        on_step: gets every observation, with images, and action.
        details: gets what a bag has in addition to the episode, see `write_episode_bag`.

    Raises:
        PolicyError: the policy cannot act on the observations, or its first actions are unusable.
    """
    run = run or SceneRunOptions()
    if run.is_checked and (problem := scene_problem(scene, run.world)):
        return _not_run(problem)
    try:
        rollout = SceneRollout(scene, run, instruction, details, bool(policy.cameras))
    except FrameRosError as error:
        return _not_run(f'cannot be simulated: {error}')
    try:
        return rollout.run(policy, (scene.policy_seed or 0) if seed is None else seed, on_step)
    finally:
        rollout.close()


def scene_problem(scene: Scene, world: str = OURS) -> str:
    """Returns the constraint that a scene breaks, in words; '': it keeps all."""
    if scene.world not in (OURS, world):
        return f'is of the world {scene.world}, and does not run in {world}'
    try:
        broken = check_scene(scene, _setting(world, scene.robot, scene.task.kind))
    except FrameRosError as error:
        return f'cannot be checked: {error}'
    return '' if broken is None else f'breaks {broken.constraint}: {broken.problem}'


def known_scene(scene: Scene) -> KnownScene:
    """Returns the scene as policies may know it; shapes, masses and colours must be known."""
    objects = sorted(scene.objects, key=lambda each: each.role != 'target')
    return KnownScene(task=scene.task.kind, objects=tuple(map(_known_object, objects)))


class SceneRollout(RolloutLoop):
    """Rolls policies out in one scene."""

    simulation: SceneSimulation

    def __init__(
        self,
        scene: Scene,
        run: SceneRunOptions,
        instruction: str | None = None,
        details: EpisodeDetails | None = None,
        is_drawn: bool = True,
    ) -> None:
        """Builds the scene.

        Args:
            is_drawn: False: no policy that runs in it wants pictures.

        Raises:
            FrameRosError: as of `SceneSimulation`.
        """
        world = scene_world(run.world)
        robot = world.robot(scene.robot)
        super().__init__(robot, run.timestep, run.rate, run.timeout)
        self.scene, self._run, self._has_run = scene, run, False
        self._details, self._is_drawn = details, is_drawn
        self.instruction = (scene.instruction or '') if instruction is None else instruction
        self.simulation = world.simulation(scene, robot, self.timestep, is_drawn)
        self.settings = self._settings(OT_TASKS[scene.task.kind])
        self._looked = max(1, round(LOOKED * run.rate))
        # The last frames that decide whether something is at rest, and the first.
        self._window = math.ceil(REST_TIME * run.rate) + 3

    def run(self, policy: Policy, seed: int, on_step: StepListener | None = None) -> SceneEpisode:
        """Runs one episode, see `run_scene`."""
        simulation = self.simulation
        if self._has_run:
            simulation.reset()
        self._has_run = True
        if simulation.problem:
            return _not_run(simulation.problem)
        policy.know(known_scene(self.scene))
        policy.reset(seed)
        if policy.cameras and not self._is_drawn:
            raise PolicyError(
                f'the policy wants pictures of {", ".join(policy.cameras)}, but had no cameras '
                'when the scene was built: they must be named before its episode begins'
            )
        self._states = StateRecorder(simulation.model, self.scene, simulation.robot)
        self._states.record(simulation.data)
        self._sensors = SceneSensors(
            self.scene, simulation, seed, policy.cameras, self._run.with_depth
        )
        self._state, self._note = TaskState.RUNNING, ''
        record, end = self._roll(policy, on_step)
        duration = float(simulation.time)
        if simulation.problem:
            return _not_run(simulation.problem, duration)
        states = self._states.states()
        outcomes = {rule: judge(self.scene, states, rule) for rule in RULES}
        if problem := next((o.problem for o in outcomes.values() if o.problem), ''):
            return _not_run(problem, duration)
        if (own := simulation.own_outcomes()) is not None:
            outcomes[OWN_RULE] = own
        if self._note:
            outcomes = {rule: _failed(each) for rule, each in outcomes.items()}
        elif (own or outcomes[ENDING_RULE]).reached['success']:
            self._state = TaskState.SUCCESS
        attributes = {
            'robot': self._robot.name,
            'scene': self.scene.name,
            'seed': str(seed),
            'policy': policy.name,
            'checkpoint': policy.checkpoint,
            'instruction': self.instruction,
            'metrics_config': self.settings.to_json(),
        }
        name = f'{self.scene.name}-{policy.name}-{seed}'
        episode = self._episode(name, self._state, record, end, attributes)
        process_episode(episode)
        return SceneEpisode(
            episode=episode, outcomes=outcomes, problem='', duration=duration, note=self._note
        )  # fmt: skip

    def close(self) -> None:
        """Frees the renderers, if there are any."""
        self.simulation.close()

    def _ends_by(self, error: UnusableActionsError) -> bool:
        self._note = f'the policy broke down after {self.simulation.time:.2f} s: {error}'
        self._state = TaskState.FAILURE
        return True

    def _is_over(self) -> bool:
        simulation = self.simulation
        if simulation.problem:
            return True
        self._states.record(simulation.data, simulation.pressing())
        if simulation.is_lost:
            self._state = TaskState.FAILURE
        elif (own := simulation.own_outcomes()) is not None:
            if own.reached['success']:
                self._state = TaskState.SUCCESS
        elif self._states.count % self._looked == 0 and self._may_be_done():
            recent = self._states.states(self._window)
            if is_success(self.scene, recent):
                self._state = TaskState.SUCCESS
        return self._state is not TaskState.RUNNING

    def _may_be_done(self) -> bool:
        """Returns whether it is worth while to judge: nothing of a success is missed."""
        states = self._states
        if not states.has_moved(LEAST_MOVE):
            return False
        if self.scene.task.kind not in ('put_on', 'put_in'):
            return True
        return not states.touches_robot and states.was_still(self._looked, REST_SPEED)

    def _observe(
        self, policy: Policy, stamp: int, executed: float, is_seen: bool = True
    ) -> Observation:
        simulation = self.simulation
        seen = self._seen = self._sensors.read(stamp, policy.cameras if is_seen else ())
        poses = simulation.object_poses() if is_seen else {}
        images = seen.images
        if self._details is not None:  # which keep what the policy may write over
            images = {name: image.copy() for name, image in images.items()}
        return Observation(
            stamp,
            seen.oldest,
            self._names,
            seen.joints,
            images,
            {**poses, 'object': simulation.object_pose(), 'goal': simulation.goal_pose()},
            self.instruction,
            executed,
        )

    def _ask(self, call: Callable[[Observation], Answer], observation: Observation) -> Answer:
        """An exception of the policy's own code is its failure; one of the computer, or of the way
        to a server, is not.
        """
        try:
            return call(observation)
        except Exception as error:
            if not is_own_failure(error):
                raise
            kind = '' if isinstance(error, PolicyFailedError) else f'{type(error).__name__}: '
            raise UnusableActionsError(f'{kind}{error}') from error

    def _infer(
        self, policy: Policy, observation: Observation, queue: ActionQueue, record: RolloutRecord
    ) -> Inference:
        inference = super()._infer(policy, observation, queue, record)
        if self._details is not None:
            self._details.add_inference(observation, inference)
        return inference

    def _record(
        self, record: RolloutRecord, observation: Observation, action: NDArray[np.float64]
    ) -> None:
        super()._record(record, observation, action)
        if self._details is not None:
            self._details.add_step(observation, self.simulation, self._seen)


def _failed(outcomes: StepOutcomes) -> StepOutcomes:
    """The steps as they were reached, but without success."""
    reached = {**outcomes.reached, 'success': False}
    return attrs.evolve(outcomes, reached=reached, times={**outcomes.times, 'success': math.nan})


def _not_run(problem: str, duration: float = math.nan) -> SceneEpisode:
    return SceneEpisode(episode=None, outcomes={}, problem=problem, duration=duration)


def _known_object(each: SceneObject) -> KnownObject:
    assert each.shape and each.mass is not None and each.colour
    x, y, z = np.asarray(each.shape.half_edges).tolist()
    cavity = each.shape.cavity if each.shape.mesh else None
    inside = None
    if cavity is not None:
        inside = float(cavity.centre[0]), float(cavity.centre[1]), cavity.floor, cavity.rim
    return KnownObject(
        name=each.name, role=each.role, type=each.type, shape=each.shape.kind,
        half_edges=(x, y, z), wall=each.shape.size[3] if each.shape.kind == 'tray' else 0.0,
        mass=each.mass, colour=each.colour, inside=inside,
        room=float(cavity.half_edges[:2].min()) if cavity is not None else 0.0,
    )  # fmt: skip


@lru_cache(maxsize=32)
def _setting(world: str, source: str, task: str) -> Setting:
    return setting(scene_world(world).robot(source), task)
