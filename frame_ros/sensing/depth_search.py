# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The least distance of each link to the pixels of a depth image: branch and bound over blocks.

Of each link the block that is surely nearest is measured first; then, with each of its shapes, all
blocks whose bound is below what was found. Which pixels have support is found only for blocks that
are measured. What float32 finds within its rounding of the least is measured
in float64, so that the result is that of a scan of all pixels in float64.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots.shape_distance import closest_points
from frame_ros.sensing.depth_blocks import PIXELS, Balls, BlockGrid
from frame_ros.sensing.depth_camera import Depth
from frame_ros.sensing.depth_edges import EdgeFilter
from frame_ros.sensing.depth_shapes import CameraShapes

Array = NDArray[np.float64]
Single = NDArray[np.float32]
Indices = NDArray[np.intp]
_FIRST = 8  # blocks of each link, of which it is found first which pixels count; then its powers


@dataclass(frozen=True)
class Nearest:
    """Of each of L links, in the optical frame: distances (L,) m, NaN if there is no pixel; points
    (L, 3) of the pixels and surface (L, 3) of the shapes, m; places (L,) block times 64 plus pixel
    in it, -1 for none.
    """

    distances: Array
    points: Array
    surface: Array
    places: Indices

    @classmethod
    def nothing(cls, links: int) -> Nearest:
        """There is no pixel."""
        points = np.full((2, links, 3), np.nan)
        return cls(np.full(links, np.nan), points[0], points[1], np.full(links, -1, np.intp))

    def or_nearer(self, other: Nearest) -> Nearest:
        """Of each link the nearer of both."""
        is_other = np.fmin(self.distances, other.distances) != self.distances
        is_other &= ~np.isnan(other.distances)
        each = is_other[:, None]
        return Nearest(
            np.where(is_other, other.distances, self.distances),
            np.where(each, other.points, self.points),
            np.where(each, other.surface, self.surface),
            np.where(is_other, other.places, self.places),
        )


