# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Coverage: how much of what can vary a set of scenes has tried."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.scenes.description.scene import BASE, Scene
from frame_ros.scenes.generation.setting import Setting
from frame_ros.scenes.search.space import BINS, DECIDING, SceneSpace, Values, has_effect

GRID = 10  # cells along each side: VLATest, table 3


def grid_coverage(
    points: ArrayLike, low: Sequence[float], high: Sequence[float], cells: int = GRID
) -> float:
    """The share of the cells of a grid over a rectangle in which at least one point lies.

    Args:
        points: (N, 2).
        low, high: corners of the rectangle; points outside of it count nowhere.
        cells: along each side.

    Raises:
        ShapeError: points are not (N, 2).
        ValueRangeError: the rectangle is empty, or cells less than 1.
    """
    found = np.asarray(points, dtype=float)
    if found.size == 0:
        found = found.reshape(0, 2)
    if found.ndim != 2 or found.shape[1] != 2:
        raise ShapeError(f'points have the shape {found.shape}; expected is (N, 2)')
    ends = np.array([low, high], dtype=float)
    if not (ends[1] > ends[0]).all() or cells < 1:
        raise ValueRangeError(
            f'{cells} x {cells} cells from {list(low)} to {list(high)}; at least one is expected, '
            'and the second corner above the first'
        )
    share = (found - ends[0]) / (ends[1] - ends[0])
    inside = ((share >= 0) & (share <= 1)).all(axis=1)
    indices = np.minimum((share[inside] * cells).astype(int), cells - 1)
    return len({tuple(each) for each in indices.tolist()}) / cells**2


def target_coverage(scenes: Sequence[Scene], place: Setting | None = None) -> float:
    """VLATest's coverage: the share of a 10 x 10 grid over the sampling rectangle that holds a
    target. Paper, section 5.1, table 3.

    With a setting the rectangle is that from which targets are drawn, distance from the table's
    axis by direction. Without one, as of VLATest's own scenes, it is the smallest around the
    targets, along x and y; so few scenes seem to cover more than they do.

    Raises:
        ValueRangeError: there is no scene, or without a setting all targets stand in a line.
    """
    if not scenes:
        raise ValueRangeError('there is no scene; at least one is expected')
    points = np.array([each.target.position for each in scenes])
    if place is None:
        return grid_coverage(points, points.min(axis=0).tolist(), points.max(axis=0).tolist())
    table = place.robot.table
    away = points - np.array(table.axis)
    polar = np.column_stack((np.hypot(*away.T), np.arctan2(away[:, 1], away[:, 0])))
    ends = np.array([table.object_radii, table.object_azimuths])
    polar = np.where(np.isclose(polar, ends[:, 0]), ends[:, 0], polar)  # of the ends themselves
    polar = np.where(np.isclose(polar, ends[:, 1]), ends[:, 1], polar)
    return grid_coverage(polar, ends[:, 0].tolist(), ends[:, 1].tolist())


@attrs.frozen
class OperatorCoverage:
    """Coverage of the dimensions of operators.

    Attributes:
        scenes: number of them.
        cells: axis -> (cells in which a scene lies, all cells).
        pairs: (pairs of cells of two axes in which a scene lies, all of them).
        distinct: number of different cells of the whole grid.
    """

    scenes: int
    cells: dict[str, tuple[int, int]]
    pairs: tuple[int, int]
    distinct: int

    @property
    def single_share(self) -> float:
        """Mean over the axes of the share of cells in which a scene lies; NaN without axes."""
        shares = [have / every for have, every in self.cells.values()]
        return float(np.mean(shares)) if shares else float('nan')

    @property
    def pair_share(self) -> float:
        """The share of the pairs of cells in which a scene lies; NaN without pairs."""
        return self.pairs[0] / self.pairs[1] if self.pairs[1] else float('nan')


