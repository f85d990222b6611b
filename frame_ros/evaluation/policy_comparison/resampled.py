# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Time-to-success CDFs of every cell, resampled once: all scores and differences come from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.evaluation.policy_comparison.groups import Groups
from frame_ros.evaluation.policy_comparison.options import ComparisonOptions
from frame_ros.evaluation.policy_comparison.scores import GRID, time_columns
from frame_ros.evaluation.survival.bootstrap import episode_draws
from frame_ros.evaluation.survival.cell import Cell
from frame_ros.evaluation.survival.pool import (
    arm_statistics,
    curve_statistics,
    pool_of,
)
from frame_ros.evaluation.survival.two_samples import ratio_of

Array = NDArray[np.float64]
# Points of a drawn CDF and of the comparison of two.
CURVE_POINTS = 121
NO_TIMES = np.empty(0)


@dataclass(frozen=True)
class ResampledCell:
    """A cell and its scores, the first of R = 1 + resamples as observed.

    Attributes:
        draws: (R, E) numbers of its episodes; the first row is each of them.
        columns: score id -> (R,).
        times: (G,) s, the same of all cells of a study; curves: (R, G) F at them.
    """

    cell: Cell
    draws: NDArray[np.int32]
    columns: dict[str, Array]
    times: Array
    curves: Array

    @property
    def episodes(self) -> int:
        """Number of episodes."""
        return self.draws.shape[1]


ResampledCells = dict[str, dict[str, ResampledCell]]


def curve_grid(cells: Iterable[Cell], tau: float) -> Array:
    """Returns (G,) times in s at which curves are drawn and compared: 0, tau and those at which an
    operation was done, of many such times some that divide them evenly.
    """
    done = [cell.times[cell.events & (cell.times <= tau)] for cell in cells]
    times = np.unique(np.concatenate([[0.0, tau], *done]))
    places = np.linspace(0, len(times) - 1, min(len(times), CURVE_POINTS)).round().astype(int)
    return times[places]


def resampled_cells(groups: Groups, options: ComparisonOptions) -> ResampledCells:
    """Returns policy -> object -> its cell with all resamples."""
    cells = (each.cell for own in groups.values() for each in own.values())
    times = curve_grid((cell for cell in cells if cell is not None), options.tau)
    return {
        policy: {
            name: resampled(each.cell, f'{policy}\0{name}', options, times)
            for name, each in of_policy.items()
            if each.cell is not None
        }
        for policy, of_policy in groups.items()
    }


def resampled(
    cell: Cell, name: str, options: ComparisonOptions, curve: Array = NO_TIMES
) -> ResampledCell:
    """Returns a cell with its resamples. name: of its stream of random numbers. curve: times of its
    curves.
    """
    pool = pool_of(cell)
    draws = episode_draws(cell, options.resamples, options.seed, name)
    times = sorted(set(options.success_times))
    grid = np.concatenate([times, curve])
    order = np.argsort(grid, kind='stable')
    found = curve_statistics(pool, draws, options.tau, grid[order])
    places = np.argsort(order, kind='stable')
    columns = time_columns(found, options.tau, places[: len(times)].tolist(), times)
    return ResampledCell(cell, draws, columns, curve, found[:, GRID + places[len(times) :]])


def against_human(
    own: ResampledCell, human: ResampledCell, options: ComparisonOptions
) -> dict[str, Array]:
    """Returns the scores of a cell against that of the human, (R,) each."""
    return {
        'hrt': np.asarray(ratio_of(human.columns['rmst'], own.columns['rmst'])),
        'auc': faster(own, human, options),
    }


def faster(first: ResampledCell, second: ResampledCell, options: ComparisonOptions) -> Array:
    """Returns (R,) P(T_first < T_second), both resampled on their own."""
    pool = pool_of(first.cell, second.cell)
    arms = first.draws, second.draws + np.int32(first.episodes)
    return arm_statistics(pool, *arms, options.tau).faster


def macro(cells: Sequence[Mapping[str, Array]], id: str) -> Array:
    """Returns (R,) means of a score over cells with equal weights."""
    return np.mean([cell[id] for cell in cells], axis=0)
