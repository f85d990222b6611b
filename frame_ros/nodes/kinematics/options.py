# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The kinematics node's options."""

from __future__ import annotations

from frame_ros.core.options import group, option, options
from frame_ros.nodes.runtime.options import InputOptions
from frame_ros.robots.joint_state_merge import MAX_JOINT_AGE
from frame_ros.robots.options import TIPS, FrameOptions, TipOptions
from frame_ros.sensing.contact.grasp import GraspOptions

FASTEST = 50.0  # Hz
DEPTH = 2000


@options
class PathOptions:
    """Path of the tip."""

    rate: float = option(
        2.0,
        'rate of path, published while the tip moves; 0: off',
        unit='Hz',
        at_least=0.0,
        at_most=FASTEST,
        live=True,
    )
    length: int = option(1000, 'newest poses kept in the path', at_least=1)
    spacing: float = option(0.002, 'distance of two poses of the path', unit='m', at_least=0.0)


@options
class KinematicsOptions(FrameOptions, TipOptions):
    """Kinematics node: joint_states -> ee_pose at every message, ee_twist, path and tf, and grasp:
    what the gripper holds.
    """

    tip: str = option('', f'link whose pose is published; {TIPS}')
    robot_description: str = option(
        '', "text of a URDF, or its path; takes precedence over robot; '': robot"
    )
    side_rate: float = option(
        50.0,
        'rate of ee_twist and tf, and of the samples of the path; 0: off',
        unit='Hz',
        at_least=0.0,
        at_most=FASTEST,
        live=True,
    )
    publish_tf: str = option(
        'auto',
        '/tf, /tf_static and robot_description of all links; auto: each while nobody else '
        'publishes it (the same frames, the same topic)',
        choices=('auto', 'true', 'false'),
    )
    max_joint_age: float = option(
        MAX_JOINT_AGE,
        'time between the oldest and the newest sample of which a state of several publishers is '
        'made',
        unit='s',
        above=0.0,
    )
    gripper_topic: str = option(
        '', 'sensor_msgs/JointState of the gripper, where joint_states do not have it'
    )
    path: PathOptions = group(PathOptions)
    grasp: GraspOptions = group(GraspOptions)
    inputs: InputOptions = group(InputOptions, queue_depth=DEPTH)
