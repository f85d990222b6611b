# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A pick-and-place policy that knows the objects' poses, with adjustable quality."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from frame_ros.core.errors import PolicyError
from frame_ros.core.options import option, options
from frame_ros.core.time import SECOND
from frame_ros.policies.base import Policy
from frame_ros.policies.protocol import Inference, Observation
from frame_ros.policies.scripted.arms import scripted_arm
from frame_ros.policies.scripted.reaching import solve_reach
from frame_ros.robots import load_robot
from frame_ros.robots.motion import rotation_of
from frame_ros.robots.options import RobotOptions

_LINE_KNOTS = 7
_MOVED = 0.008  # m, so far the object may have moved before the approach is replanned
_HELD_DISTANCE = 0.03  # m between the object and where it is held


@dataclass
class Plan:
    """Actions (N, D) at the policy's rate, of the motions planned so far.

    Attributes:
        rng: source of its flaws.
        rows: without tremor, of each motion; `finished` of them are in `actions`.
        checks: step -> the check at that step.
        motions: plans one more, each time.
    """

    target: NDArray[np.float64]
    rng: np.random.Generator
    rows: list[NDArray[np.float64]] = field(default_factory=list)
    checks: dict[int, str] = field(default_factory=dict)
    approach_end: int = 0
    actions: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))
    motions: Iterator[None] = iter(())
    finished: int = 0

    @property
    def steps(self) -> int:
        """Number of planned steps."""
        return sum(map(len, self.rows))


@options
class ScriptedOptions(RobotOptions):
    """Options of the scripted policy."""

    quality: float = option(
        1.0, 'from 0, which fails often, to 1, which is smooth', at_least=0.0, at_most=1.0
    )
    seed: int = option(0, 'of the flaws')
    horizon: int = option(20, 'steps of a chunk', at_least=1)
    dt: float = option(1 / 30, 'time between two steps', unit='s', above=0.0)
    samples: int = option(0, 'chunks sampled with each inference', at_least=2, besides=(0,))


