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
_ZERO = np.float32(0.0)
_STEPS = np.array((-1.0, -0.5, 0.5, 1.0), np.float32)[:, None]


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
        columns, rows = (bounds[:, ~is_whole] <= limit).T.nonzero()
        limits = np.full(len(rows), limit)
        is_near = shapes.lower_bounds(rows, mixed[columns], balls, self._grid, limits) <= limit
        rows, columns = rows[is_near], columns[is_near]
        is_first = np.diff(columns, prepend=-1) > 0
        mixed, columns = mixed[columns[is_first]], is_first.cumsum() - 1
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
        first = np.flatnonzero(np.diff(columns, prepend=-1))
        result[columns[first]] = _joined(inside, first)
        return result.view(np.bool_)

    def along_rays(
        self, image: Depth, scale: float, balls: Balls, bounds: Single, shapes: CameraShapes,
        noise: float,
    ) -> SelfFilter:  # fmt: skip
        """Pixels that would be within the padding if their depth z were changed by no more than
        noise * z^2 m, too. Tried are half of that and all of it, either way. Arguments as of `run`,
        for what that has left.
        """
        grid, limit = self._grid, np.float32(self._padding)
        by = np.float32(noise) * balls.far * balls.far
        reach = limit + by * grid.lengths[balls.blocks]
        near = np.flatnonzero(bounds.min(axis=0, initial=np.inf) <= reach)
        columns, rows = (bounds[:, near] <= reach[near]).T.nonzero()
        by, blocks = by[near], balls.blocks[near]
        least, most = np.maximum(balls.near[near] - by, _ZERO), balls.far[near] + by
        moved = Balls(blocks, least, most, balls.centres[:, near], balls.radii[near],
                      np.float32(2.0) * balls.rounding)  # fmt: skip
        bounds = shapes.lower_bounds(rows, columns, moved, grid, np.full(len(rows), limit))
        is_near = bounds <= limit
        rows, columns = rows[is_near], columns[is_near]
        first = np.flatnonzero(np.diff(columns, prepend=-1))
        chosen = columns[first]
        before = grid.pixels(image, blocks[chosen])
        places = np.searchsorted(chosen, columns)
        inside = self._inside_moved(before, blocks, scale, shapes, rows, columns, places, noise)
        pixels = before * ~_joined(inside, first).view(np.bool_)
        return SelfFilter(near[:0], near[chosen], pixels, _count(before) - _count(pixels))

    def _inside_moved(
        self, pixels: Depth, blocks: Indices, scale: float, shapes: CameraShapes, rows: Indices,
        columns: Indices, places: Indices, noise: float,
    ) -> NDArray[np.bool_]:  # fmt: skip
        """(P, 64) whether pixels[places], of blocks[columns], moved as `along_rays` says, come
        within the padding of shapes `rows`, (P,) all.
        """
        limits = ((shapes.radii[rows] + np.float32(self._padding)) ** 2)[:, None, None]
        depths = (pixels * np.float32(scale))[:, None]
        moved = np.maximum(depths + _STEPS * np.float32(noise) * depths * depths, _ZERO)
        moved = moved.reshape(len(pixels), len(_STEPS) * PIXELS)
        squares = shapes.pair_squares(rows, blocks[columns], moved, places, self._grid)
        is_inside = squares.reshape(len(rows), len(_STEPS), PIXELS) <= limits
        result: NDArray[np.bool_] = np.logical_or.reduce(is_inside, axis=1)
        return result


def _joined(inside: NDArray[np.bool_], first: Indices) -> NDArray[np.uint64]:
    """(B, 8) of rows (P, 64), in groups that begin at `first` (B,), whether any is true; packed."""
    if not len(first):
        return np.zeros((0, PIXELS // 8), np.uint64)
    return np.bitwise_or.reduceat(inside.view(np.uint64), first, axis=0)


def _count(pixels: Depth) -> int:
    return int(cv2.countNonZero(pixels)) if pixels.size else 0
