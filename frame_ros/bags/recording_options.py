# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of reading recordings: namespace, topics, robot, and the units of joint values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.options import option, options, rule
from frame_ros.core.ros_names import NamespaceOptions
from frame_ros.robots.likely_units import RAD, UNITS

MAX_AGE = 0.5  # s, that an input may be old, as of the policy node
# The time of a message: that of its header, or that at which the recorder received it.
HEADER, RECEIVE = STAMPS = ('header', 'receive')
# The option of a command line that names the joints of commands without names.
ACTION_JOINTS = '--action-joints'


@options
class StampChoice:
    """Times of the messages of a recording."""

    stamps: str = option(
        HEADER,
        'time of a message: header (header.stamp), or receive (when the recorder received it), for '
        'recordings without usable stamps; delays before the recorder are then not known, and its '
        'jitter is in rates and differences',
        choices=STAMPS,
    )


@options
class TopicChoice(NamespaceOptions, StampChoice):
    """Topics of a robot in a recording, and the times of their messages."""

    namespace: str | None = option(None, "the robot's namespace; none: that with most topics")
    topics: Mapping[str, str] = option(
        {}, 'role=topic, of what has another name than usual: pose, action, joint_states, ...'
    )
    action_joints: tuple[str, ...] = option(
        (),
        'the joints, in their order, of commands whose messages name none (Float64MultiArray, as '
        'of forward_command_controller); none: those are not read',
    )

    @rule('action_joints', 'each joint once')
    def _are_different(self) -> bool:
        return len(set(self.action_joints)) == len(self.action_joints)

    @rule('action_joints', 'names')
    def _are_names(self) -> bool:
        return all(name.strip() for name in self.action_joints)


@options
class RecordingOptions(TopicChoice):
    """Reading of recordings."""

    robot: str = option(
        '', 'name, profile or URDF, for poses from joint states where none were recorded'
    )
    joint_units: str = option(
        RAD,
        'of recorded joint values: rad, ticks of an encoder (4096 a turn), percent (-100 to 100, '
        'as LeRobot has them), deg with grippers from 0 to 100',
        choices=UNITS,
    )
    joint_calibration: str = option(
        '',
        "LeRobot's calibration file of the arm, for ticks and percent; without it tick 2048 is "
        "0 rad, and percent are of the robot's limits: approximate",
    )

    def reading(self) -> dict[str, Any]:
        """Returns the arguments of `read_episodes`.

        Raises:
            ValueRangeError: a role, or units, that are not known, or a calibration that cannot be
                read. RobotError: a file that cannot be read.
        """
        from frame_ros.bags.streams.table import absolute_topics

        return {
            'namespace': self.namespace,
            'topics': absolute_topics(self.topics),
            'stamps': self.stamps,
            'action_joints': self.action_joints,
            'robot': self.robot or None,
            'joint_units': load_recorded_units(self.joint_units, self.joint_calibration),
        }


@options
class ObservationOptions(RecordingOptions):
    """Reading of what a policy would have observed."""

    max_age: float = option(MAX_AGE, 'largest age of an input', unit='s', above=0.0)


@dataclass(frozen=True)
class RecordedUnits:
    """The units in which joint values were recorded.

    Attributes:
        units: one of UNITS. 'deg': grippers 0 (closed) to 100 (open), as LeRobot writes them.
            'percent': LeRobot's -100 to 100. 'ticks': steps of an encoder, 4096 a turn.
        calibration: joint -> entry of LeRobot's calibration file; what percent and ticks mean
            exactly; without it percent are of the robot's limits, and tick 2048 is 0 rad.

    Raises:
        ValueRangeError: other units.
    """

    units: str = RAD
    calibration: Mapping[str, Mapping[str, int]] | None = None

    def __post_init__(self) -> None:
        if self.units not in UNITS:
            raise ValueRangeError(f'joint units are {self.units!r}; known: {", ".join(UNITS)}')


def load_recorded_units(units: str, calibration: str | Path | None = None) -> RecordedUnits:
    """Returns the units, with the calibration of a file.

    Raises:
        ValueRangeError: unknown units, a file that is not a calibration or cannot be read, or one
            for values in rad, which need none.
    """
    from frame_ros.robots.joint_units import read_calibration

    if not calibration:
        return RecordedUnits(units)
    if units == RAD:
        raise ValueRangeError(
            f'a calibration ({calibration}) changes nothing about joint values in rad; name what '
            'they are: --joint-units ticks, percent or deg'
        )
    return RecordedUnits(units, read_calibration(calibration))
