# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Stretches in which the gripper's target is closed, between its edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Share of an edge up to which the target has not begun to rise.
RISEN = 0.25


@dataclass(frozen=True)
class ClosedPhase:
    """A stretch of samples with a closed target.

    Attributes:
        begin: sample at which the target had fallen by an edge.
        end: last sample before it rises again; of the last phase the last sample.
        is_released: whether it rises by an edge after the end.
    """

    begin: int
    end: int
    is_released: bool


def closed_phases(target: NDArray[np.float64], edge: float, plateau: int) -> list[ClosedPhase]:
    """Returns the closed stretches of a target (T,), NaN where it is not known, in time.

    A fall by `edge` from the highest value since it was open begins one, and a rise by `edge` from
    its lowest value ends it, so that the levels of open and closed may be any, and may vary. A
    stretch on either side of less than `plateau` samples does not count, and joins its neighbours.
    """
    turns = _turns(target, edge)
    while True:
        bounds = [0, *turns, len(target)]
        lengths = np.diff(bounds)
        # The first and the last stretch may be cut off by the recording.
        short = [i for i in range(1, len(lengths) - 1) if lengths[i] < plateau]
        if not short:
            break
        place = min(short, key=lambda i: int(lengths[i]))
        del turns[place - 1 : place + 1]
    is_closed_first = _is_closed_first(target, edge)
    phases = []
    for i, (begin, end) in enumerate(zip([0, *turns], [*turns, len(target)])):
        if (i % 2 == 0) == is_closed_first:
            is_last = end == len(target)
            last = len(target) - 1 if is_last else _before_rise(target, begin, end, edge)
            phases.append(ClosedPhase(begin, last, not is_last))
    return [phase for phase in phases if phase.end > phase.begin]


def _turns(target: NDArray[np.float64], edge: float) -> list[int]:
    """Returns the samples at which the target has turned by an edge, up and down in turn."""
    turns: list[int] = []
    is_closed = _is_closed_first(target, edge)
    extreme = np.nan
    for place, value in enumerate(target.tolist()):
        if value != value:
            continue
        if extreme != extreme:
            extreme = value
        moved = value - extreme if is_closed else extreme - value
        if moved >= edge:
            turns.append(place)
            is_closed = not is_closed
            extreme = value
        elif moved < 0:
            extreme = value
    return turns


def _is_closed_first(target: NDArray[np.float64], edge: float) -> bool:
    """Returns whether the target is closed before its first edge, which then is a rise."""
    low = high = np.nan
    for value in target.tolist():
        if value != value:
            continue
        low, high = np.fmin(low, value), np.fmax(high, value)
        if high - low >= edge:
            return bool(value == high)
    return False


def _before_rise(target: NDArray[np.float64], begin: int, end: int, edge: float) -> int:
    """Returns the last sample before the rise that ends at `end`."""
    part = target[begin:end]
    low = np.nanmin(part) if len(part) and not np.isnan(part).all() else np.nan
    is_low = np.flatnonzero(part <= low + RISEN * edge)
    return begin + int(is_low[-1]) if len(is_low) else begin