class LeastDistances:
    """One search, in an image without the robot."""

    def __init__(
        self, grid: BlockGrid, image: Depth, scale: float, balls: Balls, shapes: CameraShapes,
        edges: EdgeFilter | None = None,
    ) -> None:  # fmt: skip
        """image: 0 where there is nothing to measure; scale: m per unit. balls: of its blocks.
        edges: what tells the pixels that count; None: all do.
        """
        self._grid, self._image, self._scale = grid, image, scale
        self._balls, self._shapes, self._edges = balls, shapes, edges
        if edges is not None:
            count = len(balls.blocks)
            self._is_filtered, self._has_any = np.zeros((2, count), np.bool_)
            self._kept = np.zeros((count, PIXELS), image.dtype)
        self._slack = np.float32(2.0) * balls.rounding
        self._best = np.full(len(shapes.links), np.inf, np.float32)
        self._found: list[tuple[Indices, Indices, Depth]] = []

    def run(self, bounds: Single) -> Nearest:
        """bounds: (S, K) m, by which the blocks are no nearer to the shapes; infinite where a block
        has no pixel left. Changed.
        """
        owners = self._shapes.owners
        if not len(owners) or not bounds.shape[1]:
            return Nearest.nothing(len(self._shapes.links))
        bounds = bounds[: len(owners)]
        is_open: NDArray[np.bool_] = np.ones(len(owners), np.bool_)
        count = _FIRST
        while is_open.any():
            self._measure_first(bounds, np.flatnonzero(is_open), count)
            # The blocks looked at may have no pixel that counts.
            is_open = np.isinf(self._best[owners]) & np.isfinite(bounds.min(axis=1))
            count *= _FIRST
        limits = self._best[owners] + self._slack
        flat = np.flatnonzero((bounds <= limits[:, None]) & (bounds < np.inf))
        rows, columns = np.divmod(flat, bounds.shape[1])
        bound = limits[rows]
        is_near = self._shapes.lower_bounds(rows, columns, self._balls, self._grid, bound) <= bound
        rows, columns = rows[is_near], columns[is_near]
        self._filter(columns, bounds)
        self._measure(rows, columns)
        return self._refined()

    def _measure_first(self, bounds: Single, rows: Indices, count: int) -> None:
        """Of each link with shapes `rows` (P,), which ascend, the block that is surely nearest; of
        which pixels count, if that is asked, the `count` nearest blocks are looked at.
        """
        first = np.flatnonzero(np.diff(self._shapes.owners[rows], prepend=-1))
        least = np.minimum.reduceat(bounds[rows], first, axis=0)
        most = least + self._balls.radii
        if self._edges is not None:
            count = min(count, most.shape[1])
            near = np.argpartition(most, count - 1, axis=1)[:, :count]
            self._filter(near[np.isfinite(np.take_along_axis(most, near, axis=1))], bounds)
            most[:, ~(self._is_filtered & self._has_any)] = np.inf
        columns = most.argmin(axis=1)
        links = np.flatnonzero(np.isfinite(most[np.arange(len(first)), columns]))
        columns = columns[links]
        # Of the link's shapes those that are nearest.
        of_links = np.full(len(first), -1)
        of_links[links] = columns
        link = np.repeat(np.arange(len(first)), np.diff(first, append=len(rows)))
        each = of_links.take(link)
        is_nearest = (each >= 0) & (bounds[rows, each] <= least[link, each])
        rows, columns = rows[is_nearest], each[is_nearest]
        self._measure(rows, columns)
        bounds[rows, columns] = np.inf

    def _filter(self, columns: Indices, bounds: Single) -> None:
        """Finds which pixels of blocks `columns` count; a bound becomes infinite if none does."""
        if self._edges is None:
            return
        is_wanted = np.zeros(len(self._is_filtered), np.bool_)
        is_wanted[columns] = True
        chosen = np.flatnonzero(is_wanted & ~self._is_filtered)
        if len(chosen):
            kept = self._edges.supported(self._image, self._balls.blocks[chosen])
            self._kept[chosen], self._is_filtered[chosen] = kept, True
            self._has_any[chosen] = has_any = kept.any(axis=1)
            bounds[:, chosen[~has_any]] = np.inf

    def _measure(self, rows: Indices, columns: Indices) -> None:
        """Shapes `rows` (P,) each with all pixels of one block: lowers the least distances of the
        links, and keeps the pixels that may be nearest.
        """
        if not len(rows):
            return
        blocks, owners = self._balls.blocks[columns], self._shapes.owners[rows]
        if self._edges is None:
            pixels = self._grid.pixels(self._image, blocks)
        else:
            pixels = self._kept[columns]
        depths = pixels * np.float32(self._scale)
        every = np.arange(len(rows))
        distances = self._shapes.pair_squares(rows, blocks, depths, every, self._grid)
        np.sqrt(distances, out=distances)
        distances -= self._shapes.radii[rows][:, None]
        distances[pixels == 0] = np.inf
        least = distances.min(axis=1)
        np.minimum.at(self._best, owners, least)
        near = (least <= self._best[owners] + self._slack).nonzero()[0]
        limits = self._best[owners[near]] + self._slack
        pair, inside = (distances[near] <= limits[:, None]).nonzero()
        pair = near[pair]
        self._found.append((rows[pair], blocks[pair] * PIXELS + inside, pixels[pair, inside]))

    def _refined(self) -> Nearest:
        """In float64, of each link the nearest of the pixels that were kept."""
        exact, result = self._shapes.exact, Nearest.nothing(len(self._shapes.links))
        if not self._found:
            return result
        rows, places, values = (np.concatenate(parts) for parts in zip(*self._found))
        points = self._grid.exact_points(values, places, self._scale)
        surface = closest_points(exact, points, rows)
        distances = np.sqrt(((points - surface) ** 2).sum(axis=1))
        owners = self._shapes.owners[rows]
        order = np.lexsort((distances, owners))
        first = np.flatnonzero(np.diff(owners[order], prepend=-1))
        least, links = order[first], owners[order[first]]
        result.distances[links] = distances[least]
        result.points[links] = points[least]
        result.surface[links] = surface[least]
        result.places[links] = places[least]
        return result
