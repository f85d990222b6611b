# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Facts that the arms of Franka share, FR3 and Panda; {robot} is the prefix of their names."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from frame_ros.robots.profile import (
    ControllerPreset,
    Gripper,
    Rates,
    RobotProfile,
    Topics,
    TrackingPreset,
)

# "Robot and interface specifications" of the Franka Control Interface; the same numbers are
# kMaxJointVelocity and kMaxJointAcceleration of libfranka's rate_limiting.h.
SPECIFICATIONS = 'Robot and interface specifications of the Franka Control Interface'
FINGER_RATES = Rates(
    velocity=0.1, acceleration=1.0, source='as fast as the hand grips; acceleration: not published'
)
READY = (0.0, -math.pi / 4, 0.0, -3 * math.pi / 4, 0.0, math.pi / 2, math.pi / 4)
CONTROLLERS = {
    'franka_ros2': ControllerPreset(
        'trajectory',
        '{robot}_arm_controller/joint_trajectory',
        'gripper_command',
        'franka_gripper/gripper_action',
        source='frankarobotics/franka_ros2 franka_fr3_moveit_config/config/'
        'fr3_ros_controllers.yaml and franka_gripper/launch/gripper.launch.py',
    ),
    'fci_pose': ControllerPreset(
        'pose',
        'pose_commands',
        'none',
        source="our robot_driver with fci.control: cartesian_pose; the hand's goal comes with "
        'joint_commands',
    ),
}
# Names of franka_ros2.
TOPICS = Topics(
    joint_states='franka/joint_states',
    wrench='franka_robot_state_broadcaster/external_wrench_in_base_frame',
    gripper='franka_gripper/joint_states',
)


def franka_profile(
    name: str, title: str, accelerations: Sequence[float], **more: Any
) -> RobotProfile:
    """The profile of an arm whose seven joints have these acceleration limits, rad/s^2."""
    joints = [f'{name}_joint{i + 1}' for i in range(7)]
    finger = f'{name}_finger_joint1'
    rates: Mapping[str, Rates] = {
        joint: Rates(acceleration=limit, source=SPECIFICATIONS)
        for joint, limit in zip(joints, accelerations, strict=True)
    }
    return RobotProfile(
        name=name,
        title=title,
        urdf=f'urdf/{name}.urdf',
        tips={
            'default': f'{name}_link8',
            'flange': f'{name}_link8',
            'hand': f'{name}_hand',
            'tcp': f'{name}_hand_tcp',
        },
        finger_links=(f'{name}_leftfinger', f'{name}_rightfinger'),
        sensor_link=f'{name}_hand',
        has_torque_sensors=True,
        gripper=Gripper(joint=finger, closed=0.034, opened=0.037),  # m; each finger moves by 0.04
        rates={**rates, finger: FINGER_RATES},
        tracking=TrackingPreset(f'{name}_hand_tcp'),
        controllers=CONTROLLERS,
        command_frame='base',  # coincides with the base link, and is what its controllers name
        topics=TOPICS,
        wrench_is_estimate=True,
        shapes=f'config/shapes/{name}.yaml',
        # Franka's ready posture, the gripper open.
        postures={'home': dict(zip([*joints, finger], [*READY, 0.04], strict=True))},
        **more,
    )
