# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A stream of joint messages as one table: a column per joint, whoever said it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from frame_ros.episodes.data import Stream


@dataclass(frozen=True)
class JointTable:
    """names: D joints. stamps: (T,) ns, increasing. positions: (T, D), rad or m. left_out: why
    messages gave no row -> how many did not.
    """

    names: tuple[str, ...]
    stamps: NDArray[np.int64]
    positions: NDArray[np.float64]
    left_out: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.stamps)


def joint_table(stream: Stream) -> JointTable:
    """Returns the rows of a stream of JointState ('action' or 'joint_states').

    Where senders of some joints take turns, such as arm and gripper, each message with the most
    joints is a row, and of the other joints holds what was said last. Messages without a stamp,
    with a value that is not finite, or with more or fewer positions than names are left out; of
    equal stamps the last message stays; messages before every joint was heard of give no row.
    """
    left_out: Counter[str] = Counter()
    keys, order = _name_lists(stream), np.argsort(stream.stamps, kind='stable')
    positions = np.asarray(stream.values['positions'], np.float64)
    counts = stream.values['positions_count']
    is_usable = _usable(stream, left_out)
    main = max((keys[i] for i in order if is_usable[i]), key=len, default=())
    names = tuple(dict.fromkeys([*main, *(n for i in order if is_usable[i] for n in keys[i])]))
    if not names:
        return JointTable((), np.zeros(0, np.int64), np.zeros((0, 0)), dict(left_out))
    column = {name: i for i, name in enumerate(names)}
    places = {key: [column[name] for name in key] for key in set(keys)}
    rows, stamps, state = [], [], np.full(len(names), np.nan)
    for i in order[is_usable[order]]:
        state[places[keys[i]]] = positions[i, : counts[i]]
        if len(keys[i]) == len(main):
            rows.append(state.copy())
            stamps.append(int(stream.stamps[i]))
    return _complete(names, np.array(stamps, np.int64), np.array(rows), left_out)


def named_positions(stream: Stream) -> Iterator[tuple[tuple[str, ...], NDArray[np.float64]]]:
    """Yields names and positions (rad or m) of each message, each of its own length."""
    positions = np.asarray(stream.values['positions'], np.float64)
    counts = stream.values['positions_count'].tolist()
    for row, names in enumerate(_name_lists(stream)):
        yield names, positions[row, : counts[row]]


def _name_lists(stream: Stream) -> list[tuple[str, ...]]:
    counts = stream.values['names_count'].tolist()
    cache: dict[tuple[int, bytes], tuple[str, ...]] = {}
    found = []
    for row, count in zip(stream.values['names'], counts):
        key = (count, row.tobytes())
        if key not in cache:
            cache[key] = tuple(str(name) for name in row[:count])
        found.append(cache[key])
    return found


def _usable(stream: Stream, left_out: Counter[str]) -> NDArray[np.bool_]:
    """(T,) whether a message can be used; the others are counted."""
    counts, names = stream.values['positions_count'], stream.values['names_count']
    positions = np.asarray(stream.values['positions'], np.float64)
    is_there = np.arange(positions.shape[1]) < counts[:, None]
    is_finite = np.isfinite(positions) | ~is_there
    is_usable = np.ones(len(stream), bool)
    for why, is_good in (
        ('no stamp', stream.stamps > 0),
        ('names and positions of different number', (counts == names) & (counts > 0)),
        ('a position that is not finite', is_finite.all(axis=1)),
    ):
        left_out[why] += int((is_usable & ~is_good).sum())
        is_usable &= is_good
    return is_usable


def _complete(
    names: tuple[str, ...],
    stamps: NDArray[np.int64],
    rows: NDArray[np.float64],
    left_out: Counter[str],
) -> JointTable:
    """The rows in which every joint is known, the last of each stamp."""
    is_known = np.isfinite(rows).all(axis=1)
    left_out['before every joint was heard of'] += int((~is_known).sum())
    stamps, rows = stamps[is_known], rows[is_known]
    is_last = np.append(np.diff(stamps) > 0, True)[: len(stamps)]
    left_out['of the same stamp as the next'] += int((~is_last).sum())
    counted = {why: count for why, count in left_out.items() if count}
    return JointTable(names, stamps[is_last], rows[is_last], counted)
