# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Motion of a force-torque sensor, its orientation and accelerations, from the joints."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, isfinite, nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.core.time import SECOND
from frame_ros.core.turns import continuous_among, nearest_turn
from frame_ros.robots.motion import rotation_about, rotation_of
from frame_ros.robots.robot import Robot
from frame_ros.sensing.contact.wrench.filter import CausalLowPass

Array = NDArray[np.float64]
NOISE_TIME = 1.0  # s with which a scatter that was seen is forgotten
NOISE_LEAST = 1e-3  # m/s^2; below, the arm stands, and an encoder that stands shows nothing new
NOISE_LEVER = 0.1  # m from the sensor at which angular accelerations count as linear ones
SPEED_LEVER = 0.3  # m from the sensor at which turning counts as motion


class ToolMotion(NamedTuple):
    """Motion of a force-torque sensor, in axes of the base frame.

    Attributes:
        rotation: (3, 3), turns vectors in the sensor's axes into base axes.
        linear_acceleration: (3,) m/s^2 of its origin, without gravity; None if unknown.
        angular_velocity: (3,) rad/s; None if unknown.
        angular_acceleration: (3,) rad/s^2; None if unknown.
        is_moving: None if unknown.
        delay: s by which the accelerations are late.
        unavailable: why the orientation is unknown; then nothing else counts.
        noise: m/s^2 of scatter of accelerations that are differences of positions.
        speed: m/s of the sensor, with SPEED_LEVER times that of its turning; 0 where unknown.
    """

    rotation: Array  # (3, 3), turns vectors in the sensor's axes into base axes
    linear_acceleration: Array | None = None  # (3,) m/s^2 of its origin, without gravity;
    angular_velocity: Array | None = None  # (3,) rad/s;
    angular_acceleration: Array | None = None  # (3,) rad/s^2; each None if not known
    is_moving: bool | None = None  # None if not known
    delay: float = 0.0  # s by which the accelerations are late
    unavailable: str = ''  # why the orientation is not known; then nothing else counts
    noise: float = 0.0  # m/s^2 by which accelerations that are differences of positions scatter
    speed: float = 0.0  # m/s, with that of turning

    @classmethod
    def missing(cls, why: str) -> ToolMotion:
        """Returns a motion of unknown orientation, with the reason."""
        return cls(np.full((3, 3), nan), unavailable=why)

    @classmethod
    def at_rest(cls, rotation: Array) -> ToolMotion:
        """Returns the motion of a sensor at rest."""
        zero = np.zeros(3)
        return cls(rotation, zero, zero, zero, False)


@dataclass(frozen=True)
class ToolMotions:
    """Many ToolMotion at once: their fields with a leading axis of T samples.

    Attributes:
        is_moving: (T,) 1, 0, or -1 if unknown.
        delay: (T,) s.
        unavailable: T texts.
        noise: (T,) m/s^2.
        speed: (T,) m/s.
    """

    rotation: Array
    linear_acceleration: Array
    angular_velocity: Array
    angular_acceleration: Array
    is_moving: NDArray[np.int8]  # (T,) 1, 0, or -1 if not known
    delay: Array  # (T,) s
    unavailable: Sequence[str]  # T texts
    noise: Array  # (T,) m/s^2
    speed: Array  # (T,) m/s

    def __len__(self) -> int:
        return len(self.rotation)

    @classmethod
    def of(cls, motions: Sequence[ToolMotion]) -> ToolMotions:
        """Stacks single motions."""
        unknown = np.full(3, nan)

        def column(name: str) -> Array:
            found = [getattr(motion, name) for motion in motions]
            return np.array([unknown if value is None else value for value in found]).reshape(-1, 3)

        moving = [-1 if m.is_moving is None else int(m.is_moving) for m in motions]
        return cls(
            np.array([motion.rotation for motion in motions]).reshape(-1, 3, 3),
            column('linear_acceleration'),
            column('angular_velocity'),
            column('angular_acceleration'),
            np.array(moving, dtype=np.int8),
            np.array([motion.delay for motion in motions], dtype=np.float64),
            [motion.unavailable for motion in motions],
            np.array([motion.noise for motion in motions], dtype=np.float64),
            np.array([motion.speed for motion in motions], dtype=np.float64),
        )

    def __getitem__(self, rows: slice) -> ToolMotions:
        return ToolMotions(
            self.rotation[rows],
            self.linear_acceleration[rows],
            self.angular_velocity[rows],
            self.angular_acceleration[rows],
            self.is_moving[rows],
            self.delay[rows],
            self.unavailable[rows],
            self.noise[rows],
            self.speed[rows],
        )


