# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the controllers that people run on their arms listen to: messages, topics, joints, grippers.

A table of presets, and what one of them means for one robot. What is sent is made in
frame_ros/nodes/gate/controller_outputs.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from frame_ros.core.errors import ValueRangeError
from frame_ros.robots.differential_ik import tracking_preset
from frame_ros.robots.grippers import gripper_joints
from frame_ros.robots.robot import Robot

# What the joints go out as. none: not at all. joint_state: sensor_msgs/JointState. trajectory:
# trajectory_msgs/JointTrajectory of one point. positions: std_msgs/Float64MultiArray. pose:
# geometry_msgs/PoseStamped of the tip.
KINDS = ('none', 'joint_state', 'trajectory', 'positions', 'pose')
# What the gripper joints go out as. with_joints: in the message of the others. trajectory,
# positions: as above, on a topic of their own. opening: Float64MultiArray of one share, 0 closed to
# 1 open. gripper_command: goals of the action control_msgs/GripperCommand, the position of one
# finger. none: not at all.
GRIPPER_KINDS = ('none', 'with_joints', 'trajectory', 'positions', 'opening', 'gripper_command')


@dataclass(frozen=True)
class ControllerPreset:
    """kind: one of KINDS. topic, gripper_topic: relative ones lie in the node's namespace; {robot}
    is the robot's name. gripper: one of GRIPPER_KINDS. is_partial: a message may leave joints out.
    source: where the names come from.
    """

    kind: str
    topic: str = ''
    gripper: str = 'none'
    gripper_topic: str = ''
    is_partial: bool = False
    source: str = ''


_CRISP_GRIPPER = 'gripper/gripper_position_controller/commands'
_CRISP = (
    'utiasDSL/crisp_controllers src/cartesian_controller.cpp; crisp_controllers_demos '
    'config/fr3/controllers.yaml and crisp_py_franka_hand_adapter.py'
)
PRESETS = {
    'none': ControllerPreset('none', source='nothing is sent beside joint_commands'),
    'lerobot_so101': ControllerPreset(
        'joint_state', 'joint_commands', 'with_joints', is_partial=True, source='frame_ros drivers'
    ),
    'ros2_control_trajectory': ControllerPreset(
        'trajectory',
        'joint_trajectory_controller/joint_trajectory',
        'trajectory',
        'gripper_controller/joint_trajectory',
        source='ros-controls/ros2_controllers joint_trajectory_controller/doc/userdoc.rst',
    ),
    'ros2_control_position': ControllerPreset(
        'positions',
        'forward_position_controller/commands',
        'positions',
        'forward_gripper_position_controller/commands',
        source='ros-controls/ros2_controllers forward_command_controller/doc/userdoc.rst',
    ),
    'crisp_pose': ControllerPreset('pose', 'target_pose', 'opening', _CRISP_GRIPPER, source=_CRISP),
    'crisp_joint': ControllerPreset(
        'joint_state', 'target_joint', 'opening', _CRISP_GRIPPER, source=_CRISP
    ),
    'franka_ros2': ControllerPreset(
        'trajectory',
        '{robot}_arm_controller/joint_trajectory',
        'gripper_command',
        'franka_gripper/gripper_action',
        source='frankarobotics/franka_ros2 franka_fr3_moveit_config/config/'
        'fr3_ros_controllers.yaml and franka_gripper/launch/gripper.launch.py',
    ),
}


@dataclass(frozen=True)
class ControllerLayout:
    """What goes where for one robot.

    joints: names in the order in which their values are sent. gripper_joints: those that go out
    apart from them. fingers: joint -> its closed and open position, rad or m, of all gripper
    joints. tip: the link whose pose is sent; frame_id: of that pose. horizon: s, time_from_start of
    a trajectory's point. effort: N, of a gripper_command. Others as in ControllerPreset.
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
    """A preset for one robot, commanded every `period` seconds.

    Everything after it overrides the preset; empty or 0 leaves what the preset, or the robot, says.
    joints: those that the controller declares, in its order; the default are those of the robot,
    in the URDF's order, without the gripper's. tip: the default is the robot's TCP. horizon: s; the
    default is two periods. effort: N.

    Raises:
        ValueRangeError: the preset, a joint, the link or the gripper's way is not known, or a
            number is out of range.
    """
    if preset not in PRESETS:
        raise ValueRangeError(f'output is {preset!r}; known: {", ".join(PRESETS)}')
    found = PRESETS[preset]
    if gripper:
        found = replace(found, gripper=gripper)
    if found.gripper not in GRIPPER_KINDS:
        raise ValueRangeError(
            f'the gripper output is {gripper!r}; known: {", ".join(GRIPPER_KINDS)}'
        )
    if not (0 < period < math.inf and 0 <= horizon < math.inf and 0 <= effort < math.inf):
        raise ValueRangeError(
            f'period is {period} s, horizon {horizon} s, effort {effort} N; the period must be '
            'positive, the others 0 or more'
        )
    main, apart = _joints(robot, tuple(joints), found.gripper)
    link = tip or tracking_preset(robot).tip or robot.tip_link
    if link not in robot.links:
        raise ValueRangeError(f'{robot.name} has no link {link!r}; it has {list(robot.links)}')
    limits = robot.joint_limits
    return ControllerLayout(
        preset=preset,
        kind=found.kind,
        topic=_named(topic or found.topic, robot),
        joints=main,
        is_partial=found.is_partial,
        gripper=found.gripper if apart else 'none',
        gripper_topic=_gripper_topic(gripper_topic or found.gripper_topic, found.gripper, robot),
        gripper_joints=apart,
        fingers={name: limits[name] for name in gripper_joints(limits)},
        tip=link,
        frame_id=frame_id or _base_frame(robot),
        horizon=horizon or 2 * period,
        effort=effort,
    )


def _joints(
    robot: Robot, given: tuple[str, ...], gripper: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The joints of the main message, and the gripper joints that go out apart from it."""
    names = tuple(robot.joint_limits)
    fingers = gripper_joints(names)
    if unknown := [name for name in given if name not in names]:
        raise ValueRangeError(f'{robot.name} has no joint {unknown}; it has {list(names)}')
    if len(set(given)) != len(given):
        raise ValueRangeError(f'the joints {list(given)} name one twice')
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


def _base_frame(robot: Robot) -> str:
    """The base link; of a Franka the frame `base`, which coincides with it and which its
    controllers name.
    """
    return 'base' if robot.name in ('fr3', 'panda') else robot.base_link
