# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Detection rate against the number of episodes, by subsampling what was recorded. PhAIL, section
5.2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError
from frame_ros.evaluation.planning.pooled_tests import trial_p_values
from frame_ros.evaluation.survival.cell import Cell
from frame_ros.evaluation.survival.kaplan_meier import kaplan_meier
from frame_ros.evaluation.survival.pool import WORKERS, pool_of
from frame_ros.evaluation.survival.samples import SEED, TAU, as_cell, objects_of
from frame_ros.metrics import wilson_interval
from frame_ros.metrics.arrays import checked_count

Array = NDArray[np.float64]
# Of PhAIL, section 5.2.
TRIALS, RESAMPLES = 300, 200
ALPHA, TARGET = 0.05, 0.8
# Numbers of episodes, as multiples of the present one.
MULTIPLES = (0.25, 0.5, 1.0, 1.5, 2.0)
# Shares of the operations of both policies after whose times success is compared.
SHARES = (0.5, 0.75)


class SmallestNumber(NamedTuple):
    """The smallest number of episodes that reaches a detection rate; None: none of those tried.

    Attributes:
        episodes: per object and policy, between those tried by linear interpolation.
        low, high: the same of the upper and lower ends of the 95 % intervals of the rates: what the
            finite number of trials leaves open, not what the finite data does.
    """

    episodes: int | None
    low: int | None
    high: int | None


@dataclass(frozen=True)
class DetectionCurve:
    """Detection rates of one test of two policies.

    Attributes:
        test: its name.
        episodes: (N,) per object and policy, ascending.
        rates: (N,) share of the trials in which p is at most alpha.
        trials: subsamples of each number.
    """

    test: str
    episodes: tuple[int, ...]
    rates: Array
    trials: int

    @property
    def intervals(self) -> Array:
        """(N, 2) Wilson intervals, 95 %, of the rates."""
        counts = np.rint(self.rates * self.trials)
        return np.array([wilson_interval(count, self.trials) for count in counts])

    def smallest(self, target: float = TARGET) -> SmallestNumber:
        """Returns the smallest number of episodes whose rate reaches the target, once the rates
        have been made to rise (least squares).
        """
        low, high = self.intervals.T
        return SmallestNumber(*(self._first(rates, target) for rates in (self.rates, high, low)))

    def _first(self, rates: Array, target: float) -> int | None:
        rising = isotonic(rates)
        place = int(np.searchsorted(rising, target))
        if place == len(rising):
            return None
        if not place:
            return self.episodes[0]
        before, after = self.episodes[place - 1 : place + 1]
        part = (target - rising[place - 1]) / (rising[place] - rising[place - 1])
        return math.ceil(before + part * (after - before) - 1e-9)


def isotonic(values: Any) -> Array:
    """Returns the nearest values, by least squares, that do not fall: neighbours that do are
    replaced by their mean until none is left. Ayer et al. 1955.
    """
    means: list[float] = []
    sizes: list[int] = []
    for value in np.asarray(values, dtype=np.float64).tolist():
        means.append(value)
        sizes.append(1)
        while len(means) > 1 and means[-2] > means[-1]:
            size = sizes.pop()
            last = means.pop()
            means[-1] = (means[-1] * sizes[-1] + last * size) / (sizes[-1] + size)
            sizes[-1] += size
    return np.repeat(means, sizes)


def detection_curves(
    a: Mapping[str, Any],
    b: Mapping[str, Any],
    episodes: Sequence[int] = (),
    tau: float = TAU,
    thresholds: Sequence[float] = (),
    alpha: float = ALPHA,
    trials: int = TRIALS,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    workers: int = WORKERS,
) -> dict[str, DetectionCurve]:
    """Detection rates of macro-KS, RMST and success at thresholds. PhAIL, section 5.2.

    A trial draws n episodes of each object and policy, with replacement, and tests them as
    `trial_p_values` does, by permutations, as `frame-ros compare` decides: resamples with
    replacement, which the paper takes, find more than that. What was recorded is taken as the
    truth, its noise included: rates are too high, the more so the smaller the difference is; those
    for more episodes than were recorded are an extrapolation.

    Args:
        a, b: object -> Cell, or (times, events) with each operation as an episode of its own.
        episodes: (N,) per object and policy; none: `usual_numbers`.
        tau: s, of KS and RMST.
        thresholds: s; none: `usual_thresholds`.
        trials, resamples: of each number of episodes, and of each trial.

    Returns:
        Name of the test -> its curve.

    Raises:
        ShapeError: the policies share no object.
        ValueRangeError: as `arm_statistics`, or numbers that are not whole and positive.
    """
    pairs = shared_cells(a, b)
    chosen = episodes or usual_numbers(pairs)
    numbers = sorted({checked_count(each, 'episodes', 1) for each in chosen})
    times = tuple(thresholds) or usual_thresholds(pairs, tau)
    pools = {name: pool_of(*pair) for name, pair in pairs.items()}
    trials = checked_count(trials, 'trials', 1)
    resamples = checked_count(resamples, 'resamples', 1)
    random = np.random.default_rng(seed)
    rates: dict[str, list[float]] = {}
    for number in numbers:
        first = {
            name: random.integers(pool.counts[0], size=(trials, number), dtype=np.int32)
            for name, pool in pools.items()
        }
        second = {
            name: pool.counts[0]
            + random.integers(pool.counts[1], size=(trials, number), dtype=np.int32)
            for name, pool in pools.items()
        }
        found = trial_p_values(pools, first, second, tau, times, resamples, random, workers, False)
        for test, p in found.items():
            rates.setdefault(test, []).append(float((p <= alpha).mean()))
    return {
        test: DetectionCurve(test, tuple(numbers), np.array(each), trials)
        for test, each in rates.items()
    }


def shared_cells(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, tuple[Cell, Cell]]:
    """Returns the checked cells of each object that both policies have.

    Raises:
        ShapeError: there is none.
        ValueRangeError: as `as_cell`.
    """
    shared = objects_of(a, b).shared
    if not shared:
        raise ShapeError('the policies share no object; at least one is expected')
    return {name: (as_cell(a[name], name), as_cell(b[name], name)) for name in shared}


def episodes_of(cell: Cell) -> int:
    """Returns the number of episodes of a checked cell."""
    return int(cell.episodes[-1]) + 1


def usual_numbers(pairs: Mapping[str, tuple[Cell, Cell]]) -> tuple[int, ...]:
    """Returns a quarter, a half, all, one and a half times and twice the fewest episodes of a cell
    that there are; at least 2.
    """
    fewest = min(episodes_of(cell) for pair in pairs.values() for cell in pair)
    return tuple(sorted({max(2, round(fewest * multiple)) for multiple in MULTIPLES}))


def usual_thresholds(pairs: Mapping[str, tuple[Cell, Cell]], tau: float = TAU) -> tuple[float, ...]:
    """Returns the times, up to tau, by which a half and three quarters of all operations of both
    policies were done that were done by tau, to three digits.
    """
    cells = [cell for pair in pairs.values() for cell in pair]
    curve = kaplan_meier(
        np.concatenate([cell.times for cell in cells]),
        np.concatenate([cell.events for cell in cells]),
    )
    most = curve.cdf(tau)
    if not most > 0.0:
        return (tau,)
    times = [float(f'{curve.quantile(share * most):.3g}') for share in SHARES]
    return tuple(sorted({min(time, tau) for time in times if time > 0.0})) or (tau,)
