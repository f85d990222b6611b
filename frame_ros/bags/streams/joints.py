# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joint states, joint commands, and the joint of the gripper."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.streams.contacts import GRASP_CONTACT
from frame_ros.bags.streams.form import MessageForm, RecordedStream, Values
from frame_ros.bags.streams.poses import LARGEST

JOINT_TYPE = 'sensor_msgs/msg/JointState'
NAN = float('nan')


def action_values(message: Any) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Returns the names (D) and positions (D,) (rad or m) of a JointState. Names and positions of
    different length are returned as they are.
    """
    return tuple(message.name), np.array(message.position, dtype=np.float64)


def action_samples(values: Values, _: str = '') -> list[tuple[tuple[str, ...], list[float]]]:
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


def usable_action(
    value: tuple[tuple[str, ...], Sequence[float]],
) -> tuple[tuple[str, ...], list[float]] | None:
    """Returns names and as many positions (rad or m), all finite."""
    names, positions = value
    if not names or len(positions) != len(names):
        return None
    action = list(map(float, positions))
    return (names, action) if sum(map(abs, action)) < LARGEST else None


def gripper_values(message: Any, joint: str) -> tuple[float, float] | None:
    """Returns position (rad or m) and effort (N m or N) of one joint of a JointState. NaN: not
    measured; None if the message does not have that joint.
    """
    names = message.name
    if joint not in names:
        return None
    at, positions, efforts = list(names).index(joint), message.position, message.effort
    return (
        float(positions[at]) if at < len(positions) else NAN,
        float(efforts[at]) if at < len(efforts) else NAN,
    )


def gripper_samples(values: Mapping[str, NDArray], joint: str) -> list[tuple[float, float] | None]:
    """Returns the samples of `gripper_values` from columns."""
    names = values['names']
    if names.ndim < 2 or not names.shape[1]:
        return [None] * len(names)
    count = len(names)
    is_joint = (names == joint) & (np.arange(names.shape[1]) < values['names_count'][:, None])
    at, has_joint = is_joint.argmax(axis=1), is_joint.any(axis=1)
    columns = []
    for name in ('positions', 'efforts'):
        found, counts = values[name], values.get(f'{name}_count', np.zeros(count))
        if found.ndim < 2 or not found.shape[1]:
            columns.append([float('nan')] * count)
            continue
        taken = found[np.arange(count), np.minimum(at, found.shape[1] - 1)]
        columns.append(np.where(at < counts, taken, np.nan).tolist())
    return [pair if is_there else None for pair, is_there in zip(zip(*columns), has_joint)]


def usable_grip(source: str) -> Callable[[tuple[float, float] | None], Any]:
    """Returns a check that the value used by the source of the grasp is finite."""
    at = 1 if source == 'effort' else 0

    def check(value: tuple[float, float] | None) -> tuple[float, float] | None:
        return value if value is not None and abs(value[at]) < LARGEST else None

    return check


ACTION = RecordedStream(
    'action',
    ('joint_commands',),
    (
        MessageForm(
            JOINT_TYPE, {'names': 'name', 'positions': 'position'}, action_values, action_samples
        ),
    ),
    usable_action,
)
STATES = {'names': 'name', 'positions': 'position', 'velocities': 'velocity', 'efforts': 'effort'}
JOINT_STATES = RecordedStream(
    'joint_states', ('joint_states',), (MessageForm(JOINT_TYPE, STATES),), is_steady=True
)
GRIPPER = RecordedStream(
    'gripper',
    ('joint_states',),
    (MessageForm(JOINT_TYPE, STATES, gripper_values, gripper_samples), GRASP_CONTACT),
    is_steady=True,
)
