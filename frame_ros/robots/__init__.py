# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Robots from their profile and URDF: forward kinematics, Jacobian, link shapes; and joint states
put in order.

Names are imported when they are asked for: profiles are read without NumPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from frame_ros.robots.assembler import AssembledState, JointStateAssembler, StateCounts
    from frame_ros.robots.catalogue import ROBOT_NAMES, find_urdf, load_robot
    from frame_ros.robots.description import Capsule, Joint, Primitive, RobotDescription
    from frame_ros.robots.robot import Robot

_HOMES = {
    'assembler': ('AssembledState', 'JointStateAssembler', 'StateCounts'),
    'catalogue': ('ROBOT_NAMES', 'find_urdf', 'load_robot'),
    'description': ('Capsule', 'Joint', 'Primitive', 'RobotDescription'),
    'robot': ('Robot',),
}
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


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f'{__name__}.{home}'), name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
