# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Intervals of all scalars and bands of CDFs: percentile bootstrap over whole episodes.

Operations of an episode share its scene and policy state, so whole episodes are drawn: with
replacement, as many as there are. PhAIL, section 3.2. Each cell has a stream of random numbers of
its own, by the seed and its name; other cells of a study do not change it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.evaluation.survival.cell import Cell
from frame_ros.evaluation.survival.kaplan_meier import COMPLETED, mtbf_a_of, units_per_hour_of
from frame_ros.evaluation.survival.macro_ks import stream
from frame_ros.evaluation.survival.pool import (
    WORKERS,
    Draws,
    arm_statistics,
    curve_statistics,
    draw_episodes,
    pool_of,
)
from frame_ros.evaluation.survival.samples import (
    RESAMPLES,
    SEED,
    TAU,
    as_cell,
    objects_of,
)
from frame_ros.evaluation.survival.two_samples import ratio_of
from frame_ros.metrics.arrays import are_equal, checked_count

Array = NDArray[np.float64]
CONFIDENCE = 0.95
# An interval leaves out resamples without a value while they are few.
MOST_WITHOUT = 0.05


class Bootstrapped(NamedTuple):
    """A scalar with its percentile interval.

    Attributes:
        value: as observed; NaN if it is not defined.
        lower, upper: NaN with fewer than two episodes, without resamples, if more than 5 % of the
            resamples have no value, or if all have the same: as of ten successes in ten, of which
            resamples say nothing; infinite where that quantile is.
        resamples: (B,) values, of the same draws for all scalars of a cell.
    """

    value: float
    lower: float
    upper: float
    resamples: Array


class Band(NamedTuple):
    """A CDF with its pointwise percentile band, (G,) each; times in s. It has no width where all
    resamples agree, such as before the first success.
    """

    times: Array
    cdf: Array
    lower: Array
    upper: Array


def bootstrap_scalars(
    sample: Any,
    tau: float = TAU,
    success_times: Sequence[float] = (),
    resamples: int = RESAMPLES,
    seed: int = SEED,
    name: str = '',
    workers: int = WORKERS,
) -> dict[str, Bootstrapped]:
    """All scalars of one cell with their 95 % intervals. PhAIL, table 1.

    Args:
        sample: Cell, or (times, events) with each operation as an episode of its own.
        tau: s, finite.
        success_times: s, at which the success rate is asked for.
        resamples, seed: of the bootstrap; 0 resamples: no intervals.
        name: of the cell, for its stream of random numbers.
        workers: threads; they change no bit of the result.

    Returns:
        'rmst', 'completion', 'median', 'units_per_hour', 'units_per_hour_completed', 'mtbf_a' and
        'success_at_<t>' for each time.

    Raises:
        ShapeError, ValueRangeError: as `kaplan_meier`, or another argument is out of range.
    """
    cell = as_cell(sample)
    grid = np.unique(_times(success_times))
    pool = pool_of(cell)
    draws = episode_draws(cell, resamples, seed, name)
    found = curve_statistics(pool, draws, tau, grid, workers)
    rmst, completion, before, median = found[:, :4].T
    columns = {
        'rmst': rmst,
        'completion': completion,
        'median': median,
        'units_per_hour': units_per_hour_of(rmst, before, tau),
        'units_per_hour_completed': units_per_hour_of(rmst, before, tau, COMPLETED),
        'mtbf_a': mtbf_a_of(rmst, completion),
        **{f'success_at_{t:g}': column for t, column in zip(grid, found[:, 4:].T)},
    }
    return {id: bootstrapped(column, pool.count) for id, column in columns.items()}


def cdf_band(
    sample: Any,
    times: Any,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    name: str = '',
    workers: int = WORKERS,
) -> Band:
    """The CDF at some times with its pointwise 95 % band. PhAIL, section 3.2.

    Args:
        sample: Cell, or (times, events) with each operation as an episode of its own.
        times: (G,) s, not decreasing.
        resamples, seed, name, workers: as `bootstrap_scalars`, whose draws these are.

    Raises:
        ShapeError, ValueRangeError: as `kaplan_meier`, or another argument is out of range.
    """
    cell, grid = as_cell(sample), _times(times)
    draws = episode_draws(cell, resamples, seed, name)
    found = curve_statistics(pool_of(cell), draws, TAU, grid, workers)[:, 4:]
    if len(found) < 2 or int(cell.episodes[-1]) < 1:
        lower, upper = np.full((2, len(grid)), math.nan)
    else:
        lower, upper = np.quantile(found[1:], _ends(CONFIDENCE), axis=0)
    return Band(grid, found[0], lower, upper)


class BootstrappedThroughput(NamedTuple):
    """HRT with intervals.

    Attributes:
        per_object: object -> ratio, over those that both have.
        macro: their mean; NaN if they share no object.
        only_policy, only_human: objects of one of them, which are not compared.
    """

    per_object: dict[str, Bootstrapped]
    macro: Bootstrapped
    only_policy: tuple[str, ...]
    only_human: tuple[str, ...]


