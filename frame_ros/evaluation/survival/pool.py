# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Resamples of whole episodes, fast: operations are sorted once, and each resample weights them by
the number of times that their episode was drawn.

For studies of many resamples: make a `Pool` of two cells once, draw numbers of its episodes in any
way (with or without replacement, subsamples of subsamples), and give the draws of all trials to
`arm_statistics` in one call.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.evaluation.survival.cell import Cell
from frame_ros.evaluation.survival.samples import checked_tau

Array = NDArray[np.float64]
Draws = NDArray[np.int32]
WORKERS = 2
# Fewer rows are not worth a thread.
FEWEST = 100


@dataclass(frozen=True)
class Pool:
    """Operations of one or more cells by time, successes before those that are censored then;
    ghosts left out.

    Attributes:
        times: (m,) s, ascending.
        events: (m,) done, else censored.
        episodes: (m,) number of the episode of each in the pool.
        lasts: (m,) the last success at its time.
        sizes: (E,) operations of each episode, ghosts included.
        counts: episodes of each cell: those of the first are numbered from 0, then the second's.
    """

    times: Array
    events: NDArray[np.bool_]
    episodes: Draws
    lasts: NDArray[np.bool_]
    sizes: Array
    counts: tuple[int, ...]

    @property
    def count(self) -> int:
        """Episodes in all."""
        return len(self.sizes)


def pool_of(*cells: Cell) -> Pool:
    """Returns the pool of checked cells (`as_cell`)."""
    counts = [int(cell.episodes[-1]) + 1 for cell in cells]
    firsts = np.cumsum([0, *counts[:-1]])
    times = np.concatenate([cell.times for cell in cells])
    events = np.concatenate([cell.events for cell in cells])
    episodes = np.concatenate([cell.episodes + first for cell, first in zip(cells, firsts)])
    order = np.lexsort((~events, times))[: int(np.isfinite(times).sum())]
    ordered, is_done = times[order], events[order]
    has_next = (ordered[1:] == ordered[:-1]) & is_done[1:]
    return Pool(
        ordered,
        is_done,
        episodes[order].astype(np.int32),
        is_done & ~np.append(has_next, False)[: len(ordered)],
        np.bincount(episodes).astype(np.float64),
        tuple(counts),
    )


@dataclass(frozen=True)
class ArmStatistics:
    """Statistics of two arms, (B,) each.

    Attributes:
        ks: sup over [0, tau] of |F_a - F_b|.
        rmst_difference: RMST_a - RMST_b, s.
        completion_difference: F_a(tau) - F_b(tau); with tau = t the difference of success at t.
        faster: P(T_a < T_b), ties and mass beyond tau counted half.
    """

    ks: Array
    rmst_difference: Array
    completion_difference: Array
    faster: Array


def arm_statistics(
    pool: Pool, first: Any, second: Any, tau: float, workers: int = WORKERS
) -> ArmStatistics:
    """Statistics of two arms of episodes, for B draws at once. PhAIL, sections 3.2 and 3.3.

    Args:
        first, second: (B, n) and (B, k) numbers of episodes of the pool, repeated as often as they
            were drawn.
        tau: s, finite.
        workers: threads; they change no bit of the result.

    Raises:
        ShapeError: another shape, or empty arms.
        ValueRangeError: no number of an episode, or tau is not positive and finite.
    """
    from frame_ros.evaluation.survival.kernels import two_arms

    tau = checked_tau(tau)
    a, b = _checked(pool, first), _checked(pool, second)
    if len(a) != len(b):
        raise ShapeError(f'the arms have {len(a)} and {len(b)} draws; the same number is needed')
    until = int(np.searchsorted(pool.times, tau, 'right'))
    operations = tuple(
        each[:until] for each in (pool.times, pool.events, pool.episodes, pool.lasts)
    )
    out = np.empty((len(a), 4))

    def part(rows: slice) -> None:
        room = np.empty((2, pool.count))
        two_arms((*operations, pool.sizes), a[rows], b[rows], tau, room, out[rows])

    in_parts(part, len(a), workers)
    return ArmStatistics(*out.T)


def curve_statistics(
    pool: Pool, draws: Any, tau: float, grid: Any = (), workers: int = WORKERS
) -> Array:
    """Statistics of one arm for B draws at once.

    Args:
        draws: (B, n) numbers of episodes of the pool.
        tau: s, finite.
        grid: (K,) s, not decreasing.
        workers: threads; they change no bit of the result.

    Returns:
        (B, 4 + K): RMST(tau), F(tau), F before tau, the median, F at each time of the grid.

    Raises:
        ShapeError: another shape, or empty arms.
        ValueRangeError: no number of an episode, a grid that decreases, or tau is not positive and
            finite.
    """
    from frame_ros.evaluation.survival.kernels import one_arm

    tau, rows_of = checked_tau(tau), _checked(pool, draws)
    points = np.asarray(grid, dtype=np.float64)
    if points.ndim != 1 or not (np.diff(points) >= 0.0).all() or np.isnan(points).any():
        raise ValueRangeError(f'the grid of times decreases or is no (K,) array: {grid!r}')
    out = np.empty((len(rows_of), 4 + len(points)))

    def part(rows: slice) -> None:
        room = np.empty(pool.count)
        operations = pool.times, pool.events, pool.episodes, pool.lasts, pool.sizes
        one_arm(operations, rows_of[rows], tau, points, room, out[rows])

    in_parts(part, len(rows_of), workers)
    return out


def draw_episodes(random: np.random.Generator, count: int, size: int, resamples: int) -> Draws:
    """Returns (resamples, size) numbers below count, with replacement; the first ones are the same
    whatever the number of resamples.
    """
    return random.integers(count, size=(resamples, size), dtype=np.int32)


def permuted_episodes(random: np.random.Generator, count: int, size: int, resamples: int) -> Draws:
    """Returns (resamples, size) numbers below count, without replacement."""
    rows = np.tile(np.arange(count, dtype=np.int32), (resamples, 1))
    return random.permuted(rows, axis=1)[:, :size]


def in_parts(work: Callable[[slice], None], count: int, workers: int) -> None:
    """Calls the work for parts of `count` rows, in threads."""
    edges = np.linspace(0, count, max(min(workers, count // FEWEST), 1) + 1).astype(int)
    parts = [slice(begin, end) for begin, end in zip(edges[:-1], edges[1:])]
    if len(parts) == 1:
        work(parts[0])
        return
    with ThreadPoolExecutor(len(parts)) as threads:
        list(threads.map(work, parts))


def _checked(pool: Pool, draws: Any) -> Draws:
    rows = np.asarray(draws)
    if rows.ndim != 2 or not rows.size or rows.dtype.kind not in 'iu':
        raise ShapeError(f'draws of shape {rows.shape} and type {rows.dtype}; (B, n) whole numbers')
    if rows.min() < 0 or rows.max() >= pool.count:
        raise ValueRangeError(
            f'draws from {rows.min()} to {rows.max()}; 0 to {pool.count - 1} are expected'
        )
    return np.ascontiguousarray(rows, dtype=np.int32)
