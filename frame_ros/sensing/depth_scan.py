# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The least distances between a robot and all pixels of a depth image that do not show it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.sensing.depth_blocks import Balls, BlockGrid
from frame_ros.sensing.depth_camera import Depth, DepthCamera
from frame_ros.sensing.depth_edges import EdgeFilter
from frame_ros.sensing.depth_search import LeastDistances, Nearest
from frame_ros.sensing.depth_self_filter import SelfFilter, SelfFiltering
from frame_ros.sensing.depth_shapes import CameraShapes
from frame_ros.sensing.depth_tiles import TileGrid

Single = NDArray[np.float32]


@dataclass(frozen=True)
class Scan:
    """What one image gave. nearest: in the optical frame. own: pixels that show the robot."""

    nearest: Nearest
    own: int


class DepthScan:
    """Scans the images of one camera: the distances are those that a scan of all pixels of the same
    image in float64 gives. Only which pixels `noise` adds to the robot is decided in float32.
    """

    def __init__(self, camera: DepthCamera, padding: float, noise: float = 0.0) -> None:
        """padding: m; what is this near to any shape is the robot. noise: m at 1 m, see
        `SelfFiltering.along_rays`.
        """
        self.grid = BlockGrid(camera)
        self._padding, self._noise = padding, noise
        self._tiles = TileGrid(camera, self.grid)
        self._filtering = SelfFiltering(self.grid, padding)

    def run(
        self, image: Depth, scale: float, shapes: CameraShapes, edges: EdgeFilter | None = None
    ) -> Scan:
        """image: of the grid's size, 0 where invalid; used up. scale: m per unit. edges: what takes
        out pixels without support, when the robot has been taken out.
        """
        grid = self.grid
        near, far = grid.depths(image, scale)
        tiles = self._tiles.kept(near, far, shapes, self._padding, self._noise)
        balls, bounds = self._bounded(tiles.is_kept, near, far, shapes)
        found = self._filtering.run(image, scale, balls, bounds, shapes)
        bounds[:, found.whole] = np.inf
        self._renew(image, scale, balls, bounds, found, shapes)
        own = found.own
        if self._noise > 0.0:
            more = self._filtering.along_rays(image, scale, balls, bounds, shapes, self._noise)
            self._renew(image, scale, balls, bounds, more, shapes)
            own += more.own
        if edges is not None:
            grid.clear(image, balls.blocks[found.whole])
        nearest = LeastDistances(grid, image, scale, balls, shapes, edges).run(bounds)
        others = tiles.others(nearest.distances)
        if others.any():
            balls, bounds = self._bounded(others, near, far, shapes)
            search = LeastDistances(grid, image, scale, balls, shapes, edges)
            nearest = nearest.or_nearer(search.run(bounds))
        return Scan(nearest, own)

    def _bounded(
        self, is_chosen: NDArray[np.bool_], near: Single, far: Single, shapes: CameraShapes
    ) -> tuple[Balls, Single]:
        """The balls of the blocks of some tiles, and bounds (S, K) m: they are no nearer to the
        shapes.
        """
        blocks = self._tiles.blocks(is_chosen, far)
        balls = self.grid.around(blocks, near[blocks], far[blocks])
        bounds = shapes.distances(balls.centres)
        bounds -= balls.radii
        return balls, bounds

    def _renew(
        self, image: Depth, scale: float, balls: Balls, bounds: Single, found: SelfFilter,
        shapes: CameraShapes,
    ) -> None:  # fmt: skip
        """Image, balls and bounds of the mixed blocks for what they have left."""
        self.grid.write(image, balls.blocks[found.mixed], found.pixels)
        near, far = self.grid.limits(found.pixels, scale)
        is_left = far > 0
        bounds[:, found.mixed[~is_left]] = np.inf
        chosen, near, far = found.mixed[is_left], near[is_left], far[is_left]
        rest = self.grid.around(balls.blocks[chosen], near, far)
        balls.near[chosen], balls.far[chosen] = near, far
        balls.centres[:, chosen], balls.radii[chosen] = rest.centres, rest.radii
        bounds[:, chosen] = shapes.distances(rest.centres) - rest.radii
