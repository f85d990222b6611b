# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Poses of the end effector from recorded joint states, where none were recorded."""

from __future__ import annotations

import numpy as np

from frame_ros.bags.findings import Note
from frame_ros.bags.reader import Bag
from frame_ros.bags.streams.form import Stream
from frame_ros.bags.streams.joint_table import named_positions
from frame_ros.core.errors import FrameRosError, RobotError
from frame_ros.episodes.foreign_bags.topic_hints import joint_names
from frame_ros.robots.joint_state_merge import JointMerger
from frame_ros.robots.known_joints import robot_of_joints


def add_computed_pose(bag: Bag, streams: dict[str, Stream], robot: str | None) -> dict[str, int]:
    """Adds the stream 'pose' by forward kinematics from 'joint_states', if robot and joints are
    known.

    robot: name or URDF. Otherwise `bag.problems` give the reason. Returns counters of the data
    quality: reason -> joint states that gave no pose.
    """
    joints = streams.get('joint_states')
    if joints is None or not robot or len(joints) == 0:
        return {}
    try:
        pose, counts = _computed_pose(joints, robot)
    except (ImportError, FrameRosError) as error:
        bag.problems.append(f'poses were not recorded and could not be computed: {error}')
        return {}
    streams['pose'] = pose
    bag.report(Note(f'poses were not recorded: computed from {joints.topic} for {robot}'))
    return {f'joint_states.{why}': count for why, count in counts.items()}


def _computed_pose(joints: Stream, robot: str) -> tuple[Stream, dict[str, int]]:
    """Returns the poses, as from the kinematics node, and reason -> joint states without one."""
    from frame_ros.robots import load_robot

    model = load_robot(robot)
    merger = JointMerger(model.joint_names, continuous=model.continuous)
    count = 0
    stamps, received = np.empty((2, len(joints)), np.int64)
    position, orientation = np.empty((len(joints), 3)), np.empty((len(joints), 4))
    for i, (names, values) in enumerate(named_positions(joints)):
        state = merger.update(int(joints.stamps[i]), names, values)
        if state is not None:
            stamps[count], received[count] = merger.stamp, joints.received[i]
            position[count], orientation[count] = model.forward(state.positions)
            count += 1
    if not count:
        raise RobotError(_why_none(joints, merger))
    pose = Stream(
        joints.topic,
        'geometry_msgs/msg/PoseStamped',
        stamps[:count],
        received[:count],
        {'position': position[:count], 'orientation': orientation[:count]},
        model.base_link,
    )
    counts = {**merger.counts, 'waiting': merger.waiting}
    return pose, {why: count for why, count in counts.items() if count}


def _why_none(joints: Stream, merger: JointMerger) -> str:
    found = sorted(joint_names(joints))
    if not found:
        return f'the messages of {joints.topic} name no joints'
    if missing := [name for name in merger.missing if name not in found]:
        known = robot_of_joints(found)
        hint = f', the joints of {known}: --robot {known}' if known else ''
        return f'{joints.topic} lacks {", ".join(missing)}; it has {", ".join(found)}{hint}'
    if not (joints.stamps > 0).any():
        return f'no message of {joints.topic} has a stamp'
    return f'no message on {joints.topic} has a number for every joint: {merger.problem}'
