# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contacts that the contact node finds in joint states with efforts that were recorded."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.options import evolved
from frame_ros.core.time import SECOND
from frame_ros.robots import Robot
from frame_ros.robots.joint_state_merge import FullJointState
from frame_ros.sensing.contact.detection import Detection
from frame_ros.sensing.contact.joint_arrays import JointArrays
from frame_ros.sensing.contact.joint_effort_sensor import EffortSensor
from frame_ros.sensing.contact.options import SensingOptions
from frame_ros.sensing.contact.trusted_inputs import TrustedInputs

Array = NDArray[np.float64]
MOVES = 0.02  # rad/s of a joint above which the arm moves
NONE: Array = np.zeros(0)


class WatchedEfforts:
    """The contact node's way of joint states and commands, with its default settings, and what
    comes of them.
    """

    def __init__(self, robot: Robot, motors_file: str, names: tuple[str, ...]) -> None:
        """motors_file: as of the contact node. names: of the joints in what is taken."""
        plain = SensingOptions(robot=robot.name)
        settings = evolved(plain, joints=evolved(plain.joints, motors_file=motors_file))
        self._names = names
        self._joints, self._commands = JointArrays(names), JointArrays(names)
        self._sensor = EffortSensor(settings, robot, self._joints, self._commands)
        self._trusted = TrustedInputs(robot, settings.streams)
        self._begins: list[float] = []
        self._ends: list[float] = []
        self._causes: list[list[Any]] = []
        self._reasons: dict[str, float] = {}
        self._in_contact = self._moves = 0.0
        self._was_contact = False
        self._first: int | None = None
        self._before: int | None = None
        self._rows: list[tuple[bool, float, Array]] = []

    def take(
        self, stamp: int, positions: Array, speeds: Array, efforts: Array,
        goals: Array | None = None,
    ) -> None:  # fmt: skip
        """Takes a sample.

        Args:
            stamp: ns.
            positions, speeds, efforts: (N,) rad, rad/s, and the unit of the motors.
            goals: (N,) rad, that were commanded; None: not known.
        """
        if self._first is None:
            self._first = stamp
        if goals is not None:
            self._commands.take(FullJointState(stamp, self._names, goals, NONE, NONE))
        state = FullJointState(stamp, self._names, positions, speeds, efforts)
        taken = self._joints.take(state)
        trust = self._trusted.joints(state)
        found: Detection | None = None
        if why := trust.unavailable or self._trusted.efforts:
            found = Detection(stamp, self._sensor.source, None, unavailable=why)
        elif trust.is_used:
            found = self._sensor.on_joints(stamp, taken, None)
        period = 0.0 if self._before is None else (stamp - self._before) / SECOND
        self._before = stamp
        moves = bool((np.abs(speeds) > MOVES).any())
        self._moves += period * moves
        if found is not None:
            self._add(found, period, moves, (stamp - self._first) / SECOND)

    def _add(self, found: Detection, period: float, moves: bool, time: float) -> None:
        is_contact = bool(found.is_contact)
        if found.is_contact is None:
            why = found.unavailable
            self._reasons[why] = self._reasons.get(why, 0.0) + period
        else:
            self._rows.append((moves, self._sensor.sensitivity.force, found.thresholds.copy()))
        self._in_contact += period * is_contact
        if is_contact and not self._was_contact:
            blocked = self._sensor.detector.blocked
            shares = np.maximum(np.abs(found.residuals) / found.thresholds, blocked)
            joint = int(np.argmax(shares))
            self._begins.append(time)
            self._causes.append([
                found.joint_names[joint], float(found.residuals[joint]),
                float(found.thresholds[joint]), self._sensor.detector.stands,
                bool(blocked[joint] >= 1.0),
            ])  # fmt: skip
        elif self._was_contact and not is_contact:
            self._ends.append(time)
        self._was_contact = is_contact

    def result(self, seconds: float) -> dict[str, Any]:
        """Returns what came of so many s.

        begins and ends: s of each contact, since the first sample. causes: of each, the joint with
        the largest share, its residual and threshold, N m, whether the arm stood by its commands,
        and whether the joint did not follow its own. in_contact, unavailable: s. reasons: why not
        available -> s. moves: s in which a joint moves. thresholds: joint -> [standing, moving],
        N m in the median. forces: [standing, moving], N at the tip, in the median.
        """
        if len(self._ends) < len(self._begins):
            self._ends.append(seconds)
        both = [[row for row in self._rows if row[0] is moves] for moves in (False, True)]
        thresholds = [_medians(np.array([row[2] for row in rows])) for rows in both]
        names = self._sensor.detector.joint_names
        return {
            'begins': self._begins,
            'ends': self._ends,
            'causes': self._causes,
            'in_contact': self._in_contact,
            'unavailable': sum(self._reasons.values()),
            'reasons': self._reasons,
            'moves': self._moves,
            'thresholds': {
                name: [None if each is None else each[i] for each in thresholds]
                for i, name in enumerate(names)
            },
            'forces': [float(np.median([row[1] for row in rows])) if rows else None
                       for rows in both],
        }  # fmt: skip


def _medians(values: Array) -> list[float] | None:
    """Returns the medians of columns, None of none; infinite ones stay (joints at a limit)."""
    return np.median(values, axis=0).tolist() if len(values) else None
