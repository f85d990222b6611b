# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Which pixels of a depth image show the robot: those within a padding of any of its shapes.

Blocks whose balls lie within the padding of a shape are the robot as a whole, blocks beyond it of
all shapes are not; only the pixels of the others are looked at, each with the shapes that its block
can reach. What is too near to the border for float32 is decided in float64.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from frame_ros.robots.shape_distance import paired_distances
from frame_ros.sensing.depth_blocks import PIXELS, Balls, BlockGrid
from frame_ros.sensing.depth_camera import Depth
from frame_ros.sensing.depth_shapes import CameraShapes

Single = NDArray[np.float32]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class SelfFilter:
    """What is left of an image without the robot.

    whole, mixed: columns of the balls that were given: blocks all of whose pixels show the robot,
    (W,), and blocks that had to be looked at, (M,). pixels: (M, 64) what the latter have left, 0
    where invalid or the robot. own: how many pixels show the robot.
    """

    whole: Indices
    mixed: Indices
    pixels: Depth
    own: int


class SelfFiltering:
    """Takes the robot out of the images of one camera."""

    def __init__(self, grid: BlockGrid, padding: float) -> None:
        """padding: m; what is this near to a shape is the robot."""
        self._grid, self._padding = grid, padding

    def run(
        self, image: Depth, scale: float, balls: Balls, bounds: Single, shapes: CameraShapes
    ) -> SelfFilter:
        """image: 0 where invalid, left as it is; scale: m per unit. balls: of its blocks; bounds:
        (S, K) m, by which they are no nearer to the shapes.
        """
        limit = np.float32(self._padding)
        near = np.flatnonzero(bounds.min(axis=0, initial=np.inf) <= limit)
        bounds = bounds[:, near]
        is_whole = bounds.min(axis=0, initial=np.inf) + 2 * balls.radii[near] <= limit
        whole, mixed = near[is_whole], near[~is_whole]
        can_hold = shapes.clipped_bounds(balls, mixed, self._grid, limit) <= limit
        possible = can_hold.any(axis=0)
        mixed, can_hold = mixed[possible], can_hold[:, possible]
        columns, rows = can_hold.T.nonzero()
        blocks = balls.blocks[mixed]
        before = self._grid.pixels(image, blocks)
        is_self = self._inside(before, blocks, scale, shapes, rows, columns, balls.rounding)
        own = _count(self._grid.pixels(image, balls.blocks[whole])) + _count(before)
        pixels = before * ~is_self
        return SelfFilter(whole, mixed, pixels, own - _count(pixels))

    def _inside(
        self, pixels: Depth, blocks: Indices, scale: float, shapes: CameraShapes,
        rows: Indices, columns: Indices, rounding: np.float32,
    ) -> NDArray[np.bool_]:  # fmt: skip
        """(M, 64) whether pixels of blocks (M,) lie within the padding of one of the shapes `rows`
        (P,), each tried with the block at `columns` (P,), which ascend.
        """
        result = np.zeros((len(blocks), PIXELS // 8), np.uint64)
        if not len(columns):
            return result.view(np.bool_)
        depths = pixels * np.float32(scale)
        squares = shapes.pair_squares(rows, blocks[columns], depths, columns, self._grid)
        reach = shapes.radii[rows] + np.float32(self._padding)
        least, most = np.maximum(reach - rounding, np.float32(0.0)), reach + rounding
        inside = squares <= (least * least)[:, None]
        possible = squares <= (most * most)[:, None]
        if np.count_nonzero(possible) != np.count_nonzero(inside):
            pair, place = (possible != inside).nonzero()
            flat = blocks[columns[pair]] * PIXELS + place
            exact = self._grid.exact_points(pixels[columns[pair], place], flat, scale)
            distances = paired_distances(shapes.exact, exact, rows[pair])
            inside[pair, place] = distances <= self._padding
        # Of each block whether any of its shapes holds the pixel.
        first = np.flatnonzero(np.diff(columns, prepend=-1))
        result[columns[first]] = np.bitwise_or.reduceat(inside.view(np.uint64), first, axis=0)
        return result.view(np.bool_)

    def along_rays(
        self, image: Depth, scale: float, balls: Balls, bounds: Single, shapes: CameraShapes,
        noise: float,
    ) -> int:  # fmt: skip
        """Takes out of the image, too, pixels that would be within the padding if their depth z
        were changed by no more than noise * z^2 m; returns how many. Tried are half of that and all
        of it, either way.
        """
        grid = self._grid
        reach = np.float32(self._padding) + np.float32(1.5 * noise) * balls.far * balls.far
        near = np.flatnonzero(bounds.min(axis=0, initial=np.inf) <= reach)
        blocks, reach = balls.blocks[near], reach[near]
        can_hold = shapes.clipped_bounds(balls, near, grid, reach) <= reach
        pixels = grid.pixels(image, blocks)
        is_self = np.zeros(pixels.shape, np.bool_)
        for row in np.flatnonzero(can_hold.any(axis=1)):
            chosen = np.flatnonzero(can_hold[row])
            block, place = np.nonzero((pixels[chosen] > 0) & ~is_self[chosen])
            if len(block):
                at = chosen[block]
                rays = np.ones((3, len(at)), np.float32)
                rays[:2] = grid.rays[:, blocks[at]] + grid.offsets[:2, place]
                depths = pixels[at, place] * np.float32(scale)
                found = self._reaches(shapes, int(row), rays, depths, noise)
                is_self[at[found], place[found]] = True
        grid.write(image, blocks, pixels * ~is_self)
        return int(np.count_nonzero(is_self))

    def _reaches(
        self, shapes: CameraShapes, row: int, rays: Single, depths: Single, noise: float
    ) -> NDArray[np.bool_]:
        """(N,) whether points at depths (N,) m of rays (3, N), moved as `along_rays` says, come
        within the padding of a shape.
        """
        limit = (shapes.radii[row] + np.float32(self._padding)) ** 2
        result = np.zeros(len(depths), np.bool_)
        by = depths * depths * np.float32(noise)
        for step in (-1.0, -0.5, 0.5, 1.0):
            moved = rays * (depths + np.float32(step) * by)
            result |= shapes.point_squares(row, moved) <= limit
        return result


def _count(pixels: Depth) -> int:
    return int(cv2.countNonZero(pixels)) if pixels.size else 0
