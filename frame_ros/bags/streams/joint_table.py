# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A stream of joint messages as one table with a column per joint, from any publishers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.streams.form import Stream
from frame_ros.bags.streams.joints import name_lists
from frame_ros.core.plain_text import counted
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
ODD = 'with a joint that other messages lack'
# Messages with names of their own are odd up to this share of those of the most frequent ones, of
# which there are so many at least; one alone is always.
MOST_ODD, LEAST_USUAL = 0.01, 10
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


def left_out_text(stream: Stream, table: JointTable) -> str:
    """'/joint_commands: of 30 messages 1 left out: 1 × a position that is not finite'; '' if all
    were used.
    """
    if not table.left_out:
        return ''
    why = ', '.join(f'{count:,} × {reason}' for reason, count in table.left_out.items())
    of = counted(len(stream), 'message')
    return f'{stream.topic}: of {of} {sum(table.left_out.values()):,} left out: {why}'


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
    order = np.argsort(stream.stamps, kind='stable').tolist()
    lists = Counter(messages[i][0] for i in order if len(messages[i][0]) == len(messages[i][1]))
    joints = Counter[frozenset[str]]()  # in whatever order the messages name them
    for each, count in lists.items():
        if each:
            joints[frozenset(each)] += count
    odd_joints = _odd_joints(joints, is_held)
    odd = {each for each in lists if frozenset(each) in odd_joints}
    names = _joint_names([each for each in lists if each not in odd])
    if not names:
        return JointTable((), np.zeros(0, np.int64), np.zeros((0, 0)))
    merger = JointMerger(names, max_age, is_held, continuous)
    stamps, rows, places = [], [], []
    for i in order:
        if messages[i][0] in odd:
            continue
        state = merger.update(int(stream.stamps[i]), *messages[i])
        if state is not None:
            stamps.append(merger.stamp)
            rows.append(state.positions)
            places.append(i)
    left_out = {why: merger.counts[count] for count, why in REASONS.items()}
    left_out[ODD] = sum(lists[each] for each in odd)
    return JointTable(
        names,
        np.array(stamps, np.int64),
        np.array(rows).reshape(-1, len(names)),
        {why: count for why, count in left_out.items() if count},
        np.array(places, np.intp),
    )


def _odd_joints(joints: Mapping[frozenset[str], int], is_held: bool) -> set[frozenset[str]]:
    """Returns the joints of messages that are odd: some of a few messages that have a joint which
    all usual ones lack, among joints of these. Waiting for that joint would cost all other rows.

    joints: of messages -> number of these, in the order of their first ones.
    """
    places, odd = {names: place for place, names in enumerate(joints)}, set()
    for names, count in joints.items():
        usual = max((other for other in joints if names & other), key=lambda o: joints[o])
        seldom = max(1, MOST_ODD * joints[usual])
        if joints[usual] < LEAST_USUAL or count > seldom:
            continue
        known = {joint for other, n in joints.items() if n > seldom for joint in other}
        # A command of all joints at the begin holds for those that are not commanded again.
        is_begin = is_held and names > usual and places[names] < places[usual]
        if not known >= names and not is_begin:
            odd.add(names)
    return odd


def _joint_names(lists: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Returns every joint with a position, those of the message with the most joints first."""
    return tuple(
        dict.fromkeys([*max(lists, key=len, default=()), *(n for ns in lists for n in ns)])
    )


def named_positions(stream: Stream) -> Iterator[tuple[tuple[str, ...], NDArray[np.float64]]]:
    """Yields names and positions (rad or m) of each message, each of its own length."""
    positions = np.asarray(stream.values['positions'], np.float64)
    counts = stream.values['positions_count'].tolist()
    for row, names in enumerate(name_lists(stream.values)):
        yield names, positions[row, : counts[row]]
