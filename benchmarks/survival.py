#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Cost of resampling times to success, against a loop over lifelines.

    python benchmarks/survival.py [--resamples 10000] [--loop 50] [--runs 5] [--json]

Four policies and a human reference on four objects, 40 episodes of 8 operations in each cell, with
hard failures, censored ends and times to 0.1 s, so that some are equal. Measured is:

- bootstrap: 10,000 resamples of the episodes of every cell; in each the RMST of all cells, the
  human-relative throughput of every policy on every object, the KS distance of all pairs of
  policies on every object; and the intervals of all of them;
- null: the p-values of all pairs of policies by the macro-averaged KS test, 10,000 pooled resamples
  of the episodes on every object.

Both are in `all`, on two threads. The first call is given apart: it compiles the loops, or reads
them from the cache of an earlier run.

The same is done by a loop over lifelines for the first of the resamples, one fit per resampled cell
or arm, and its cost extrapolated; every value of these resamples is compared with ours. It has no
row if lifelines is not installed: `pip install lifelines==0.30.3`, in an environment of its own.
Point estimates are compared with SciPy too.
"""

from __future__ import annotations

import os

os.environ['OMP_NUM_THREADS'] = os.environ['OPENBLAS_NUM_THREADS'] = '1'

import argparse
import json
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
from parts.bars import Bars, parse
from scipy.stats import CensoredData, ecdf
from scipy.stats import logrank as scipy_logrank

from frame_ros.evaluation import ks_distance, logrank, restricted_mean
from frame_ros.evaluation.survival.bootstrap import bootstrapped, episode_draws
from frame_ros.evaluation.survival.cell import Cell
from frame_ros.evaluation.survival.macro_ks import macro_ks, pooled_null, stream
from frame_ros.evaluation.survival.pool import (
    arm_statistics,
    curve_statistics,
    draw_episodes,
    pool_of,
)

SECONDS_BAR, SPEED_BAR, EQUAL_BAR = 3.0, 500.0, 1e-12
TAU = 240.0
HUMAN = 'human'
SCALES = {'one': 60.0, 'two': 66.0, 'three': 90.0, 'four': 180.0, HUMAN: 10.0}
POLICIES = [name for name in SCALES if name != HUMAN]
OBJECTS = ('spoons', 'towels', 'scissors', 'batteries')
PAIRS = list(combinations(POLICIES, 2))
EPISODES, OPERATIONS = 40, 8
# A time after all others: for libraries without ghosts, which are censored then.
NEVER = 1e6

Cells = dict[str, dict[str, Cell]]
Values = dict[tuple[str, ...], np.ndarray]
Looped = dict[tuple[str, ...], list[float]]


def make_cells() -> Cells:
    """Times of four policies and a human; one of twelve operations fails hard, and the last of an
    episode is censored in half of them.
    """
    random = np.random.default_rng(0)
    return {
        policy: {name: make_cell(random, scale * (1 + 0.2 * i)) for i, name in enumerate(OBJECTS)}
        for policy, scale in SCALES.items()
    }


def make_cell(random: np.random.Generator, scale: float) -> Cell:
    """The operations of one policy on one object."""
    pace = random.lognormal(0.0, 0.3, (EPISODES, 1))  # of an episode
    times = np.round(pace * random.gamma(2.0, scale / 2.0, (EPISODES, OPERATIONS)), 1)
    times[random.random(times.shape) < 1 / 12] = np.inf
    events = np.ones(times.shape, bool)
    events[:, -1] = random.random(EPISODES) < 0.5
    events |= np.isinf(times)
    return Cell(times.ravel(), events.ravel(), np.repeat(np.arange(EPISODES), OPERATIONS))


def cells_in(cells: Cells) -> Iterator[tuple[str, str, Cell]]:
    """Every cell with its policy and object."""
    for policy, objects in cells.items():
        for name, cell in objects.items():
            yield policy, name, cell


def drawn(cells: Cells, resamples: int) -> Values:
    """The episodes of every resample of every cell, the first as observed."""
    return {
        (policy, name): episode_draws(cell, resamples, 0, f'{policy}\0{name}')
        for policy, name, cell in cells_in(cells)
    }


def bootstrap(cells: Cells, resamples: int) -> Values:
    """RMST, HRT and KS of every resample, with their intervals."""
    draws = drawn(cells, resamples)
    found: Values = {}
    for policy, name, cell in cells_in(cells):
        rows = curve_statistics(pool_of(cell), draws[policy, name], TAU)
        found['rmst', policy, name] = rows[:, 0]
    for policy in POLICIES:
        for name in OBJECTS:
            ratio = found['rmst', HUMAN, name] / found['rmst', policy, name]
            found['hrt', policy, name] = ratio
    for first, second in PAIRS:
        for name in OBJECTS:
            pool = pool_of(cells[first][name], cells[second][name])
            arms = draws[first, name], draws[second, name] + np.int32(EPISODES)
            found['ks', first, second, name] = arm_statistics(pool, *arms, TAU).ks
    for values in found.values():
        bootstrapped(values, EPISODES)
    return found


def null(cells: Cells, resamples: int) -> Values:
    """The p-values of all pairs."""
    return {
        pair: np.array([macro_ks(cells[pair[0]], cells[pair[1]], TAU, resamples).p])
        for pair in PAIRS
    }


def timed(work: Callable[[Cells, int], Values], cells: Cells, resamples: int) -> float:
    """Seconds that it takes."""
    begin = time.perf_counter()
    work(cells, resamples)
    return time.perf_counter() - begin


class Lifelines:
    """The same by one fit per resampled cell or arm."""

    def __init__(self) -> None:
        from lifelines import KaplanMeierFitter
        from lifelines.statistics import logrank_test

        self._fitter, self._logrank = KaplanMeierFitter, logrank_test

    def survival(self, times: np.ndarray, events: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Times from 0 on, and S from each of them on."""
        finite, is_done = finite_of(times, events)
        table = self._fitter().fit(finite, is_done).survival_function_
        return table.index.to_numpy(), table.to_numpy()[:, 0]

    def logrank(self, a: Cell, b: Cell) -> float:
        """The statistic, squared."""
        (x, x_done), (y, y_done) = finite_of(*a[:2]), finite_of(*b[:2])
        return float(self._logrank(x, y, x_done, y_done).test_statistic)

    def bootstrap(self, cells: Cells, count: int) -> Looped:
        """The first resamples, by the same draws, the observed ones left out."""
        draws = drawn(cells, count)
        found: Looped = {}
        for row in range(1, count + 1):
            fits = {}
            for policy, name, cell in cells_in(cells):
                fits[policy, name] = self.survival(*picked([cell], draws[policy, name][row]))
                put(found, ('rmst', policy, name), rmst_of(*fits[policy, name]))
            for policy in POLICIES:
                for name in OBJECTS:
                    human = found['rmst', HUMAN, name][-1]
                    put(found, ('hrt', policy, name), human / found['rmst', policy, name][-1])
            for first, second in PAIRS:
                for name in OBJECTS:
                    distance = distance_of(fits[first, name], fits[second, name])
                    put(found, ('ks', first, second, name), distance)
        return found

    def null(self, cells: Cells, count: int) -> Looped:
        """The first pooled resamples, by the same draws."""
        found: Looped = {}
        for first, second in PAIRS:
            for name in OBJECTS:
                both = [cells[first][name], cells[second][name]]
                for draw in draw_episodes(stream(0, name), 2 * EPISODES, 2 * EPISODES, count):
                    arms = draw[:EPISODES], draw[EPISODES:]
                    fits = [self.survival(*picked(both, arm)) for arm in arms]
                    put(found, ('null', first, second, name), distance_of(*fits))
        return found


