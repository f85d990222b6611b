# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joint states and joint commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.reader import Bag
from frame_ros.bags.repeated_rows import repeated
from frame_ros.bags.streams.controller_states import (
    CONTROLLER_TYPE,
    read_measured,
    read_set_points,
)
from frame_ros.bags.streams.form import MessageForm, RecordedStream, Values
from frame_ros.bags.streams.nameless import NAMELESS_TYPE, read_nameless
from frame_ros.bags.streams.poses import LARGEST, POSE_TYPE, POSITION
from frame_ros.bags.streams.trajectories import TRAJECTORY_TYPE, read_trajectories
from frame_ros.core.errors import BagError

JOINT_TYPE = 'sensor_msgs/msg/JointState'
# The names of an action's values where it is a pose: its position alone.
AXES = ('x', 'y', 'z')


def action_values(message: Any) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Returns the names (D) and positions (D,) (rad or m) of a JointState. Names and positions of
    different length are returned as they are.
    """
    return tuple(message.name), np.array(message.position, dtype=np.float64)


def action_samples(values: Values) -> list[tuple[tuple[str, ...], list[float]]]:
    """Returns the same of columns: names (T, D), positions (T, D), and their counts (T,)."""
    rows, counts = values['positions'].tolist(), values['positions_count'].tolist()
    return [(names, row[:count]) for names, row, count in zip(name_lists(values), rows, counts)]


def name_lists(values: Values) -> list[tuple[str, ...]]:
    """Returns the names of each message, without padding."""
    cache: dict[tuple[int, bytes], tuple[str, ...]] = {}
    found = []
    for row, count in zip(values['names'], values['names_count'].tolist()):
        key = (count, row.tobytes())
        if key not in cache:
            cache[key] = tuple(str(name) for name in row[:count])
        found.append(cache[key])
    return found


def position_values(message: Any) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Returns the names (3) and the position (3,) (m) of a PoseStamped that is an action."""
    place = message.pose.position
    return AXES, np.array([place.x, place.y, place.z], dtype=np.float64)


def _read_positions(bag: Bag, topic: str) -> tuple[NDArray, dict[str, NDArray]]:
    """Returns receive times and the positions of poses, in the form of joint commands."""
    received, columns = bag.columns(topic, ['header.stamp', *POSITION])
    count = len(received)
    if count and (missing := sorted({'header.stamp', *POSITION} - columns.keys())):
        raise BagError(f'{topic}: its {POSE_TYPE} lacks {", ".join(missing)}')
    places = np.stack([columns[path] for path in POSITION], axis=1) if count else np.zeros((0, 3))
    sizes = repeated(len(AXES), count)
    return received, {
        'header.stamp': columns.get('header.stamp', received),
        'name': repeated(np.array(AXES), count),
        'name.count': sizes,
        'position': places,
        'position.count': sizes,
    }


def usable_action(
    value: tuple[tuple[str, ...], Sequence[float]],
) -> tuple[tuple[str, ...], list[float]] | None:
    """Returns names and as many positions (rad or m), all finite."""
    names, positions = value
    if not names or len(positions) != len(names):
        return None
    action = list(map(float, positions))
    return (names, action) if sum(map(abs, action)) < LARGEST else None


Reader = Callable[..., tuple[NDArray, dict[str, NDArray]]]
COMMANDED = {'names': 'name', 'positions': 'position'}


def _read_as(message_type: str, read: Reader) -> MessageForm:
    """Returns the form of commands that are read into that of a JointState."""
    return MessageForm(message_type, COMMANDED, from_columns=action_samples, read=read)


ACTION = RecordedStream(
    'action',
    ('joint_commands',),
    (
        MessageForm(JOINT_TYPE, COMMANDED, action_values, action_samples),
        _read_as(TRAJECTORY_TYPE, read_trajectories),
        _read_as(CONTROLLER_TYPE, read_set_points),
        _read_as(NAMELESS_TYPE, read_nameless),
        MessageForm(POSE_TYPE, COMMANDED, position_values, action_samples, read=_read_positions),
    ),
    usable_action,
)
STATES = {'names': 'name', 'positions': 'position', 'velocities': 'velocity', 'efforts': 'effort'}
JOINT_STATES = RecordedStream(
    'joint_states',
    ('joint_states',),
    (
        MessageForm(JOINT_TYPE, STATES),
        MessageForm(CONTROLLER_TYPE, STATES, read=read_measured),
    ),
    is_steady=True,
)
# The types of commands to joints, the first to be taken first, and of measured joints.
COMMAND_TYPES = tuple(f.message_type for f in ACTION.forms if f.message_type != POSE_TYPE)
STATE_TYPES = tuple(form.message_type for form in JOINT_STATES.forms)
