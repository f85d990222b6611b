# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The outline of the robot in a depth image, about which a camera mixes robot and background.

A stereo camera matches windows: where a window holds the robot's rim, it gives what is behind the
robot's depth or one in between, several pixels wide and as smooth as a surface. No filter by
neighbours distinguishes that from an obstacle. So what is that near to the robot in the image
counts only if it is nearer to the camera than the robot is.
"""

from __future__ import annotations

import math
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from frame_ros.sensing.proximity.depth.camera import Depth, DepthCamera
from frame_ros.sensing.proximity.depth.options import DepthOptions

Image = NDArray[np.float32]
Mask = NDArray[np.bool_]


def outline_width(camera: DepthCamera, settings: DepthOptions, step: int = 1) -> int:
    """Returns the pixels about the robot in which it may be mixed, in every `step`th pixel."""
    return math.ceil(settings.outline * max(camera.fx, camera.fy) / step)


def mixed_pixels(depth: Any, own: Mask, width: int, padding: float, noise: float) -> Mask:
    """Returns (H, W) pixels that count for nothing: those within a square of `width` pixels each
    way about the robot's, unless they are nearer to the camera than those, by more than `padding`
    and the noise.

    Args:
        depth: (H, W) m, along the optical axis, with the robot; 0 where invalid.
        own: (H, W) pixels that show the robot.
        padding: m about the robot.
        noise: m, error of a depth of 1 m, as of `DepthOptions`.
    """
    found = np.zeros(own.shape, np.bool_)
    part, limits = _limits(depth, own, width, padding, noise)
    found[part] = depth[part] > limits
    return found


def _limits(
    depth: Any, own: Mask, width: int, padding: float, noise: float
) -> tuple[tuple[slice, slice], Image]:
    """Returns the rows and columns of everything within `width` of the robot, and of each pixel of
    those the depth, m, beyond which it is mixed; infinite for the robot and what is away from it.

    The arguments are as for `mixed_pixels`.
    """
    part = _around(own, width)
    z, is_robot = depth[part], own[part]
    if not z.size:
        return part, np.empty(z.shape, np.float32)
    side = 2 * width + 1
    inverse = np.where(is_robot, 1.0 / np.maximum(z, 1e-3), 0.0).astype(np.float32)
    nearest = cv2.dilate(inverse, np.ones((side, side), np.uint8))
    robot = 1.0 / np.maximum(nearest, 1e-6)
    ahead = padding + noise * robot * robot
    is_free = is_robot | (nearest <= 0.0)
    return part, np.where(is_free, np.inf, np.maximum(robot - ahead, 0.0)).astype(np.float32)


def _around(own: Mask, width: int) -> tuple[slice, slice]:
    """Returns the rows and columns of everything within `width` of the robot."""
    parts = []
    for axis in (1, 0):
        where = np.flatnonzero(own.any(axis=axis))
        low, high = (int(where[0]), int(where[-1]) + 1 + width) if len(where) else (0, 0)
        parts.append(slice(max(0, low - width), high))
    return parts[0], parts[1]


class OutlineFilter:
    """Takes the pixels that are mixed with the robot out of one camera's images.

    Not thread-safe: it owns a buffer. width: pixels about the robot.
    """

    def __init__(self, camera: DepthCamera, settings: DepthOptions) -> None:
        """settings: outline, 0: nothing is taken out."""
        self.width, self._noise = outline_width(camera, settings), settings.depth_noise
        self._whole: Image = np.empty((0, 0), np.float32)
        self._mixed: Mask | None = None
        self._part = slice(0), slice(0)
        self._limits: Image = np.empty((0, 0), np.float32)

    def keep(self, image: Image) -> None:
        """Remembers an image, 0 where invalid, from which the robot is taken out next."""
        if self.width:
            if self._whole.shape != image.shape:
                self._whole = np.empty_like(image)
            np.copyto(self._whole, image)

    def take_out(self, image: Image, scale: float, padding: float) -> None:
        """Sets pixels of the image, of which the robot's are 0 by now, to 0.

        Args:
            scale: m per unit of the image.
            padding: m about the robot.
        """
        self._mixed = None
        if self.width:
            own = (self._whole > 0.0) & (image == 0.0)
            depth = self._whole * np.float32(scale)
            self._part, self._limits = _limits(depth, own, self.width, padding, self._noise)
            self._mixed = np.zeros(own.shape, np.bool_)
            self._mixed[self._part] = depth[self._part] > self._limits
            image[self._mixed] = 0.0

    def without(self, depth: Depth) -> Depth:
        """Returns the camera's image (H, W), 0 where the latest `take_out` took pixels out."""
        if self._mixed is None:
            return depth
        rows, columns = depth.shape
        return np.where(self._mixed[:rows, :columns], depth.dtype.type(0), depth)

    def is_mixed(
        self, rows: NDArray[np.intp], columns: NDArray[np.intp], depths: NDArray[np.float64]
    ) -> Mask:
        """Returns (K,) whether pixels are mixed with the robot of the latest `take_out`.

        depths: (K,) m, of the camera's image: something thin before the robot is not in a smoothed
            one.
        """
        found = np.zeros(len(rows), np.bool_)
        if self._mixed is None:
            return found
        down, across = rows - self._part[0].start, columns - self._part[1].start
        height, width = self._limits.shape
        inside = (down >= 0) & (down < height) & (across >= 0) & (across < width)
        found[inside] = depths[inside] > self._limits[down[inside], across[inside]]
        return found
