# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The controllers that people run on their arms: messages, topics, joints, grippers.

The messages themselves are made in frame_ros/nodes/gate/controller_outputs.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import attrs

from frame_ros.core.errors import ValueRangeError
from frame_ros.hardware.controller_presets import controller_presets
from frame_ros.robots.differential_ik import tracking_preset
from frame_ros.robots.profile import GRIPPER_KINDS
from frame_ros.robots.robot import Robot


@dataclass(frozen=True)
class ControllerLayout:
    """A controller's interface for one robot; the other attributes are as in ControllerPreset.

    Attributes:
        joints: names in the order in which their values are sent.
        gripper_joints: those that are sent separately.
        fingers: joint -> its closed and open position, rad or m, of all gripper joints.
        tip: the link whose pose is sent.
        frame_id: of that pose.
        horizon: s, time_from_start of a trajectory's point.
        effort: N, of a gripper_command.
    """

    preset: str
    kind: str
    topic: str
    joints: tuple[str, ...]
    is_partial: bool
    gripper: str
    gripper_topic: str
    gripper_joints: tuple[str, ...]
    fingers: dict[str, tuple[float, float]]
    tip: str
    frame_id: str
    horizon: float
    effort: float


def controller_layout(
    preset: str,
    robot: Robot,
    period: float,
    *,
    topic: str = '',
    joints: Sequence[str] = (),
    gripper: str = '',
    gripper_topic: str = '',
    tip: str = '',
    frame_id: str = '',
    horizon: float = 0.0,
    effort: float = 20.0,
) -> ControllerLayout:
    """Adapts a preset, overridden by the arguments given, to a robot commanded every `period` s.

    Args:
        joints: the controller's joints, in its order; by default those of the robot, in the URDF's
            order, without the gripper's.
        tip: by default the robot's TCP.
        horizon: s; by default two periods.
        effort: N.

    Raises:
        ValueRangeError: a name is unknown, or a number is out of range.
    """
    presets = controller_presets(robot.profile)
    if preset not in presets:
        raise ValueRangeError(f'output is {preset!r}; known: {", ".join(presets)}')
    if gripper and gripper not in GRIPPER_KINDS:
        raise ValueRangeError(
            f'the gripper output is {gripper!r}; known: {", ".join(GRIPPER_KINDS)}'
        )
    found = presets[preset]
    found = attrs.evolve(found, gripper=gripper) if gripper else found
    if not (0 < period < math.inf and 0 <= horizon < math.inf and 0 <= effort < math.inf):
        raise ValueRangeError(
            f'period is {period} s, horizon {horizon} s, effort {effort} N; the period must be '
            'positive, the others 0 or more'
        )
    main, apart = _joints(robot, tuple(joints), found.gripper)
    link = tip or tracking_preset(robot).tip or robot.tip_link
    if link not in robot.links:
        raise ValueRangeError(f'{robot.name} has no link {link!r}; it has {list(robot.links)}')
    return ControllerLayout(
        preset=preset,
        kind=found.kind,
        topic=_named(topic or found.topic, robot),
        joints=main,
        is_partial=found.is_partial,
        gripper=found.gripper if apart else 'none',
        gripper_topic=_gripper_topic(gripper_topic or found.gripper_topic, found.gripper, robot),
        gripper_joints=apart,
        fingers=robot.grippers,
        tip=link,
        frame_id=frame_id or robot.profile.command_frame or robot.base_link,
        horizon=horizon or 2 * period,
        effort=effort,
    )


def _joints(
    robot: Robot, given: tuple[str, ...], gripper: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the joints of the main message, and the gripper joints sent separately."""
    names = tuple(robot.joint_limits)
    fingers = tuple(robot.grippers)
    if unknown := [name for name in given if name not in names]:
        raise ValueRangeError(f'{robot.name} has no joint {unknown}; it has {list(names)}')
    if len(set(given)) != len(given):
        raise ValueRangeError(f'the joints {list(given)} contain one twice')
    arm = tuple(name for name in names if name not in fingers)
    main = given or (names if gripper == 'with_joints' else arm)
    is_apart = gripper not in ('none', 'with_joints')
    return main, tuple(name for name in fingers if is_apart and name not in main)


def _gripper_topic(topic: str, gripper: str, robot: Robot) -> str:
    if not topic and gripper not in ('none', 'with_joints'):
        raise ValueRangeError(f'the gripper output {gripper!r} needs a topic: set gripper_topic')
    return _named(topic, robot)


def _named(topic: str, robot: Robot) -> str:
    return topic.replace('{robot}', robot.name)
