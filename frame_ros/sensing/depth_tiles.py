# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Which parts of a depth image are worth looking at: tiles of 4 x 4 blocks, bounded as a whole.

Kept are all tiles that can show the robot, and of the others those that may be nearest to a link.
How far away the rest surely is, is kept too: what is found nearer than that is the nearest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.sensing.depth_blocks import SIDE, Balls, BlockGrid, balls_of
from frame_ros.sensing.depth_camera import DepthCamera
from frame_ros.sensing.depth_shapes import CameraShapes

Single = NDArray[np.float32]
Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]
_WIDE = 4  # blocks of a tile's edge
_MORE = 16  # tiles near each link that are kept, besides as many as can show the robot


@dataclass(frozen=True)
class KeptTiles:
    """bounds: (L, T) m, no point of a tile is nearer to a link; infinite where it has none.
    is_kept: (T,). limits: (L,) m: what is not kept is farther from the links.
    """

    bounds: Single
    is_kept: Flags
    limits: Single

    def others(self, distances: NDArray[np.float64]) -> Flags:
        """(T,) whether a tile that was not kept may hold a point nearer than distances (L,) m, NaN
        where nothing was found.
        """
        found = np.where(np.isnan(distances), np.inf, distances)
        is_open = found > self.limits
        result: Flags = np.zeros(len(self.is_kept), np.bool_)
        if is_open.any():
            bounds = self.bounds[is_open]
            is_near = (bounds <= found[is_open, None]) & (bounds < np.inf)
            result = is_near.any(axis=0) & ~self.is_kept
        return result


class TileGrid:
    """The tiles of one camera's images."""

    def __init__(self, camera: DepthCamera, grid: BlockGrid) -> None:
        self._grid = grid
        self.rows, self.columns = -(-grid.rows // _WIDE), -(-grid.columns // _WIDE)
        side = SIDE * _WIDE
        x = (np.arange(self.columns) * side + (side - 1) / 2 - camera.cx) / camera.fx
        y = (np.arange(self.rows) * side + (side - 1) / 2 - camera.cy) / camera.fy
        self._rays = np.stack((np.tile(x, self.rows), np.repeat(y, self.columns)))
        self._rays = self._rays.astype(np.float32)
        half = (side - 1) / 2
        self._reach = np.array((half / camera.fx, half / camera.fy), np.float32)
        farthest = np.abs(self._rays) + self._reach[:, None]
        self._lengths = np.sqrt(1 + (farthest * farthest).sum(axis=0))
        size = (self.rows * _WIDE, self.columns * _WIDE)
        self._far = np.zeros(size, np.float32)
        self._near = np.full(size, np.inf, np.float32)

    def kept(
        self, near: Single, far: Single, shapes: CameraShapes, padding: float, noise: float
    ) -> KeptTiles:
        """near, far: (K,) m of the blocks, 0 where no pixel is valid. padding: m, what is this near
        to a shape is the robot; so is what comes that near when its depth z is changed by noise *
        z^2 m.
        """
        balls = self._balls(near, far)
        bounds = shapes.distances(balls.centres)
        bounds -= balls.radii
        bounds[:, balls.far == 0] = np.inf
        reach = np.float32(padding) + np.float32(noise) * balls.far * balls.far * self._lengths
        is_kept = (bounds <= reach).any(axis=0)
        of_links = np.full((len(shapes.links), len(balls.far)), np.inf, np.float32)
        first = np.flatnonzero(np.diff(shapes.owners, prepend=-1))
        if len(first):
            watched = bounds[: len(shapes.owners)]
            of_links[shapes.owners[first]] = np.minimum.reduceat(watched, first, axis=0)
        count = min(int(is_kept.sum()) + _MORE, len(is_kept)) - 1
        limits = np.partition(of_links, count, axis=1)[:, count]
        is_kept |= ((of_links <= limits[:, None]) & (of_links < np.inf)).any(axis=0)
        return KeptTiles(of_links, is_kept, limits)

    def blocks(self, is_chosen: Flags, far: Single) -> Indices:
        """(C,) the blocks of some tiles, (T,), that have a valid pixel. far: (K,) m, as above."""
        tiles = is_chosen.reshape(self.rows, self.columns)
        every = tiles.repeat(_WIDE, axis=0).repeat(_WIDE, axis=1)
        inside = every[: self._grid.rows, : self._grid.columns].ravel()
        return np.flatnonzero(inside & (far > 0))

    def _balls(self, near: Single, far: Single) -> Balls:
        shape = (self._grid.rows, self._grid.columns)
        own = (slice(None, shape[0]), slice(None, shape[1]))
        self._far[own] = far.reshape(shape)
        self._near[own] = np.where(far > 0, near, np.float32(np.inf)).reshape(shape)
        most = _reduced(np.maximum, self._far)
        least = _reduced(np.minimum, self._near)
        least[most == 0] = 0.0
        return balls_of(np.arange(len(most)), self._rays.copy(), self._reach, least, most)


def _reduced(ufunc: np.ufunc, values: Single) -> Single:
    """(T,) over the blocks of each tile."""
    rows = ufunc.reduce(values.reshape(-1, _WIDE, values.shape[1]), axis=1)
    result: Single = ufunc(ufunc(rows[:, 0::4], rows[:, 1::4]), ufunc(rows[:, 2::4], rows[:, 3::4]))
    return result.ravel()
