# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Poses of the tip, and of the object and the goal of a task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from frame_ros.bags.streams.form import MessageForm, RecordedStream, Values

POSE_TYPE = 'geometry_msgs/msg/PoseStamped'
POSITION = tuple(f'pose.position.{axis}' for axis in 'xyz')
ORIENTATION = tuple(f'pose.orientation.{axis}' for axis in 'xyzw')
# Beyond this, in m or rad, a value is an error of the message.
LARGEST = 1e6

Pose = tuple[float, float, float, float, float, float, float]
Target = tuple[float, float, float, str]


def pose_values(message: Any) -> Pose:
    """Returns position (m) and quaternion of a PoseStamped as x, y, z, qx, qy, qz, qw."""
    place, turn = message.pose.position, message.pose.orientation
    return place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w


def pose_samples(values: Values) -> list[list[float]]:
    """Returns the same of columns: position (T, 3), orientation (T, 4)."""
    found: list[list[float]] = np.hstack([values['position'], values['orientation']]).tolist()
    return found


def usable_pose(value: Sequence[float]) -> Sequence[float] | None:
    """Returns a pose that is finite and whose quaternion is not zero."""
    # A sum of magnitudes is small only if each of them is; NaN is not below anything.
    if len(value) != 7 or not sum(map(abs, value)) < LARGEST:
        return None
    qx, qy, qz, qw = value[3:]
    return value if qx * qx + qy * qy + qz * qz + qw * qw > 1e-6 else None


def target_values(message: Any) -> Target:
    """Returns position (m) and frame of a PoseStamped of an object or goal: x, y, z, frame_id."""
    place = message.pose.position
    return place.x, place.y, place.z, str(message.header.frame_id)


def target_samples(values: Values) -> list[Target]:
    """Returns the same of columns: position (T, 3), frame (T,)."""
    rows = zip(values['position'].tolist(), values['frame'].tolist())
    return [(*position, str(frame)) for position, frame in rows]


def usable_target(value: Target) -> Target | None:
    """Returns a target whose position is finite."""
    x, y, z, _ = value
    return value if abs(x) + abs(y) + abs(z) < LARGEST else None


TARGET = MessageForm(
    POSE_TYPE, {'position': POSITION, 'frame': 'header.frame_id'}, target_values, target_samples
)
POSE = RecordedStream(
    'pose',
    ('ee_pose',),
    (
        MessageForm(
            POSE_TYPE,
            {'position': POSITION, 'orientation': ORIENTATION},
            pose_values,
            pose_samples,
        ),
    ),
    usable_pose,
    is_steady=True,
    is_framed=True,
)
OBJECT = RecordedStream('object', ('object_pose',), (TARGET,), usable_target, is_target=True)
GOAL = RecordedStream('goal', ('goal_pose',), (TARGET,), usable_target, is_target=True)
