# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Episodes of a gripper that follows its target at once, but for what is between its fingers."""

from pathlib import Path

import numpy as np

from frame_ros.bags.streams.form import Stream
from frame_ros.core.events import Event, EventType, Outcome
from frame_ros.core.time import SECOND
from frame_ros.episodes.episode import Episode

BEGIN = 10_000 * SECOND
RATE = 100.0
GRIPPERS = {'so101': ('gripper', 1.7453), 'fr3': ('fr3_finger_joint1', 0.04)}
JOINT_TYPE, POSE_TYPE = 'sensor_msgs/msg/JointState', 'geometry_msgs/msg/PoseStamped'
BIN, TABLE = (0.3, 0.3), (0.3, -0.3)


def times_of(length):
    return np.arange(0.0, length + 1e-9, 1.0 / RATE)


def steps(length, *changes):
    """(T,) the value of the last change at or before each time; changes are pairs (s, value)."""
    times, result = times_of(length), np.zeros(round(length * RATE) + 1)
    for time, value in changes:
        result[times >= time - 1e-9] = value
    return result


def paths(length, *places):
    """(T, 3) the place at each time, on straight lines between pairs (s, (x, y))."""
    at = [time for time, _ in places]
    columns = [np.interp(times_of(length), at, [p[axis] for _, p in places]) for axis in (0, 1)]
    return np.column_stack([*columns, np.full(len(times_of(length)), 0.1)])


def gripper_episode(
    target, opening, positions, robot='so101', outcome=Outcome.TIMEOUT, events=(), name='e',
    facts=None,
):  # fmt: skip
    """target, opening: (T,) shares. positions: (T, 3) m."""
    joint, full = GRIPPERS[robot]
    stamps = BEGIN + np.round(np.arange(len(target)) / RATE * SECOND).astype(np.int64)
    ends = [Event(int(stamps[-1]), EventType.END, name, outcome)]
    streams = {
        'action': joints(joint, stamps, np.asarray(target) * full),
        'joint_states': joints(joint, stamps, np.asarray(opening) * full),
        'pose': poses(stamps, positions),
        'goal': poses(stamps[:1], np.array([[*BIN, 0.0]])),
    }
    return Episode(
        Path(name), name, {'robot': robot, **(facts or {})},
        [Event(BEGIN, EventType.START, name), *events, *ends], streams, {},
    )  # fmt: skip


def joints(name, stamps, positions):
    counts = np.ones(len(stamps), np.int64)
    values = {
        'names': np.full((len(stamps), 1), name), 'names_count': counts,
        'positions': positions[:, None], 'positions_count': counts,
    }  # fmt: skip
    return Stream('joints', JOINT_TYPE, stamps, stamps, values)


def poses(stamps, positions):
    values = {'position': positions, 'frame': np.full(len(stamps), 'base_link')}
    return Stream('pose', POSE_TYPE, stamps, stamps, values, 'base_link')


def placement(
    width, begin=1.0, until=4.0, length=6.0, dropped=None, released_at=BIN, robot='so101'
):
    """One item of a width (share), grasped at the table and released elsewhere."""
    target = steps(length, (0.0, 0.8), (begin, 0.0), (until, 0.8))
    held = steps(length, (0.0, 0.0), (begin, width), (until, 0.0))
    if dropped is not None:
        held = np.where(times_of(length) >= dropped, 0.0, held)
    opening = np.maximum(target, held)
    places = paths(length, (begin + 0.5, TABLE), (until - 0.5, released_at))
    return gripper_episode(target, opening, places, robot)
