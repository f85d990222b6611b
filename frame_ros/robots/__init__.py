# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Robots from their URDF: forward kinematics, Jacobian, link shapes; and joint state assembly."""

from frame_ros.robots.assembler import AssembledState, JointStateAssembler, StateCounts
from frame_ros.robots.catalogue import ROBOT_NAMES, find_urdf, load_robot
from frame_ros.robots.description import Capsule, Joint, Primitive, RobotDescription
from frame_ros.robots.robot import Robot

__all__ = [
    'ROBOT_NAMES',
    'AssembledState',
    'Capsule',
    'Joint',
    'JointStateAssembler',
    'Primitive',
    'Robot',
    'RobotDescription',
    'StateCounts',
    'find_urdf',
    'load_robot',
]