@dataclass(frozen=True)
class MotionOptions:
    """Options of the sensor's motion.

    rotation: (3, 3) and translation: (3,) m of the sensor in its link. cutoff: Hz, of the low-pass
    on the velocities before they are differentiated. max_age: s, older joint states do not give the
    sensor's orientation. still_linear: m/s, still_angular: rad/s below which it counts as standing.

    Raises:
        ValueRangeError: no rotation matrix, or a value that is not positive.
    """

    rotation: Array | None = None
    translation: tuple[float, float, float] = (0.0, 0.0, 0.0)
    cutoff: float = 80.0
    max_age: float = 0.1
    still_linear: float = 0.005
    still_angular: float = 0.02

    def __post_init__(self) -> None:
        positive = (self.cutoff, self.max_age, self.still_linear, self.still_angular)
        if not all(isfinite(value) and value > 0 for value in positive):
            raise ValueRangeError(f'{self}: cutoff, max_age and the speeds must be positive')
        if len(self.translation) != 3 or not all(map(isfinite, self.translation)):
            raise ValueRangeError(
                f'a translation {self.translation} of the sensor in its link; 3 numbers (m) are '
                f'expected'
            )
        if self.rotation is not None:
            check_rotation(self.rotation)


class ToolMotionEstimator:
    """Motion of a force-torque sensor from joint states of about 50 Hz or more.

    The velocity of the sensor is the Jacobian times the joint velocities (differences of positions
    if those are not measured), through a causal low-pass of 2nd order; its accelerations are the
    slope of that. They are late by `delay` of the filter and half a period of the joint states (a
    whole one where velocities are differences), which ToolMotion reports, so that thresholds can be
    widened where it matters. For velocities that are differences it also reports the scatter of
    their accelerations (the steps of an encoder): the largest change of their change, as a share of
    that of white noise (the square root of 6), in the last second of motion. Of an encoder that has
    stood since the beginning nothing is known yet.

    `update` takes the joint states; `at` gives the motion at the stamp of a wrench, for which the
    angular velocity advances the orientation. Joint states that are older than `max_age` there, or
    none, give a motion that is unavailable. Two that lie further apart than that are not
    differentiated; late ones (a stamp not after the last) are left out and counted in `late`. A
    stamp that falls by more than `max_age` means that the clock was reset: all is forgotten.
    """

    def __init__(
        self, robot: Robot, sensor_link: str, settings: MotionOptions | None = None
    ) -> None:
        """sensor_link: the link that carries the sensor.

        Raises:
            RobotError: there is no such link, or no joint moves it.
        """
        self.settings = settings or MotionOptions()
        self._robot = Robot(robot.urdf, sensor_link, robot.profile)
        self.joint_names = self._robot.joint_names  # the order of q
        self._is_continuous = continuous_among(self.joint_names, self._robot.continuous)
        rotation = self.settings.rotation
        self._rotation = np.eye(3) if rotation is None else np.asarray(rotation, dtype=np.float64)
        self._translation = np.array(self.settings.translation)
        self._filter = CausalLowPass(self.settings.cutoff)
        self.max_age = int(self.settings.max_age * SECOND)  # ns
        self.late = 0
        self.reset()

    def reset(self) -> None:
        """Forgets all joint states."""
        self._filter.reset()
        self._stamp: int | None = None
        self._q: Array | None = None
        self._samples = 0
        self._is_measured = False
        self._noise = 0.0
        # The last one, and the change that led to it.
        self._slopes: tuple[Array, Array] | None = None
        self._kept: deque[tuple[int, ToolMotion]] = deque()  # of max_age
        self._newest = ToolMotion.missing('no joint states yet')

    @property
    def stamp(self) -> int | None:
        """ns, of the newest joint state; None before any."""
        return self._stamp

    def update(self, stamp: int, q: ArrayLike, dq: ArrayLike | None = None) -> ToolMotion:
        """Takes one joint state and returns the motion at its stamp.

        Args:
            stamp: ns.
            q: (N,) in the order of `joint_names`, rad or m.
            dq: (N,) per s; None or with NaN: not measured.

        Raises:
            RobotError: q has another length or is not finite.
            ShapeError: dq has another length.
        """
        q = np.asarray(q, dtype=np.float64)
        step = self._step(stamp)
        if step is not None and step <= 0:
            self.late += 1
            return self._newest
        _, quaternion = self._robot.forward(q)
        turned = rotation_of(quaternion)
        velocity = self._velocity(step, q, dq)
        self._stamp, self._q = stamp, q
        rotation = turned @ self._rotation
        if velocity is None:
            self._filter.reset()
            self._samples = 0
            self._newest = ToolMotion(rotation)
            self._kept.append((stamp, self._newest))
            return self._newest
        twist = self._robot.jacobian(q) @ velocity
        twist[:3] += _cross(twist[3:], turned @ self._translation)
        twist = self._filter.update(step or 0, twist)
        self._samples += 1
        self._newest = self._motion(rotation, twist, step)
        self._kept.append((stamp, self._newest))
        while stamp - self._kept[0][0] > self.max_age:
            self._kept.popleft()
        return self._newest

    def at(self, stamp: int) -> ToolMotion:
        """Returns the motion at `stamp`, ns, from the joint states so far."""
        motion = self._newest
        if self._stamp is None or stamp == self._stamp:
            return motion
        known = self._stamp
        if stamp < known:
            known, motion = self._before(stamp)
        age = stamp - known
        if abs(age) > self.max_age:
            return ToolMotion.missing(
                f'the joint states are {abs(age) / SECOND:.3f} s {"older" if age > 0 else "newer"} '
                f'than the wrench; at most {self.settings.max_age} s is used'
            )
        seconds = age / SECOND
        rotation, omega = motion.rotation, motion.angular_velocity
        if omega is not None:
            rotation = rotation_about(omega * seconds) @ rotation
        return motion._replace(rotation=rotation, delay=motion.delay + max(seconds, 0.0))

    def _before(self, stamp: int) -> tuple[int, ToolMotion]:
        """Returns the newest kept motion at or before a stamp, with its own; the oldest, if all are
        after it.
        """
        for known, motion in reversed(self._kept):
            if known <= stamp:
                return known, motion
        return self._kept[0]

    def _step(self, stamp: int) -> int | None:
        """Returns ns since the previous joint state; None if that one is of no use."""
        if self._stamp is None:
            return None
        step = stamp - self._stamp
        if abs(step) <= self.max_age:
            return step
        if step < 0:
            self.reset()
        return None

    def _velocity(self, step: int | None, q: Array, dq: ArrayLike | None) -> Array | None:
        if dq is not None:
            measured = np.asarray(dq, dtype=np.float64)
            if measured.shape != q.shape:
                raise ShapeError(
                    f'joint velocities of shape {measured.shape}; {q.shape} is expected'
                )
            if isfinite(measured.sum()):
                if step is None:
                    self._filter.reset()
                    self._samples = 0
                self._is_measured = True
                return measured
        if step is None or self._q is None:
            return None
        self._is_measured = False
        found: Array = nearest_turn(q - self._q, 0.0, self._is_continuous) * (SECOND / step)
        return found

    def _motion(self, rotation: Array, twist: Array, step: int | None) -> ToolMotion:
        limits = self.settings
        linear, angular = sqrt(twist[:3] @ twist[:3]), sqrt(twist[3:] @ twist[3:])
        is_moving = linear > limits.still_linear or angular > limits.still_angular
        speed = linear + SPEED_LEVER * angular
        if self._samples < 2 or step is None:
            return ToolMotion(rotation, None, twist[3:], None, is_moving, speed=speed)
        slope = self._filter.slope
        # A difference of positions is the velocity half a period ago.
        periods = 0.5 if self._is_measured else 1.0
        delay = self._filter.delay + periods * step / SECOND
        noise = 0.0 if self._is_measured else self._scatter(slope, step / SECOND)
        return ToolMotion(
            rotation, slope[:3], twist[3:], slope[3:], is_moving, delay, '', noise, speed
        )

    def _scatter(self, slope: Array, period: float) -> float:
        """Returns m/s^2, of accelerations (6,); those of angles count at NOISE_LEVER."""
        before = self._slopes if self._samples > 2 else None
        if before is None:
            self._slopes, self._noise = (slope, np.zeros(6)), 0.0
            return 0.0
        change = slope - before[0]
        jump = change - before[1]
        self._slopes = slope, change
        jump[3:] *= NOISE_LEVER
        now = sqrt(float(jump @ jump) / 6.0)
        fade = exp(-period / NOISE_TIME) if now > NOISE_LEAST else 1.0
        self._noise = max(now, self._noise * fade)
        return self._noise


def check_rotation(rotation: ArrayLike) -> Array:
    """Returns the rotation matrix (3, 3) as an array.

    Raises:
        ValueRangeError: it is not one.
    """
    matrix = np.asarray(rotation, dtype=np.float64)
    if matrix.shape != (3, 3) or not np.allclose(matrix @ matrix.T, np.eye(3), atol=1e-6):
        raise ValueRangeError(f'{matrix.tolist()} is not a rotation matrix (3, 3)')
    if np.linalg.det(matrix) < 0:
        raise ValueRangeError(f'{matrix.tolist()} is a reflection; a rotation has determinant 1')
    return matrix


def _cross(a: Array, b: Array) -> Array:
    ax, ay, az = a.tolist()
    bx, by, bz = b.tolist()
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])
