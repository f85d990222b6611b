# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Efforts that cannot be those of the motors: of a driver that reports none, or in another unit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.sensing.contact.joints.motor_model import MotorModel

Array = NDArray[np.float64]
TIMES_LIMIT = 3.0  # the effort limit of the URDF, above which no torque of a motor counts
# N m: efforts of more are reported ones; a step of a servo's register, 6.5 mA, is 0.007 N m. Where
# gears hold the arm, or it moves slowly, all currents of a real arm are a few of these steps. Those
# that hold nothing are less, and less than this share of the torque that holds the arm.
NOTHING, SHARE = 0.004, 0.01
MARGIN = 2.0  # times the thresholds that the weight must exceed, beyond friction
PATIENCE = 9 * SECOND // 10  # ns of efforts that hold nothing, of a driver that has reported others
INTERVAL = SECOND // 10  # ns between positions that are compared
MOVED = 0.02  # rad (m) in that time


class EffortCheck:
    """Judges the efforts of all joints of one arm together: a joint that is 0, or a motor that is
    off, is no fault.
    """

    def __init__(self, dynamics: RobotDynamics, motors: MotorModel) -> None:
        """Raises SetupError if the motor model lacks one of the joints."""
        self._dynamics = dynamics
        names = dynamics.joint_names
        self._names, self._motors = names, motors.of(names)
        robot = dynamics.robot
        limits = dict(zip(robot.joint_names, robot.effort_limits.tolist()))
        # 0 in a URDF is no limit.
        self._limits = np.array([limits.get(name) or np.inf for name in names])
        self.reset()

    def reset(self) -> None:
        """The clock was set back or forward."""
        self._has_reported = False
        self._since: int | None = None  # ns, of efforts that hold nothing
        self._before: tuple[int, Array] | None = None
        self._found = ''
        self._words: tuple[int, str] | None = None  # of torques that cannot be, ns since when

    def problem(self, stamp: int, q: Array, dq: Array | None, effort: Array) -> str:
        """Returns why efforts cannot be used; '' where they can, or are not known.

        Args:
            stamp: ns.
            q: (N,) rad.
            dq: (N,) rad/s; None: not known.
            effort: (N,) in the unit of the motor model.
        """
        speed = np.zeros(len(q)) if dq is None else dq
        torque = self._motors.motor_torque(effort, speed) + self._motors.offset
        largest = float(np.maximum.reduce(np.abs(torque)))
        if not largest < np.inf:  # NaN, too
            return ''
        if largest >= NOTHING:
            self._has_reported, self._since, self._before, self._found = True, None, None, ''
            return self._too_much(stamp, effort, torque)
        if self._found:
            return self._found
        if self._since is None:
            self._since = stamp
        if self._has_reported and stamp - self._since < PATIENCE:
            return ''
        if self._moves(stamp, q) or largest < SHARE * self._to_hold(q):
            self._found = self._nothing(effort)
        return self._found

    def _too_much(self, stamp: int, effort: Array, torque: Array) -> str:
        """Returns that a torque cannot be; the values named are renewed every second."""
        over = np.abs(torque) / self._limits
        worst = int(np.argmax(over))
        if over[worst] <= TIMES_LIMIT:
            self._words = None
            return ''
        if self._words is None or not 0 <= stamp - self._words[0] < SECOND:
            name, unit = self._names[worst], self._motors.effort_unit
            text = (
                f'the effort of {name}, {effort[worst]:.4g}, is {torque[worst]:.4g} N m by the '
                f'motor file, which takes {unit}; its motor has {self._limits[worst]:g} N m at '
                'most: another unit?'
            )
            self._words = stamp, text
        return self._words[1]

    def _moves(self, stamp: int, q: Array) -> bool:
        before = self._before
        if before is None:
            self._before = stamp, q
            return False
        if stamp - before[0] < INTERVAL:
            return False
        self._before = stamp, q
        return bool((np.abs(q - before[1]) > MOVED).any())

    def _to_hold(self, q: Array) -> float:
        """Returns N m that a motor must hold beyond friction; 0: none must."""
        weight = np.abs(self._dynamics.gravity(q))
        still = np.zeros(len(q))
        held = self._motors.dry_friction(still, still, weight)
        held = held + MARGIN * self._motors.threshold_base + np.abs(self._motors.offset)
        beyond = weight - held
        return float(weight[beyond > 0.0].max(initial=0.0))

    @staticmethod
    def _nothing(effort: Array) -> str:
        if effort.any():
            return (
                'the efforts of all joints are less than a hundredth of what holds the arm: '
                'another unit?'
            )
        return (
            'the efforts of all joints are exactly 0, though the arm moves or must be held: its '
            'driver reports none, or its motors are off'
        )
