# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Times until which operations were followed: what would have been done later is not known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.evaluation.policy_comparison.facts import TIME_LIMIT, Difference
from frame_ros.evaluation.survival.cell import Cell
from frame_ros.evaluation.survival.kaplan_meier import curve_of

# Times until which operations were followed are alike, or the horizon, up to this ratio.
LIKE = 1.05
# Operations cut off alike, less those that were followed for longer, from which on that is a limit.
FEWEST = 3
# `Limit.share` from which on what was done after the limit is of a few operations only.
NEARLY_ALL = 0.8


class Limit(NamedTuple):
    """A time at which operations were cut off.

    Attributes:
        end: s; infinite without a limit.
        cut_off: operations that were, of the cells that have such, less those that were followed
            for longer: each of these shows what one of the former would have become.
        share: `cut_off` over all that were cut off.
    """

    end: float = math.inf
    cut_off: int = 0
    share: float = 0.0


def limits_of(cells: Sequence[Cell], tau: float) -> list[Limit]:
    """Returns the time limit of each cell of a policy: the end of the stretch, as long as times are
    alike, in which the most were censored, less those that were followed for longer. The cells that
    have such count together, or a cell alone where that gives more.

    Args:
        cells: of one policy on several objects.
        tau: s, horizon: later limits are none.
    """
    ends = np.unique(np.concatenate([cell.times[~cell.events] for cell in cells]))
    ends = ends[LIKE * ends < tau]
    counts = np.array([_counts(cell, ends) for cell in cells])
    counts *= counts[:, :1] > 0
    together = counts.sum(axis=0)
    found = []
    for own in counts:
        limit = Limit()
        for hidden, longer in (together, own):
            cut_off = np.where(own[0] > 0, hidden - longer, 0)
            place = int(cut_off.argmax()) if len(ends) else 0
            if cut_off.max(initial=0) >= max(FEWEST, limit.cut_off + 1):
                most = int(cut_off[place])
                limit = Limit(float(ends[place]), most, most / int(hidden[place]))
        found.append(limit)
    return found


def _counts(cell: Cell, ends: NDArray[np.float64]) -> NDArray[np.intp]:
    """Returns (2, E) how many operations were cut off at each of some times, and how many were
    followed for longer.
    """
    censored = np.sort(cell.times[~cell.events])
    known = np.sort(cell.times[np.isfinite(cell.times)])
    until = censored.searchsorted(ends, 'right')
    longer = len(known) - known.searchsorted(ends, 'right')
    return np.array([until - censored.searchsorted(ends / LIKE, 'left'), longer])


def ends_of(cells: Sequence[Cell], tau: float) -> list[float]:
    """Returns the time in s until which the operations of each cell of a policy were followed, but
    for a few, if it is less than the horizon. It is the limit of nearly all, or the last time if
    that is of an operation that was censored; else infinite: what others would have become is known
    from those that were followed for longer.
    """
    return [
        limit.end if limit.share >= NEARLY_ALL else _open_end(cell, tau)
        for cell, limit in zip(cells, limits_of(cells, tau))
    ]


def _open_end(cell: Cell, tau: float) -> float:
    last = last_of(cell, tau)
    is_open = cell.times[~cell.events].max(initial=-1.0) >= last and LIKE * last < tau
    return last if is_open else math.inf


def last_of(cell: Cell, tau: float) -> float:
    """Returns the last time in s at which an operation was done or censored, at most the horizon;
    0 without.
    """
    return min(float(cell.times[np.isfinite(cell.times)].max(initial=0.0)), tau)


def differing_limits(
    pairs: Mapping[str, tuple[Cell, Cell]], tau: float, margin: float
) -> Difference | None:
    """Returns the time limits of two policies where they make a difference by themselves: of one,
    operations were cut off at a time after which the other has done some.

    What was cut off of the one more than of the other at that time, or was done by the other later,
    whichever is less, is a share that the limits alone can make of equal policies; it counts from
    the margin on, as a mean over objects. Limits of either add up: the objects may differ.

    Args:
        pairs: object that they share -> cells of both policies.
        tau: s, horizon of the comparison.
        margin: smallest difference of shares that matters.

    Returns:
        None where they make none, or one of less than the margin.
    """
    if not pairs:
        return None
    cells = tuple(zip(*pairs.values()))
    limits = [limits_of(each, tau) for each in cells]
    shares = np.array(
        [
            (_of_limit(a, limit_a, b, tau), _of_limit(b, limit_b, a, tau))
            for a, b, limit_a, limit_b in zip(*cells, *limits)
        ]
    )
    if np.maximum(shares.mean(axis=0), 0.0).sum() < margin:
        return None
    ends = [
        [limit.end if limit.cut_off else last_of(cell, tau) for cell, limit in zip(*each)]
        for each in zip(cells, limits)
    ]
    place = int(shares.max(axis=1).argmax())
    is_one = all(max(each) <= LIKE * min(each) for each in ends)
    where = '' if is_one else f' on {list(pairs)[place]}'
    first, second = (f'{each[place]:.3g} s{where}' for each in ends)
    return Difference(TIME_LIMIT, (first,), (second,), False)


def _of_limit(cell: Cell, limit: Limit, other: Cell, tau: float) -> float:
    """Returns the share of operations that the limit of a cell hides, and of the other was done
    after it; below 0 where the other was cut off there more.
    """
    if not limit.cut_off:
        return 0.0
    end = limit.end
    more = limit.share * _cut_off(cell, end, end) - _cut_off(other, end, LIKE * end)
    later = curve_of(other)
    left = float(curve_of(cell).survival_at(end / LIKE, is_before=True))
    return min(left * more, float(later.cdf(tau) - later.cdf(LIKE * end)))


def _cut_off(cell: Cell, end: float, until: float) -> float:
    """Returns the share of operations cut off at about a time, of those that were not done then."""
    is_left = cell.times >= end / LIKE
    is_cut = ~cell.events & is_left & (cell.times <= until)
    return float(is_cut.sum() / max(is_left.sum(), 1))
