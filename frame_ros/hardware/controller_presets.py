# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The controllers to which the command gate can send, by name."""

from __future__ import annotations

from frame_ros.robots.profile import ControllerPreset, RobotProfile
from frame_ros.robots.profiles import packaged_profiles

_CRISP_GRIPPER = 'gripper/gripper_position_controller/commands'
_CRISP = (
    'utiasDSL/crisp_controllers src/cartesian_controller.cpp; crisp_controllers_demos '
    'config/fr3/controllers.yaml and crisp_py_franka_hand_adapter.py'
)
# Controllers that arms of many kinds have; those of one robot stand in its profile.
GENERAL = {
    'none': ControllerPreset('none', source='nothing is sent apart from joint_commands'),
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
}


def controller_presets(profile: RobotProfile | None = None) -> dict[str, ControllerPreset]:
    """The controllers by name: the general ones, those of the packaged robots and of a profile."""
    profiles = [*packaged_profiles(), *([profile] if profile else [])]
    return GENERAL | {n: preset for p in profiles for n, preset in p.controllers.items()}
