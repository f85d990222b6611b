# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Times until which operations were followed: what would have been done later is not known."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from frame_ros.evaluation.policy_comparison.facts import TIME_LIMIT, Difference
from frame_ros.evaluation.survival.cell import Cell
from frame_ros.evaluation.survival.kaplan_meier import curve_of

# Times until which operations were followed are alike, or the horizon, up to this ratio.
LIKE = 1.05
# Operations censored at the last time, from which on that is a time limit.
FEWEST = 2


def open_end(cell: Cell, tau: float) -> float:
    """Returns the last time in s, if it is one of an operation that was censored, and less than the
    horizon: the CDF stays flat from there on. Infinite where one was done after the last that ended
    otherwise: what those would have become is known from the others.
    """
    if cell.events.all():
        return math.inf
    last = float(cell.times[np.isfinite(cell.times)].max())
    is_open = float(cell.times[~cell.events].max()) >= last and LIKE * last < tau
    return last if is_open else math.inf


def differing_limits(
    pairs: Iterable[tuple[Cell, Cell]], tau: float, margin: float
) -> Difference | None:
    """Returns the time limits of two policies where they make a difference by themselves: of one,
    operations were censored at a time after which the other has done some.

    What is not known of the one and was done by the other, whichever is less, is a share that the
    limits alone can make of equal policies; it counts from the margin on, as a mean over objects.

    Args:
        pairs: cells of both policies on the objects that they share.
        tau: s, horizon of the comparison.
        margin: smallest difference of shares that matters.

    Returns:
        None where they make none, or one of less than the margin.
    """
    shares: list[tuple[float, float]] = []
    ends: tuple[list[float], list[float]] = [], []
    for a, b in pairs:
        shares.append((_of_limit(a, b, tau), _of_limit(b, a, tau)))
        for side, cell in zip(ends, (a, b)):
            last = cell.times[np.isfinite(cell.times)].max(initial=0.0)
            side.append(min(float(last), tau))
    if not shares or np.mean(shares, axis=0).max() < margin:
        return None
    first, second = (f'{max(side):.3g} s' for side in ends)
    return Difference(TIME_LIMIT, (first,), (second,), False)


def _of_limit(cell: Cell, other: Cell, tau: float) -> float:
    """Returns the share of the operations that the limit of a cell hides, and of the other was done
    after it.
    """
    end = open_end(cell, tau)
    if math.isinf(end):
        return 0.0
    at_end = cell.times >= end / LIKE
    hidden = int((at_end & ~cell.events).sum())
    if hidden < FEWEST:
        return 0.0
    unknown = float(curve_of(cell).survival_at(end / LIKE, is_before=True)) * hidden / at_end.sum()
    later = curve_of(other)
    return min(unknown, float(later.cdf(tau) - later.cdf(LIKE * end)))
