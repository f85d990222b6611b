# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A second implementation of forward kinematics: 4 x 4 matrices along a URDF's chain, and Franka's
DH table.
"""

from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

# Modified Denavit-Hartenberg parameters a, d (m), alpha (rad), as Franka publishes them.
FRANKA_DH = (
    (0.0, 0.333, 0.0),
    (0.0, 0.0, -np.pi / 2),
    (0.0, 0.316, np.pi / 2),
    (0.0825, 0.0, np.pi / 2),
    (-0.0825, 0.384, -np.pi / 2),
    (0.0, 0.0, np.pi / 2),
    (0.088, 0.0, np.pi / 2),
)


def urdf_pose(path, tip, positions):
    """4 x 4 pose of `tip` in the base link; `positions` by joint name."""
    joints = {
        joint.find('child').get('link'): joint
        for joint in ElementTree.parse(path).getroot().findall('joint')
    }
    pose = np.eye(4)
    while tip in joints:
        joint = joints[tip]
        pose = _joint(joint, positions.get(joint.get('name'), 0.0)) @ pose
        tip = joint.find('parent').get('link')
    return pose


def _joint(joint, value):
    origin, axis = joint.find('origin'), joint.find('axis')
    placed = np.eye(4)
    placed[:3, 3] = [float(x) for x in origin.get('xyz').split()]
    placed[:3, :3] = Rotation.from_euler(
        'xyz', [float(x) for x in origin.get('rpy').split()]
    ).as_matrix()
    moved = np.eye(4)
    if joint.get('type') in ('revolute', 'continuous'):
        direction = np.array([float(x) for x in axis.get('xyz').split()])
        moved[:3, :3] = Rotation.from_rotvec(value * direction).as_matrix()
    elif joint.get('type') == 'prismatic':
        moved[:3, 3] = value * np.array([float(x) for x in axis.get('xyz').split()])
    return placed @ moved


def franka_flange(q):
    """4 x 4 pose of the flange: Craig's modified DH, then 0.107 m along the last z."""
    pose = np.eye(4)
    for (a, d, alpha), theta in zip(FRANKA_DH, q, strict=True):
        ct, st, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
        pose = pose @ np.array(
            [
                [ct, -st, 0, a],
                [st * ca, ct * ca, -sa, -sa * d],
                [st * sa, ct * sa, ca, ca * d],
                [0, 0, 0, 1],
            ]
        )
    flange = np.eye(4)
    flange[2, 3] = 0.107
    return pose @ flange


def quaternions_of(matrix):
    """The quaternion xyzw with w >= 0."""
    quaternion = Rotation.from_matrix(matrix[:3, :3]).as_quat()
    return quaternion if quaternion[3] >= 0 else -quaternion
