# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Poses of the end effector from recorded joint states, where none were recorded."""

from __future__ import annotations

import numpy as np

from frame_ros.episodes.bag_reader import Bag
from frame_ros.episodes.data import Stream
from frame_ros.episodes.findings import Note
from frame_ros.errors import FrameRosError, RobotError


def add_computed_pose(bag: Bag, streams: dict[str, Stream], robot: str | None) -> None:
    """Adds the stream 'pose' by forward kinematics from 'joint_states', where the robot (name or
    URDF) is known and every joint is there; otherwise `bag.problems` say why not.
    """
    joints = streams.get('joint_states')
    if joints is None or not robot or len(joints) == 0:
        return
    try:
        pose = _computed_pose(joints, robot)
    except (ImportError, FrameRosError) as error:
        bag.problems.append(f'poses were not recorded and could not be computed: {error}')
        return
    streams['pose'] = pose
    bag.report(Note(f'poses were not recorded: computed from {joints.topic} for {robot}'))


def _computed_pose(joints: Stream, robot: str) -> Stream:
    from frame_ros.robots import load_robot

    model = load_robot(robot)
    names, positions = joints.values['names'], joints.values['positions']
    first = [str(name) for name in names[0]]
    missing = [name for name in model.joint_names if name not in first]
    if missing:
        raise RobotError(f'{joints.topic} lacks {", ".join(missing)}; it has {", ".join(first)}')
    order = [first.index(name) for name in model.joint_names]
    is_usable = (names == names[0]).all(axis=1) & np.isfinite(positions[:, order]).all(axis=1)
    if not is_usable.any():
        raise RobotError(f'no message on {joints.topic} has a number for every joint')
    poses = [model.forward(row) for row in positions[is_usable][:, order]]
    return Stream(
        joints.topic,
        'geometry_msgs/msg/PoseStamped',
        joints.stamps[is_usable],
        joints.received[is_usable],
        {
            'position': np.array([position for position, _ in poses]).reshape(-1, 3),
            'orientation': np.array([orientation for _, orientation in poses]).reshape(-1, 4),
        },
    )