def bootstrap_throughput(
    policy: Mapping[str, Any],
    human: Mapping[str, Any],
    tau: float = TAU,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    names: tuple[str, str] = ('policy', 'human'),
    workers: int = WORKERS,
) -> BootstrappedThroughput:
    """HRT per object and its mean with 95 % intervals; episodes of policy and human are both drawn.
    PhAIL, section 3.2.

    Args:
        policy, human: object -> Cell or (times, events).
        names: of both, for the streams of random numbers.
        tau, resamples, seed, workers: as `bootstrap_scalars`.

    Raises:
        ShapeError, ValueRangeError: as `kaplan_meier`, or another argument is out of range.
    """
    objects = objects_of(policy, human)
    rows, counts = {}, {}
    for name in objects.shared:
        cells = as_cell(human[name], name), as_cell(policy[name], name)
        rmst = [
            curve_statistics(pool_of(cell), draws, tau, (), workers)[:, 0]
            for cell, draws in (
                (cell, episode_draws(cell, resamples, seed, f'{owner}\0{name}'))
                for cell, owner in zip(cells, reversed(names))
            )
        ]
        rows[name] = np.asarray(ratio_of(*rmst))
        counts[name] = min(int(cell.episodes[-1]) + 1 for cell in cells)
    per_object = {name: bootstrapped(row, counts[name]) for name, row in rows.items()}
    return BootstrappedThroughput(
        per_object,
        macro_of(list(per_object.values())),
        objects.only_first,
        objects.only_second,
    )


def bootstrap_pair(
    a: Any,
    b: Any,
    tau: float = TAU,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    names: tuple[str, str] = ('a', 'b'),
    workers: int = WORKERS,
) -> dict[str, Bootstrapped]:
    """Comparisons of two cells with 95 % intervals; episodes of both are drawn. A distance of
    resampled CDFs is larger than that of the observed ones: its interval is no test.

    Args:
        a, b: Cell, or (times, events) with each operation as an episode of its own.
        names: of both, for the streams of random numbers.
        tau, resamples, seed, workers: as `bootstrap_scalars`.

    Returns:
        'ks', 'rmst_difference' (s), 'completion_difference', 'faster', as `ArmStatistics` has them.

    Raises:
        ShapeError, ValueRangeError: as `kaplan_meier`, or another argument is out of range.
    """
    cells = as_cell(a), as_cell(b)
    pool = pool_of(*cells)
    first, second = (episode_draws(cell, resamples, seed, name) for cell, name in zip(cells, names))
    found = arm_statistics(pool, first, second + np.int32(pool.counts[0]), tau, workers)
    count = min(pool.counts)
    return {id: bootstrapped(column, count) for id, column in vars(found).items()}


def episode_draws(cell: Cell, resamples: int, seed: int, name: str = '') -> Draws:
    """Returns (1 + resamples, E) numbers of the episodes of a cell; the first row is the cell as it
    was observed.

    Raises:
        ValueRangeError: resamples or seed are out of range.
    """
    count = int(cell.episodes[-1]) + 1
    observed = np.arange(count, dtype=np.int32)[None]
    size, seed = checked_count(resamples, 'resamples', 0), checked_count(seed, 'seed', 0)
    if not size:
        return observed
    return np.concatenate([observed, draw_episodes(stream(seed, name), count, count, size)])


def bootstrapped(column: Array, episodes: int) -> Bootstrapped:
    """Returns a scalar of (1 + B,) values, the first as observed, in cells of so many episodes."""
    return Bootstrapped(float(column[0]), *percentiles(column[1:], episodes), column[1:])


def macro_of(scalars: Sequence[Bootstrapped]) -> Bootstrapped:
    """Returns the mean over objects with equal weights; NaN without any, and no interval if one of
    them has none.
    """
    if not scalars:
        return Bootstrapped(math.nan, math.nan, math.nan, np.empty(0))
    value = float(np.mean([each.value for each in scalars]))
    resamples = np.mean([each.resamples for each in scalars], axis=0)
    has_intervals = all(not math.isnan(each.lower) for each in scalars)
    bounds = percentiles(resamples, 2) if has_intervals else (math.nan, math.nan)
    return Bootstrapped(value, *bounds, resamples)


def percentiles(
    values: Array, episodes: int, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Returns the percentile interval of (B,) resampled values of cells of at least so many
    episodes; the rules are those of `Bootstrapped`.

    Raises:
        ValueRangeError: the confidence is not in (0, 1).
    """
    if not 0.0 < confidence < 1.0:
        raise ValueRangeError(f'confidence is {confidence}; a share between 0 and 1 is expected')
    known = values[~np.isnan(values)]
    if episodes < 2 or not len(known) or len(known) < (1.0 - MOST_WITHOUT) * len(values):
        return math.nan, math.nan
    if are_equal(known):
        return math.nan, math.nan
    shares = _ends(confidence)
    if np.isfinite(known).all():
        lower, upper = np.quantile(known, shares)
    else:  # there is nothing between a number and infinity
        lower = np.quantile(known, shares[0], method='lower')
        upper = np.quantile(known, shares[1], method='higher')
    return float(lower), float(upper)


def _ends(confidence: float) -> tuple[float, float]:
    return (1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0


def _times(values: Any) -> Array:
    times = np.asarray(values, dtype=np.float64)
    if times.ndim != 1:
        raise ShapeError(f'times have shape {times.shape}; (G,) is expected')
    if (wrong := times[~(times >= 0.0)]).size:
        raise ValueRangeError(f'a time is {wrong[0]:g} s; 0 or more is expected')
    return times
