# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The least distance of each link to the pixels of a depth image: branch and bound over blocks.

Of each shape the block that can be nearest is measured first; then all blocks whose bound is below
what was found for the shape's link. What float32 finds within its rounding of the least is measured
in float64, so that the result is that of a scan of all pixels in float64.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots.shape_distance import closest_points
from frame_ros.sensing.depth_blocks import PIXELS, Balls, BlockGrid
from frame_ros.sensing.depth_camera import Depth
from frame_ros.sensing.depth_shapes import CameraShapes

Array = NDArray[np.float64]
Single = NDArray[np.float32]
Indices = NDArray[np.intp]


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


class LeastDistances:
    """One search, in an image without the robot."""

    def __init__(
        self, grid: BlockGrid, image: Depth, scale: float, balls: Balls, shapes: CameraShapes
    ) -> None:
        """image: 0 where there is nothing to measure; scale: m per unit. balls: of its blocks."""
        self._grid, self._image, self._scale = grid, image, scale
        self._balls, self._shapes = balls, shapes
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
        columns = (bounds + self._balls.radii).argmin(axis=1)
        rows = np.flatnonzero(np.isfinite(bounds[np.arange(len(owners)), columns]))
        columns = columns[rows]
        self._measure(rows, columns)
        bounds[rows, columns] = np.inf
        limits = self._best[owners] + self._slack
        flat = np.flatnonzero((bounds <= limits[:, None]) & (bounds < np.inf))
        rows, columns = np.divmod(flat, bounds.shape[1])
        bound = limits[rows]
        is_near = self._shapes.lower_bounds(rows, columns, self._balls, self._grid, bound) <= bound
        self._measure(rows[is_near], columns[is_near])
        return self._refined()

    def _measure(self, rows: Indices, columns: Indices) -> None:
        """Shapes `rows` (P,) each with all pixels of one block: lowers the least distances of the
        links, and keeps the pixels that may be nearest.
        """
        if not len(rows):
            return
        blocks, owners = self._balls.blocks[columns], self._shapes.owners[rows]
        pixels = self._grid.pixels(self._image, blocks)
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