def put(found: Looped, key: tuple[str, ...], value: float) -> None:
    """Appends a value."""
    found.setdefault(key, []).append(value)


def finite_of(times: np.ndarray, events: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Times and events with ghosts as censored after all others."""
    return np.minimum(times, NEVER), events & np.isfinite(times)


def picked(cells: list[Cell], draw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Times and events of drawn episodes, of cells one after the other."""
    times = np.concatenate([cell.times.reshape(EPISODES, OPERATIONS) for cell in cells])
    events = np.concatenate([cell.events.reshape(EPISODES, OPERATIONS) for cell in cells])
    return times[draw].ravel(), events[draw].ravel()


def rmst_of(times: np.ndarray, survival: np.ndarray) -> float:
    """The integral of a step function from 0 to tau; times begin with 0."""
    until = int(np.searchsorted(times, TAU, 'right'))
    return float(survival[:until] @ np.diff(np.append(times[:until], TAU)))


def distance_of(first: tuple[np.ndarray, ...], second: tuple[np.ndarray, ...]) -> float:
    """The largest distance of two step functions up to tau."""
    times = np.union1d(first[0], second[0])
    times = times[times <= TAU]
    a, b = (s[np.searchsorted(own, times, 'right') - 1] for own, s in (first, second))
    return float(np.abs(a - b).max())


def scipy_survival(times: np.ndarray, events: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Times from 0 on, and S from each of them on."""
    found = ecdf(scipy_sample(times, events)).sf
    return np.append(0.0, found.quantiles), np.append(1.0, found.probabilities)


def scipy_sample(times: np.ndarray, events: np.ndarray) -> CensoredData:
    """A sample as SciPy takes it."""
    finite, is_done = finite_of(times, events)
    return CensoredData(uncensored=finite[is_done], right=finite[~is_done])


def squared_logrank(a: Cell, b: Cell) -> float:
    """The statistic of SciPy, squared."""
    return float(scipy_logrank(scipy_sample(*a[:2]), scipy_sample(*b[:2])).statistic ** 2)


def point_error(cells: Cells, survival: Any, squared: Any) -> float:
    """Largest relative difference of point estimates of another library: RMST, KS, logrank."""
    worst = 0.0
    for _, _, cell in cells_in(cells):
        worst = max(worst, error(restricted_mean(*cell[:2], TAU), rmst_of(*survival(*cell[:2]))))
    for first, second in PAIRS:
        for name in OBJECTS:
            a, b = cells[first][name], cells[second][name]
            theirs = distance_of(survival(*a[:2]), survival(*b[:2]))
            worst = max(worst, error(ks_distance(a, b, TAU), theirs))
            worst = max(worst, error(logrank(a, b).statistic ** 2, squared(a, b)))
    return worst


def error(ours: Any, theirs: Any) -> float:
    """Largest difference, relative where a number is larger than 1."""
    theirs = np.asarray(theirs)
    return float(np.max(np.abs(ours - theirs) / np.maximum(1.0, np.abs(theirs))))


def compare_with_lifelines(cells: Cells, count: int) -> dict[str, float]:
    """Seconds per resample of the loop, and the largest differences."""
    theirs = Lifelines()
    begin = time.perf_counter()
    looped = theirs.bootstrap(cells, count)
    middle = time.perf_counter()
    nulls = theirs.null(cells, count)
    end = time.perf_counter()
    ours = bootstrap(cells, count)
    worst = max(error(ours[key][1:], values) for key, values in looped.items())
    for (_, first, second, name), values in nulls.items():
        own = pooled_null(cells[first][name], cells[second][name], TAU, count, stream(0, name)).ks
        worst = max(worst, error(own, values))
    return {
        'bootstrap': (middle - begin) / count,
        'null': (end - middle) / count,
        'resample_error': worst,
        'point_error': point_error(cells, theirs.survival, theirs.logrank),
    }


def measure(cells: Cells, options: argparse.Namespace) -> dict[str, Any]:
    """All figures; those of lifelines only if it is there."""
    parts = {'bootstrap': bootstrap, 'null': null}
    first = sum(timed(work, cells, 2) for work in parts.values())
    runs = [
        {name: timed(work, cells, options.resamples) for name, work in parts.items()}
        for _ in range(options.runs)
    ]
    for run in runs:
        run['all'] = sum(run.values())
    median = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
    found: dict[str, Any] = {'resamples': options.resamples, 'first_call': first}
    found |= {'median': median, 'runs': runs}
    found['scipy_error'] = point_error(cells, scipy_survival, squared_logrank)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            found['lifelines'] = compare_with_lifelines(cells, options.loop)
    except ImportError:
        return found
    loop = {name: found['lifelines'][name] * options.resamples for name in parts}
    loop['all'] = sum(loop.values())
    found['times_faster'] = {name: loop[name] / median[name] for name in loop}
    found['lifelines_seconds'] = loop
    return found


def show(found: dict[str, Any]) -> None:
    """Prints all figures as lines."""
    for name, seconds in found['median'].items():
        each = [run[name] for run in found['runs']]
        print(f'{name:10s}{seconds:8.3f} s ({min(each):.3f} to {max(each):.3f})', end='')
        if 'lifelines' in found:
            loop, ratio = found['lifelines_seconds'][name], found['times_faster'][name]
            print(f'; lifelines {loop / 60:.0f} min, extrapolated: {ratio:,.0f} times', end='')
        print()
    print(f'first call, with loops to compile or to load: {found["first_call"]:.2f} s')
    if 'lifelines' not in found:
        print('lifelines: not installed')


def main() -> int:
    """Measures everything several times and prints the medians and their range."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--resamples', type=int, default=10_000)
    parser.add_argument('--loop', type=int, default=50, help='resamples by lifelines')
    parser.add_argument('--runs', type=int, default=5)
    parser.add_argument('--json', action='store_true', help='one JSON object on stdout')
    options = parse(parser, resamples=1000, loop=2, runs=1)
    found = measure(make_cells(), options)
    if options.json:
        print(json.dumps(found))
    else:
        show(found)
    bars = Bars(options)
    bars.at_most('RMST, HRT and KS of all pairs, s', found['median']['all'], SECONDS_BAR)
    bars.at_most('difference of point estimates from SciPy', found['scipy_error'], EQUAL_BAR)
    if 'lifelines' in found:
        theirs, faster = found['lifelines'], min(found['times_faster'].values())
        bars.at_least('times as fast as a loop over lifelines', faster, SPEED_BAR)
        bars.at_most('difference from lifelines', theirs['point_error'], EQUAL_BAR)
        bars.at_most('its resamples', theirs['resample_error'], EQUAL_BAR)
    return bars.exit_status()


if __name__ == '__main__':
    sys.exit(main())