class ScriptedPickPlace(Policy):
    """Picks the object and puts it at the goal.

    Above, descend, grasp, lift, over the bin, lower, release, retreat. Motions are planned from
    joint positions and the poses 'object' and 'goal' (base frame), as minimum-jerk profiles (Flash
    and Hogan 1985), in joint space or along a vertical line; a failed grasp is repeated.

    quality: 1 is smooth and nearly always succeeds. The lower, the more it hesitates (pauses
    between and within motions), jerks (noise on waypoints and on every action), misses (the grasp
    is off), releases early, and the sooner it gives up.

    samples: number of chunks with each inference: the actions for other draws of the flaws at this
    step, from the beginning of the plan. They are drawn separately, so they change no action.
    """

    Options = ScriptedOptions
    name = 'scripted'
    feature_source = 'observation: joints, positions of object and goal'
    poses = ('object', 'goal')
    quality: float
    samples: int

    def __init__(self, options: ScriptedOptions | None = None) -> None:
        """Raises RobotError: the robot's profile does not say how to move it."""
        options = options or ScriptedOptions()
        self.quality, self.samples = options.quality, options.samples
        self.horizon, self.dt = options.horizon, options.dt
        self._seed, self._episode = options.seed, 0
        self._arm = scripted_arm(options.robot)
        self._robot = load_robot(options.robot, self._arm.tip)
        self._columns = [self._arm.joint_names.index(name) for name in self._robot.joint_names]
        self._home = np.array(self._arm.home)
        self.reset()

    def reset(self, seed: int | None = None) -> None:
        """Forgets the last episode. seed: of this episode's flaws; None: the next ones."""
        drawn = (self._seed, self._episode) if seed is None else seed
        self._rng = np.random.default_rng(drawn)
        self._sample_rng = np.random.default_rng(np.random.SeedSequence(drawn, spawn_key=(1,)))
        self._episode += 1
        self._plan: Plan | None = None
        self._others: list[Plan] = []
        self._attempts = 0
        self._stamp = 0
        self._step = 0
        self._phase = 0.0

    def infer(self, observation: Observation) -> Inference:
        """Returns the next `horizon` joint positions, the first for now.

        Raises:
            PolicyError: a joint or a pose is missing or not finite.
        """
        joints = _joints(observation, self._arm.joint_names)
        target, goal = pose_in(observation, 'object'), pose_in(observation, 'goal')
        now = _executed_time(observation)
        if self._plan is None:
            self._start(now, lambda rng: self._plan_pick(rng, joints, target, goal))
        else:
            self._advance(now)
            self._react(now, joints, target, goal)
        features = np.concatenate((joints, target[:3], goal[:3]))
        return replace(self._inference(), features=features, feature_source=self.feature_source)

    def _inference(self) -> Inference:
        assert self._plan is not None
        chunk = self._chunk_of(self._plan)
        arm, samples = self._arm, self._samples(chunk)
        return Inference(chunk, self.dt, arm.joint_names, arm.units, samples=samples)

    def _chunk_of(self, plan: Plan) -> NDArray[np.float64]:
        self._plan_motions(plan, self._step + self.horizon)
        steps = np.minimum(self._step + np.arange(self.horizon), len(plan.actions) - 1)
        return plan.actions[steps]

    def _samples(self, chunk: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Returns (samples, horizon, D); without flaws all the same, without planning."""
        if not self.samples:
            return None
        if self.quality == 1.0:
            return np.repeat(chunk[None], self.samples, axis=0)
        return np.stack([self._chunk_of(plan) for plan in self._others])

    def _start(self, stamp: int, make: Callable[[np.random.Generator], Plan]) -> None:
        """Begins the plan that `make` gives with a source of flaws."""
        self._plan, self._stamp, self._step, self._phase = make(self._rng), stamp, 0, 0.0
        self._plan_motions(self._plan, math.inf)
        self._others = [make(self._sample_rng) for _ in range(self.samples)]

    def _advance(self, stamp: int) -> None:
        """Advances by the time passed, in whole steps, with stamp jitter below half a step and by
        at most a chunk. Beyond the end of the last chunk nothing of the plan was executed, so at
        most a chunk is passed at a time.
        """
        passed = (stamp - self._stamp) * 1e-9 / self.dt + self._phase
        whole = int(np.clip(round(passed), 0, self.horizon))
        self._phase = 0.8 * float(np.clip(passed - whole, -0.5, 0.5))
        self._stamp = stamp
        self._step += whole

    def _react(
        self,
        stamp: int,
        joints: NDArray[np.float64],
        target: NDArray[np.float64],
        goal: NDArray[np.float64],
    ) -> None:
        """Replans if the world differs from the plan: the object moved, the grasp failed, the
        object lies elsewhere. An arm lags its plan, so a grasp is judged by measured joints.
        """
        plan = self._plan
        assert plan is not None
        here = plan.actions[min(self._step, len(plan.actions) - 1)]
        if self._step < plan.approach_end:
            if np.linalg.norm(target[:2] - plan.target[:2]) > _MOVED * (1 + 4 * (1 - self.quality)):
                self._start(stamp, lambda rng: self._plan_pick(rng, here, target, goal))
            return
        for step in [s for s in plan.checks if s <= self._step]:
            kind = plan.checks.pop(step)
            if self._is_as_planned(kind, joints, target, goal):
                continue
            self._attempts += 1
            if self._attempts > math.floor(2 * self.quality) or not self._arm.is_reachable(target):
                self._start(stamp, lambda rng: self._plan_home(rng, here, target))
            else:
                self._start(stamp, lambda rng: self._plan_pick(rng, here, target, goal))
            return

    def _is_as_planned(self, kind: str, joints: NDArray, target: NDArray, goal: NDArray) -> bool:
        if kind == 'held':
            position, quaternion = self._robot.forward(joints[self._columns])
            held = position + rotation_of(quaternion) @ self._arm.held
            return bool(np.linalg.norm(target[:3] - held) < _HELD_DISTANCE)
        return bool(np.abs(target[:2] - goal[:2]).max() < self._arm.placed)

    def _plan_pick(
        self, rng: np.random.Generator, start: NDArray, target: NDArray, goal: NDArray
    ) -> Plan:
        plan = Plan(target.copy(), rng, [start[None]])
        plan.motions = self._pick(plan, goal)
        return plan

    def _pick(self, plan: Plan, goal: NDArray) -> Iterator[None]:
        arm, target = self._arm, plan.target
        miss = self._miss(plan)
        grasp, place = arm.grasp_rotation(target), arm.natural_rotation(goal)
        at_object = target[:3] * (1, 1, 0) + miss
        above = self._reach(plan, at_object, arm.above, grasp, arm.before_grasp)
        self._joint_move(plan, above, arm.opened, 1.5)
        plan.approach_end = plan.steps
        yield
        self._line_move(plan, at_object, (arm.above, arm.grasp), grasp, arm.before_grasp, 1.0)
        yield
        self._grip(plan, arm.closed, arm.closing_time)
        yield
        self._line_move(plan, at_object, (arm.grasp, arm.lifted), grasp, arm.before_grasp, 0.9)
        plan.checks[plan.steps] = 'held'
        yield
        at_goal = goal[:3] * (1, 1, 0) + self._waypoint_noise(plan)
        slip = plan.rng.random() < 0.4 * (1 - self.quality)
        over_bin = self._reach(plan, at_goal, arm.over_bin, place, arm.held)
        self._joint_move(plan, over_bin, arm.released if slip else arm.closed, 1.6)
        yield
        self._line_move(plan, at_goal, (arm.over_bin, arm.in_bin), place, arm.held, 0.7)
        yield
        self._grip(plan, arm.released, arm.opening_time)
        yield
        self._line_move(plan, at_goal, (arm.in_bin, arm.over_bin), place, arm.held, 0.7)
        plan.checks[plan.steps] = 'placed'
        yield
        self._joint_move(plan, self._home, arm.home[-1], 1.3)

    def _plan_home(self, rng: np.random.Generator, start: NDArray, target: NDArray) -> Plan:
        plan = Plan(target.copy(), rng, [start[None]])
        plan.motions = self._go_home(plan)
        return plan

    def _go_home(self, plan: Plan) -> Iterator[None]:
        self._joint_move(plan, self._home, self._arm.home[-1], 1.5)
        yield

    def _plan_motions(self, plan: Plan, steps: float) -> None:
        """Plans on to so many steps, or the end, with a low quality's tremor on the joints."""
        while plan.steps < steps and next(plan.motions, self) is None:
            pass
        if plan.finished == len(plan.rows):
            return
        actions = np.concatenate(plan.rows[plan.finished :])
        tremor = self._arm.tremor * (1 - self.quality) * plan.rng.standard_normal(actions.shape)
        tremor[:, -1] = 0.0
        if not plan.finished:
            tremor[0] = 0.0
        actions = actions + tremor
        # Splines between postures at a joint's limit swing a little beyond it.
        arm = self._columns
        actions[:, arm] = np.clip(actions[:, arm], self._robot.lower, self._robot.upper)
        plan.actions = np.concatenate((plan.actions, actions)) if plan.finished else actions
        plan.finished = len(plan.rows)

    def _miss(self, plan: Plan) -> NDArray[np.float64]:
        """Returns the error of the grasp, m."""
        flaw = 1 - self.quality
        return flaw * plan.rng.standard_normal(3) * self._arm.miss

    def _waypoint_noise(self, plan: Plan) -> NDArray[np.float64]:
        return (1 - self.quality) * plan.rng.standard_normal(3) * (0.02, 0.02, 0.01)

    def _hesitate(self, plan: Plan) -> None:
        if plan.rng.random() < 0.75 * (1 - self.quality):
            pause = self._steps(plan.rng.uniform(0.2, 0.9))
            plan.rows.append(np.repeat(plan.rows[-1][-1:], pause, axis=0))

    # Motions: each appends rows to the plan, from where it ends now.

    def _steps(self, duration: float) -> int:
        return max(1, round(self._arm.pace * duration / self.dt))

    def _profile(self, plan: Plan, duration: float) -> NDArray[np.float64]:
        """Returns progress from 0 (excluded) to 1 at every step: minimum jerk, in two parts with a
        stop between at a low quality.
        """
        if plan.rng.random() < 0.6 * (1 - self.quality):
            stop = plan.rng.uniform(0.25, 0.75)
            first = _minimum_jerk(self._steps(stop * duration))
            pause = np.ones(self._steps(plan.rng.uniform(0.1, 0.5)))
            second = _minimum_jerk(self._steps((1 - stop) * duration))
            return np.concatenate((stop * first, stop * pause, stop + (1 - stop) * second))
        return _minimum_jerk(self._steps(duration))

    def _joint_move(
        self, plan: Plan, end: NDArray[np.float64], gripper: float, duration: float
    ) -> None:
        self._hesitate(plan)
        start = plan.rows[-1][-1]
        end = np.append(end[:-1], gripper)
        plan.rows.append(start + self._profile(plan, duration)[:, None] * (end - start))

    def _grip(self, plan: Plan, gripper: float, duration: float) -> None:
        self._joint_move(plan, plan.rows[-1][-1], gripper, duration)

    def _line_move(
        self,
        plan: Plan,
        at: NDArray[np.float64],
        heights: tuple[float, float],
        rotation: NDArray[np.float64],
        offset: Sequence[float] | NDArray,
        duration: float,
    ) -> None:
        """Moves vertically between two heights of the tip, by splines through solved postures."""
        self._hesitate(plan)
        knots = [plan.rows[-1][-1]]
        progress = np.linspace(0.0, 1.0, _LINE_KNOTS)
        for height in heights[0] + progress[1:] * (heights[1] - heights[0]):
            knots.append(self._solve(knots[-1], at, height, rotation, offset))
        plan.rows.append(CubicSpline(progress, knots)(self._profile(plan, duration)))

    def _reach(
        self,
        plan: Plan,
        at: NDArray,
        height: float,
        rotation: NDArray,
        offset: Sequence[float] | NDArray,
    ) -> NDArray:
        """Returns the posture over a place, searched from home so that the elbow stays up."""
        start = self._arm.turned_home(at)
        start[-1] = plan.rows[-1][-1][-1]
        return self._solve(start, at, height, rotation, offset)

    def _solve(
        self,
        start: NDArray,
        at: NDArray,
        height: float,
        rotation: NDArray,
        offset: Sequence[float] | NDArray,
    ) -> NDArray:
        position = np.array((at[0], at[1], height + at[2])) - rotation @ offset
        row = start.copy()
        arm = self._columns
        row[arm], _ = solve_reach(self._robot, start[arm], position, rotation)
        return row


def _minimum_jerk(steps: int) -> NDArray[np.float64]:
    """Progress 10 s^3 - 15 s^4 + 6 s^5 at s = 1/steps ... 1."""
    s = np.arange(1, steps + 1) / steps
    return s**3 * (10 - 15 * s + 6 * s * s)


def _joints(observation: Observation, names: Sequence[str]) -> NDArray[np.float64]:
    index = {name: i for i, name in enumerate(observation.joint_names)}
    missing = [name for name in names if name not in index]
    if missing:
        raise PolicyError(
            f'the observation lacks the joint {missing[0]}; '
            f'it has {", ".join(observation.joint_names)}'
        )
    joints = np.array([observation.joint_positions[index[name]] for name in names], float)
    if not np.isfinite(joints).all():
        raise PolicyError(f'joint positions must be finite, not {joints.tolist()}')
    return joints


def _executed_time(observation: Observation) -> int:
    """Returns ns that count while actions are executed; the stamp if unknown."""
    executed = observation.executed
    return round(executed * SECOND) if math.isfinite(executed) else observation.stamp


def pose_in(observation: Observation, name: str) -> NDArray[np.float64]:
    """Returns (7,) position (m) and quaternion xyzw of a pose of an observation.

    Raises:
        PolicyError: it is not there, or is not 7 finite numbers.
    """
    pose = observation.poses.get(name)
    if pose is None:
        raise PolicyError(
            f'the observation lacks the pose {name!r}, which the scripted policy acts on'
        )
    if np.shape(pose) != (7,) or not np.isfinite(pose).all():
        raise PolicyError(
            f'the pose {name!r} must be 7 finite numbers, not {np.asarray(pose).tolist()}'
        )
    return np.asarray(pose, float)
