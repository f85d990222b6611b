# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joint positions that follow poses of the tip, step by step, within the joints' limits.

One step is the quadratic programme of differential inverse kinematics (Kanoun, Lamiraux and Wieber
2011; Caron's pink), repeated until it converges: the tip's pose first, then a posture as far as it
leaves freedom, under bounds that hold whatever the targets are.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.errors import MissingExtraError, RobotError, ValueRangeError, install_hint
from frame_ros.robots.profile import TrackingPreset
from frame_ros.robots.profiles import packaged_profiles
from frame_ros.robots.robot import Robot

Array = NDArray[np.float64]

POSTURE_COST = 1e-4  # m/rad: a posture 1 rad away weighs as much as a tip 0.1 mm away
DAMPING = 1e-12
LEVENBERG_MARQUARDT = 0.1  # damping per squared error, m^-2: bounds the step far from the target
ITERATIONS = 12  # of one step, at most
# An iteration that lessens the squared error (m^2) by less than this, or this share, is the last.
LEAST_GAIN, LEAST_SHARE = 1e-12, 1e-4
HALVINGS = 6  # of an iteration that would take the tip further from its target
AT_LIMIT = 1e-6  # rad or m, the distance from a limit at which it counts as binding


FULL_POSE = TrackingPreset()
# With fewer than six joints the orientation follows as far as the position leaves freedom, which is
# no fault: only the position has a tolerance.
POSITION_FIRST = TrackingPreset(orientation_cost=0.003, orientation_tolerance=math.inf)


def tracking_preset(robot: Robot) -> TrackingPreset:
    """The preset of the robot's profile, or of a packaged one that has its end effector's link; for
    any other by how many joints move its tip, the gripper's not counted.
    """
    if robot.profile.tracking:
        return robot.profile.tracking
    for profile in packaged_profiles():
        if profile.tracking and profile.tracking.tip in robot.links:
            return profile.tracking
    fingers = [name for name in robot.grippers if name in robot.joint_names]
    preset = FULL_POSE if len(robot.joint_names) - len(fingers) >= 6 else POSITION_FIRST
    if not fingers:
        return preset
    finger = next(link for link, joint in robot.joint_of_link.items() if joint == fingers[0])
    return attrs.evolve(preset, tip=robot.parent_of(finger) or '')


class Tracked(NamedTuple):
    """The result of `track` for H poses and N joints.

    Attributes:
        joints: (H, N), rad or m.
        residuals: (H, 2), distance to each pose: m and rad.
        limits: per step, the limits that bound it, such as 'fr3_joint4 upper' or 'fr3_joint1
            velocity'.
    """

    joints: Array
    residuals: Array
    limits: tuple[tuple[str, ...], ...]


class DifferentialInverseKinematics:
    """Follows poses of one link with the joints that move it. Not thread-safe.

    Attributes:
        joint_names: N names, the order of every array of joints here.
        tip_link: the link that follows.
        posture: (N,) joints that the free movements of the arm are drawn to; None: those at which
            `track` starts.
    """

    def __init__(
        self,
        robot: Robot,
        tip: str | None = None,
        *,
        velocity_scale: float = 1.0,
    ) -> None:
        """Makes the solver for one link.

        Args:
            tip: a link; None: the preset's.
            velocity_scale: share of the joints' velocity limits that may be used, 0 to 1.

        Raises:
            MissingExtraError: pink or its solver is not installed.
            RobotError: the robot has no such link.
            ValueRangeError: the scale is out of range.
        """
        preset = tracking_preset(robot)
        if not 0 < velocity_scale <= 1:
            raise ValueRangeError(f'velocity_scale is {velocity_scale}; it must be in (0, 1]')
        self._arm = Robot(robot.urdf, tip or preset.tip or robot.tip_link, robot.profile)
        self.joint_names, self.tip_link = self._arm.joint_names, self._arm.tip_link
        self.posture: Array | None = None
        self._velocity = self._arm.velocity_limits * velocity_scale
        self._pink = _pink()
        self._solver = _BoundedSolver(self._pink, self._arm, preset.orientation_cost)

    def forward(self, joints: ArrayLike) -> tuple[Array, Array]:
        """Position (3,) and quaternion xyzw (4,) of the tip in the base frame."""
        return self._arm.forward(joints)

    def track(self, start: ArrayLike, poses: ArrayLike, dt: float) -> Tracked:
        """Returns joints that follow poses, one per step of dt seconds.

        No joint moves further in a step than its velocity limit allows, and none leaves its limits;
        one that starts outside comes back at that speed. Unreachable poses are approached as
        closely as possible: see the residuals.

        Args:
            start: (N,) joints before the first step, rad or m.
            poses: (H, 7), position (m) and quaternion xyzw in the base frame.

        Raises:
            RobotError: an array has the wrong shape, or a value is not finite.
            ValueRangeError: dt is not positive.
        """
        q, targets = self._checked(start, poses, dt)
        reach = self._velocity * dt
        joints, residuals, limits = np.empty((len(targets), len(q))), [], []
        self._solver.set_posture(q if self.posture is None else self.posture)
        for row, pose in enumerate(targets):
            lower = np.clip(self._arm.lower, q - reach, q + reach)
            upper = np.clip(self._arm.upper, q - reach, q + reach)
            former, (q, residual) = q, self._solver.solve(q, pose, lower, upper)
            joints[row] = q
            residuals.append(residual)
            limits.append(self._binding(former, q, reach))
        return Tracked(joints, np.array(residuals).reshape(-1, 2), tuple(limits))

    def _checked(self, start: ArrayLike, poses: ArrayLike, dt: float) -> tuple[Array, Array]:
        q, targets = np.array(start, np.float64), np.array(poses, np.float64)
        size = len(self.joint_names)
        if q.shape != (size,) or targets.ndim != 2 or targets.shape[1] != 7:
            raise RobotError(
                f'joints of shape {q.shape} and poses of shape {targets.shape}; they must be '
                f'({size},), in the order {", ".join(self.joint_names)}, and (steps, 7)'
            )
        if not (np.isfinite(q).all() and np.isfinite(targets).all()):
            raise RobotError('joints and poses must be finite')
        norms = np.linalg.norm(targets[:, 3:], axis=1, keepdims=True)
        if not (norms > 1e-6).all():
            raise RobotError('a pose has the quaternion 0, which is no orientation')
        if not 0 < dt < math.inf:
            raise ValueRangeError(f'dt is {dt} s; it must be positive')
        targets[:, 3:] /= norms
        return q, targets

    def _binding(self, former: Array, q: Array, reach: Array) -> tuple[str, ...]:
        sides = (
            ('lower', q <= self._arm.lower + AT_LIMIT),
            ('upper', q >= self._arm.upper - AT_LIMIT),
            ('velocity', np.abs(q - former) >= reach - AT_LIMIT * np.minimum(1.0, reach)),
        )
        names = self.joint_names
        return tuple(f'{names[i]} {side}' for side, at in sides for i in np.flatnonzero(at))


class _BoundedSolver:
    """One pose at a time, the joints between two bounds."""

    def __init__(self, pink: Any, arm: Robot, orientation_cost: float) -> None:
        import pinocchio

        # The chain's model has no limits of its own: only the bounds given to `solve` hold.
        model = arm._model.copy()
        self._pin, self._pink, self._model = pinocchio, pink, model
        self._bounds = pink.bounds_class(len(arm.joint_names))
        self._tip = pink.FrameTask('tip', 1.0, orientation_cost, lm_damping=LEVENBERG_MARQUARDT)
        self._posture = pink.PostureTask(POSTURE_COST)
        self._tasks = [self._tip, self._posture]
        self._state = pink.Configuration(
            model, model.createData(), np.zeros(model.nq), copy_data=False
        )

    def set_posture(self, joints: Array) -> None:
        self._posture.set_target(joints)

    def solve(self, q: Array, pose: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
        """Returns the joints (N,) nearest to the pose, and the distance to it: m and rad. Every
        accepted iteration brings the tip nearer, so that an unreachable target makes the arm come
        to rest instead of swinging.
        """
        target = self._pin.SE3(self._pin.Quaternion(pose[3:]), pose[:3])
        self._tip.set_target(target)
        self._bounds.lower, self._bounds.upper = lower, upper
        q = np.clip(q, lower, upper)
        self._state.update(q)
        cost = self._cost(q)
        for _ in range(ITERATIONS):
            change = self._change(lower - q, upper - q)
            for _ in range(HALVINGS):
                following = np.clip(q + change, lower, upper)
                self._state.update(following)
                new_cost = self._cost(following)
                if new_cost <= cost:
                    break
                change = change / 2
            else:
                break
            gain = cost - new_cost
            q, cost = following, new_cost
            if gain <= LEAST_GAIN + LEAST_SHARE * cost:
                break
        return q, self._residual(q, target)

    def _change(self, least: Array, most: Array) -> Array:
        """Returns the change of the joints that solves the quadratic programme, or 0."""
        problem = self._pink.build_ik(
            self._state, self._tasks, 1.0, damping=DAMPING, limits=[self._bounds]
        )
        found = self._pink.solve_problem(problem, solver='daqp').x
        if found is None or not np.isfinite(found).all():
            return np.zeros(len(least))
        return np.clip(found, least, most)

    def _cost(self, q: Array) -> float:
        tip = self._tip.cost * self._tip.compute_error(self._state)
        posture = float(self._posture.cost) * (q - self._posture.target_q)
        return float(tip @ tip + posture @ posture)

    def _residual(self, q: Array, target: Any) -> Array:
        self._state.update(q)
        reached = self._state.get_transform_frame_to_world('tip')
        turn = self._pin.log3(reached.rotation.T @ target.rotation)
        distance = np.linalg.norm(target.translation - reached.translation)
        return np.array((distance, np.linalg.norm(turn)))


class _Pink(NamedTuple):
    """The parts of pink and its solver that are used."""

    Configuration: Any
    FrameTask: Any
    PostureTask: Any
    build_ik: Any
    solve_problem: Any
    bounds_class: Any


def _pink() -> _Pink:
    try:
        import daqp  # noqa: F401  the solver that qpsolvers is asked for
        from pink import Configuration, build_ik
        from pink.limits import Limit
        from pink.tasks import FrameTask, PostureTask
        from qpsolvers import solve_problem
    except ImportError as error:
        raise MissingExtraError(
            f'end-effector actions need pink and daqp: {install_hint("control")}'
        ) from error

    class Bounds(Limit):
        """lower <= q + change <= upper."""

        def __init__(self, size: int) -> None:
            self.lower, self.upper = np.zeros(size), np.zeros(size)
            self._rows = np.vstack((np.eye(size), -np.eye(size)))

        def compute_qp_inequalities(self, configuration: Any, dt: float) -> tuple[Array, Array]:
            q = getattr(configuration, 'q', configuration)  # pink 3 hands over the joints
            room = (self.upper - q, q - self.lower)
            return self._rows, np.concatenate(room)

    return _Pink(Configuration, FrameTask, PostureTask, build_ik, solve_problem, Bounds)
