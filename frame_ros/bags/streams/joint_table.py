# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A stream of joint messages as one table with a column per joint, from any publishers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.streams.form import Stream
from frame_ros.bags.streams.joints import name_lists
from frame_ros.robots.joint_state_merge import MAX_JOINT_AGE, JointMerger

# Counters of JointMerger for messages that gave no row, in words.
REASONS = {
    'stamp_zero': 'no stamp',
    'stamp_duplicate': 'of the same stamp as the one before',
    'stamp_jump': 'stamped far ahead of the one before',
    'wrong_length': 'names and positions of different number',
    'non_finite': 'a position that is not finite',
    'incomplete': 'before every joint was known',
    'stale': f'with a joint silent for more than {MAX_JOINT_AGE:g} s',
}
# Share of the most frequent part's messages that merged ones are at least.
MOST_KEPT = 0.9


@dataclass(frozen=True)
class JointTable:
    """Rows of a joint stream."""

    names: tuple[str, ...]  # D joints
    stamps: NDArray[np.int64]  # (T,) ns, increasing
    positions: NDArray[np.float64]  # (T, D), rad or m
    left_out: dict[str, int] = field(default_factory=dict)  # reason -> messages that gave no row
    # (T,) places in the stream of the messages that completed the rows.
    places: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))

    def __len__(self) -> int:
        return len(self.stamps)


def command_table(stream: Stream, continuous: Collection[str] = ()) -> JointTable:
    """Returns the rows of a stream of joint commands (JointState). A command holds until the next
    one: where senders of some joints take turns, such as arm and gripper, each message with the
    most joints gives a row with the newest command of the others. continuous: joints that turn
    without end.
    """
    return _merged(stream, math.inf, True, continuous)


def state_table(stream: Stream, continuous: Collection[str] = ()) -> JointTable:
    """Returns the rows of a stream of joint states, merged as in the policy node. continuous: as of
    `command_table`.
    """
    return _merged(stream, MAX_JOINT_AGE, False, continuous)


def is_in_parts(stream: Stream) -> bool:
    """Returns whether the messages of a stream of joints have different joints."""
    return len({frozenset(names) for names in name_lists(stream.values)}) > 1


def merged_states(stream: Stream, continuous: Collection[str] = ()) -> Stream:
    """Returns measured joints that came in parts as a stream of all joints in each message, at the
    rows of `state_table`; the stream itself where that loses rows of the most frequent part, as
    where another one comes too seldom.
    """
    table = state_table(stream, continuous)
    most = Counter(map(frozenset, name_lists(stream.values))).most_common(1)
    if not len(table) or len(table) < MOST_KEPT * most[0][1]:
        return stream
    sizes = np.full(len(table), len(table.names))
    return Stream(
        stream.topic,
        stream.message_type,
        table.stamps,
        stream.received[table.places],
        {
            'names': np.tile(np.array(table.names), (len(table), 1)),
            'names_count': sizes,
            'positions': table.positions,
            'positions_count': sizes,
        },
    )


def _merged(
    stream: Stream, max_age: float, is_held: bool, continuous: Collection[str]
) -> JointTable:
    """Returns the states of the messages in the order of their stamps."""
    messages = list(named_positions(stream))
    names = _joint_names(messages)
    if not names:
        return JointTable((), np.zeros(0, np.int64), np.zeros((0, 0)))
    merger = JointMerger(names, max_age, is_held, continuous)
    stamps, rows, places = [], [], []
    for i in np.argsort(stream.stamps, kind='stable').tolist():
        state = merger.update(int(stream.stamps[i]), *messages[i])
        if state is not None:
            stamps.append(merger.stamp)
            rows.append(state.positions)
            places.append(i)
    left_out = {why: merger.counts[count] for count, why in REASONS.items()}
    return JointTable(
        names,
        np.array(stamps, np.int64),
        np.array(rows).reshape(-1, len(names)),
        {why: count for why, count in left_out.items() if count},
        np.array(places, np.intp),
    )


def _joint_names(
    messages: Sequence[tuple[tuple[str, ...], NDArray[np.float64]]],
) -> tuple[str, ...]:
    """Returns every joint with a position, those of the message with the most joints first."""
    lists = list(dict.fromkeys(names for names, values in messages if len(names) == len(values)))
    return tuple(
        dict.fromkeys([*max(lists, key=len, default=()), *(n for ns in lists for n in ns)])
    )


def named_positions(stream: Stream) -> Iterator[tuple[tuple[str, ...], NDArray[np.float64]]]:
    """Yields names and positions (rad or m) of each message, each of its own length."""
    positions = np.asarray(stream.values['positions'], np.float64)
    counts = stream.values['positions_count'].tolist()
    for row, names in enumerate(name_lists(stream.values)):
        yield names, positions[row, : counts[row]]
