# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Commands to a Franka arm: each is checked when it comes, and the newest is kept for the thread
that owns the arm.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rclpy.clock import Clock

from frame_ros.core.time import SECOND
from frame_ros.gate.command_check import CommandCheck
from frame_ros.gate.named_positions import NamedPositions
from frame_ros.gate.records import Reason
from frame_ros.hardware.franky.options import POSE, VELOCITY
from frame_ros.hardware.franky.state import FciCounts
from frame_ros.nodes.robot_driver.options import RobotDriverOptions
from frame_ros.robots import Robot

Array = NDArray[np.float64]
# From a beginning, a stop or a recovery until the loop's next look, some ms later.
UNREAD = 'where the arm is now has not been read yet: send it once more'


@dataclass(frozen=True)
class FciCommand:
    """One command.

    Attributes:
        values: (7,) goals in rad, rates in rad/s, or a pose.
        time: s, its stamp, or without one its arrival.
        arrival: s of time.monotonic() at which the middleware had it.
        is_rates: True if the values are rates.
    """

    values: Array
    time: float
    arrival: float
    is_rates: bool = False


class FciCommands:
    """The newest command that can be followed; for any thread.

    counts: of commands, refused and stale ones. obstacle: says why the arm follows none; '': it
    does. set_width: gets the opening in m that the hand is to have.
    """

    def __init__(
        self,
        robot: Robot,
        settings: RobotDriverOptions,
        clock: Clock,
        counts: FciCounts,
        obstacle: Callable[[], str],
        set_width: Callable[[float], None],
    ) -> None:
        self._settings, self._clock, self._counts = settings, clock, counts
        self._find_obstacle, self._set_width = obstacle, set_width
        self._count = len(robot.joint_names)
        names = (*robot.joint_names, *robot.grippers)
        limits = np.array([robot.joint_limits[name] for name in names])
        self._check = CommandCheck(names, limits, settings.limit_tolerance)
        self._lock = threading.Lock()
        self._goals: Array | None = None  # of all joints, of the last command or as found
        self._newest: FciCommand | None = None

    def joints(
        self,
        stamp: int,
        names: Sequence[str],
        positions: Array,
        velocities: Array,
        received: int = 0,
    ) -> str:
        """Takes a command of joints, to be followed in the next cycle; returns why it is refused,
        or ''.

        stamp: ns on the node's clock, 0 if there is none. positions: rad, m of a finger.
        velocities: rad/s, followed where there are no positions and `fci.control` is
        joint_velocity. received: ns of the system clock at which the middleware had it, from which
        its age counts, however late it is taken; 0: now.
        """
        arrival = _arrival(received)
        if problem := self._too_old(stamp, arrival):
            return problem
        is_rates = not len(positions) and len(velocities) > 0
        with self._lock:
            problem = self._take_rates(stamp, arrival, names, velocities) if is_rates else ''
            if not is_rates:
                problem = self._take_positions(stamp, arrival, names, positions)
        self._counts.refused += int(bool(problem))
        return problem

    def pose(self, stamp: int, pose: Array, received: int = 0) -> str:
        """Takes a pose of the end effector (7,) in the base; returns why it is refused, or ''.

        stamp, received: as of `joints`.
        """
        arrival = _arrival(received)
        if problem := self._too_old(stamp, arrival):
            return problem
        with self._lock:
            problem = self._obstacle()
            if not problem and not np.isfinite(pose).all():
                problem = f'the pose {pose.round(3).tolist()} is not finite'
            if not problem and abs(float(np.linalg.norm(pose[3:])) - 1.0) > 0.01:
                problem = f'the quaternion {pose[3:].round(3).tolist()} has not the length 1'
            if not problem:
                self._newest = _made(pose, stamp, arrival)
        self._counts.refused += int(bool(problem))
        return problem

    def take(self, positions: Array) -> FciCommand | None:
        """Returns the newest command, once. positions: (7,) rad, where the joints are, from which
        commands of some of them count if there was none of all.
        """
        with self._lock:
            if self._goals is None:  # of a finger NaN, which nobody has commanded
                missing = len(self._check.names) - self._count
                self._goals = np.concatenate((positions, np.full(missing, np.nan)))
            command, self._newest = self._newest, None
        return command

    def drop(self, keeps_newest: bool = False) -> None:
        """Forgets the goals so far, and the newest command unless it is kept."""
        with self._lock:
            self._goals = None
            if not keeps_newest:
                self._newest = None

    def _too_old(self, stamp: int, arrival: float) -> str:
        """Counts a command; returns why it is too old."""
        self._counts.commands += 1
        age = time.monotonic() - arrival
        if stamp:
            age = max(age, (self._clock.now().nanoseconds - stamp) / SECOND)
        if age <= self._settings.command_timeout:
            return ''
        self._counts.stale += 1
        return f'it is {age:.2f} s old, more than command_timeout'

    def _take_positions(
        self, stamp: int, arrival: float, names: Sequence[str], positions: Array
    ) -> str:
        command = self._check.read(names, positions)
        problem = self._obstacle() or (command.text if isinstance(command, Reason) else '')
        if problem or not isinstance(command, NamedPositions):
            return problem
        assert self._goals is not None
        self._goals = self._check.merge(self._goals, command)
        chosen = command.indices
        if (chosen >= self._count).any():
            self._set_width(2.0 * float(self._goals[self._count]))
        if (chosen < self._count).any() and self._settings.fci.control != POSE:
            self._newest = _made(self._goals[: self._count].copy(), stamp, arrival)
        return ''

    def _take_rates(
        self, stamp: int, arrival: float, names: Sequence[str], velocities: Array
    ) -> str:
        if self._settings.fci.control != VELOCITY:
            return "it has velocities without positions; fci.control is not 'joint_velocity'"
        arm = self._check.names[: self._count]
        if sorted(names) != sorted(arm) or len(velocities) != self._count:
            return f'velocities are wanted of {list(arm)}, not of {list(names)}'
        if not np.isfinite(velocities).all():
            return f'the velocities {velocities.tolist()} are not finite'
        if problem := self._obstacle():
            return problem
        order = [list(names).index(name) for name in arm]
        self._newest = _made(velocities[order], stamp, arrival, is_rates=True)
        return ''

    def _obstacle(self) -> str:
        """Returns why no command can be taken now."""
        found = self._find_obstacle()
        return found or ('' if self._goals is not None else UNREAD)


def _made(values: Array, stamp: int, arrival: float, is_rates: bool = False) -> FciCommand:
    return FciCommand(values, stamp / SECOND if stamp else arrival, arrival, is_rates)


def _arrival(received: int) -> float:
    """Returns s of time.monotonic() of a reception, ns of the system clock; now for 0."""
    age = (time.time_ns() - received) / SECOND if received else 0.0
    return time.monotonic() - max(0.0, age)
