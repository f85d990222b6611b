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

Single = NDArray[np.float32]


@dataclass(frozen=True)
class Scan:
    """What one image gave. nearest: in the optical frame. own: pixels that show the robot."""

    nearest: Nearest
    own: int


class DepthScan:
    """Scans the images of one camera, exactly: as a scan of all pixels in float64 would."""

    def __init__(self, camera: DepthCamera, padding: float, noise: float = 0.0) -> None:
        """padding: m; what is this near to any shape is the robot. noise: m at 1 m, see
        `SelfFiltering.along_rays`.
        """
        self.grid = BlockGrid(camera)
        self._noise = noise
        self._filtering = SelfFiltering(self.grid, padding)

    def run(
        self, image: Depth, scale: float, shapes: CameraShapes, edges: EdgeFilter | None = None
    ) -> Scan:
        """image: of the grid's size, 0 where invalid; used up. scale: m per unit. edges: what takes
        out pixels without support, when the robot has been taken out.
        """
        grid = self.grid
        balls, bounds = self._bounded(image, scale, shapes)
        found = self._filtering.run(image, scale, balls, bounds, shapes)
        grid.write(image, balls.blocks[found.mixed], found.pixels)
        bounds[:, found.whole] = np.inf
        self._renew(balls, bounds, found, scale, shapes)
        own = found.own
        if self._noise > 0.0:
            own += self._filtering.along_rays(image, scale, balls, bounds, shapes, self._noise)
        if edges is not None or self._noise > 0.0:
            grid.clear(image, balls.blocks[found.whole])
            if edges is not None:
                edges.keep_supported(image)
            balls, bounds = self._bounded(image, scale, shapes)
        return Scan(LeastDistances(grid, image, scale, balls, shapes).run(bounds), own)

    def _bounded(self, image: Depth, scale: float, shapes: CameraShapes) -> tuple[Balls, Single]:
        """The balls of the blocks, and bounds (S, K) m: they are no nearer to the shapes."""
        balls = self.grid.balls(image, scale)
        bounds = shapes.distances(balls.centres)
        bounds -= balls.radii
        bounds[:, np.flatnonzero(balls.far == 0)] = np.inf
        return balls, bounds

    def _renew(
        self, balls: Balls, bounds: Single, found: SelfFilter, scale: float, shapes: CameraShapes
    ) -> None:
        """Balls and bounds of the mixed blocks for what they have left."""
        near, far = self.grid.limits(found.pixels, scale)
        is_left = far > 0
        bounds[:, found.mixed[~is_left]] = np.inf
        chosen, near, far = found.mixed[is_left], near[is_left], far[is_left]
        rest = self.grid.around(balls.blocks[chosen], near, far)
        balls.near[chosen], balls.far[chosen] = near, far
        balls.centres[:, chosen], balls.radii[chosen] = rest.centres, rest.radii
        bounds[:, chosen] = shapes.distances(rest.centres) - rest.radii
