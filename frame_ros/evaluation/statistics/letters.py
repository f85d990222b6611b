# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Compact letters of several policies: two share a letter if and only if they do not differ."""

from __future__ import annotations

from itertools import combinations
from string import ascii_lowercase
from typing import Any

import numpy as np

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import as_numbers, on_cpu

# Columns of letters that are held at once; a table with more is not compact.
MOST_COLUMNS = 4096


def compact_letters(differ: Any) -> list[str]:
    """Letters of policies that are compared pair by pair.

    Insert and absorb with sweeping (Piepho 2004): begun with one letter for all; of each letter
    that two differing policies share there are two copies from then on, each without one of them;
    letters within another are absorbed; at last every letter of a policy is swept that it does not
    need. No letter that is left can be taken from its policy, and none is shared by two policies
    that differ.

    Args:
        differ: (k, k) bool, symmetric: whether two policies differ significantly; the diagonal is
            not read. Policies by rank, the best first: it gets 'a'.

    Returns:
        Of each policy its letters, in order, at least one; after 'z' follow 'a1', 'b1', ...

    Raises:
        ShapeError: another shape.
        ValueRangeError: not symmetric, a value is neither True nor False (1 nor 0), or more than
            4,096 letters.
    """
    table = np.asarray(on_cpu(as_numbers(differ, 'differ')[1]))
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise ShapeError(f'differ has shape {table.shape}; (k, k) is expected')
    rest = table[~np.eye(len(table), dtype=np.bool_)]
    if len(wrong := rest[(rest != 0) & (rest != 1)]):
        raise ValueRangeError(
            f'differ holds {wrong[0]:g}; True or False is expected, of p-values p < 0.05'
        )
    table = table == 1
    np.fill_diagonal(table, False)
    if (table != table.T).any():
        raise ValueRangeError('differ is not symmetric: a pair differs in one order only')
    count = len(table)
    columns = [(1 << count) - 1] if count else []
    for i, j in combinations(range(count), 2):
        if table[i, j]:
            columns = _inserted(columns, 1 << i, 1 << j)
    members = [[i for i in range(count) if column >> i & 1] for column in columns]
    swept = sorted(_swept(sorted(members), count))
    return [''.join(_letter(n) for n, own in enumerate(swept) if i in own) for i in range(count)]


def _inserted(columns: list[int], first: int, second: int) -> list[int]:
    """Splits the columns (sets of policies, as bits) that hold both, and absorbs those within
    others. Only the new ones can be within another.
    """
    both = first | second
    kept = [column for column in columns if column & both != both]
    copies = {c & ~bit for c in columns if c & both == both for bit in (first, second)}
    if len(kept) + len(copies) > MOST_COLUMNS:
        raise ValueRangeError(f'the policies need more than {MOST_COLUMNS} letters')
    for copy in sorted(copies, key=int.bit_count, reverse=True):
        if not any(copy & ~column == 0 for column in kept):
            kept.append(copy)
    return kept


def _swept(columns: list[list[int]], count: int) -> list[list[int]]:
    """Takes every letter from its policy that it does not need: those with whom it shares the
    letter share another, and it has another.
    """
    shared = np.zeros((count, count), np.intp)
    for own in columns:
        shared[np.ix_(own, own)] += 1
    for own in sorted(columns, key=len):
        for policy in reversed(own.copy()):
            if (shared[policy, own] > 1).all():  # with itself: its letters
                shared[policy, own] -= 1
                shared[own, policy] -= 1
                shared[policy, policy] += 1
                own.remove(policy)
    return [own for own in columns if own]


def _letter(number: int) -> str:
    turn, place = divmod(number, len(ascii_lowercase))
    return ascii_lowercase[place] + (str(turn) if turn else '')