class CoverageCounter:
    """Cells of a space, and pairs of cells of two axes, in which scenes lie.

    Pairs that cannot be are not counted: those with a confounder that the scene does not have.
    Some that constraints forbid are, so that all pairs may not be reached.
    """

    def __init__(self, space: SceneSpace, bins: int = BINS) -> None:
        self._space, self._bins = space, bins
        sizes = [axis.bins(bins) for axis in space.axes]
        self._starts = np.concatenate(([0], np.cumsum(sizes))).astype(int)
        total = int(self._starts[-1])
        self._decides = np.repeat([axis.is_deciding for axis in space.axes], sizes).astype(bool)
        self._covered = np.zeros((total, total), dtype=bool)
        possible = self._possible_cells(total)
        self._can = possible.diagonal().copy()
        self._pairs = np.triu(possible)
        for start, end in zip(self._starts, self._starts[1:]):
            self._pairs[start:end, start:end] = False
        self._cells: set[tuple[tuple[str, int], ...]] = set()
        self._scenes = 0

    def add(self, values: Values) -> None:
        """Counts a scene by its values; raises ValueRangeError where one is missing or wrong."""
        indices = self._indices(values)
        self._covered[np.ix_(indices, indices)] = True
        self._cells.add(self._space.cell_of(values, self._bins))
        self._scenes += 1

    def gain(self, values: Values) -> float:
        """The share of a scene's own cells and pairs of cells that it would be the first in, and 1
        for each such cell on which it depends what other cells it has, as the number of
        confounders. By how many they are, scenes of few objects would be the last to be tried.
        """
        indices = self._indices(values)
        new = ~self._covered[np.ix_(indices, indices)]
        every = len(indices) * (len(indices) + 1) / 2
        decides = new.diagonal() & self._decides[indices]
        return float(np.triu(new).sum() / max(every, 1) + decides.sum())

    @property
    def found(self) -> OperatorCoverage:
        """The coverage so far."""
        single = self._covered.diagonal()
        cells = {
            axis.name: (int(single[start:end].sum()), int(self._can[start:end].sum()))
            for axis, start, end in zip(self._space.axes, self._starts, self._starts[1:])
            if self._can[start:end].any()
        }
        pairs = int((self._covered & self._pairs).sum()), int(self._pairs.sum())
        return OperatorCoverage(self._scenes, cells, pairs, len(self._cells))

    def _indices(self, values: Values) -> NDArray[np.int64]:
        cell = dict(self._space.cell_of(values, self._bins))
        return np.array(
            [
                start + cell[axis.name]
                for axis, start in zip(self._space.axes, self._starts)
                if axis.name in cell
            ],
            dtype=int,
        )

    def _possible_cells(self, total: int) -> NDArray[np.bool_]:
        """(N, N), whether a scene may lie in both of two cells."""
        possible = np.zeros((total, total), dtype=bool)
        spans = list(zip(self._space.axes, self._starts, self._starts[1:]))
        for held in _combinations(self._space):
            mask = np.zeros(total, dtype=bool)
            for axis, start, end in spans:
                chosen = held.get(axis.operator, {}).get(axis.dimension.name)
                if chosen is not None:
                    mask[start + axis.bin_of(chosen)] = True
                elif has_effect(axis, held):
                    mask[start:end] = True
            possible |= np.outer(mask, mask)
        return possible


def _combinations(space: SceneSpace) -> list[dict[str, dict[str, Any]]]:
    """Values of the dimensions on which it depends whether others have an effect."""
    found: list[dict[str, dict[str, Any]]] = [{}]
    for operator, name in DECIDING:
        fixed = space.fixed.get(operator, {})
        axis = next(
            (a for a in space.axes if (a.operator, a.dimension.name) == (operator, name)), None
        )
        choices = (fixed[name],) if name in fixed else axis.dimension.choices if axis else ()
        if choices:
            found = [held | {operator: {name: each}} for held in found for each in choices]
    return found


def operator_coverage(
    scenes: Iterable[Scene], space: SceneSpace, bins: int = BINS
) -> OperatorCoverage:
    """The coverage of a space by scenes that its operators drew.

    Raises:
        ValueRangeError: a scene has no value of an axis.
    """
    counter = CoverageCounter(space, bins)
    for each in scenes:
        if each.origin is None:
            raise ValueRangeError(f'the scene {each.name} says no values of operators')
        counter.add(each.origin.values)
    return counter.found


def is_ours(scene: Scene) -> bool:
    """Returns whether a scene is one in which this package's operators can say where it lies."""
    return scene.frame == BASE and scene.origin is not None and bool(scene.origin.values)
