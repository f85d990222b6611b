# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Which pixels of a depth image have a depth within range, and which of those lie in the space that
is looked at.

That space is an intersection of half spaces, so along the ray of each pixel it is one interval of
depths. The intervals are kept while the camera stays where it is.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from frame_ros.sensing.depth_camera import SATURATED, Depth, DepthCamera

Array = NDArray[np.float64]
Single = NDArray[np.float32]


class DepthRange:
    """Pixels within the camera's range; the rest becomes 0.

    scale_of: m per unit of images, by their type.
    """

    def __init__(self, min_range: float, max_range: float) -> None:
        """m along the optical axis."""
        self._low, self._high = min_range, max_range
        self._low_units = int(np.ceil(min_range * 1000 - 1e-9))
        self._high_units = min(int(np.floor(max_range * 1000 + 1e-9)), SATURATED - 1)

    def apply(self, depth: Depth, out: Depth) -> None:
        """Copies the valid pixels of `depth` into `out`, of the same shape and type."""
        if depth.dtype == np.uint16:
            cv2.threshold(depth, self._high_units, 0, cv2.THRESH_TOZERO_INV, dst=out)
            cv2.threshold(out, self._low_units - 1, 0, cv2.THRESH_TOZERO, dst=out)
            return
        # Comparisons with NaN are false.
        np.copyto(out, np.float32(0.0))
        is_valid = (depth >= np.float32(self._low)) & (depth <= np.float32(self._high))
        np.copyto(out, depth, where=is_valid)


class DepthCrop:
    """Takes out what lies outside an intersection of half spaces."""

    def __init__(
        self, camera: DepthCamera, normals: Array, offsets: Array, noise: float = 0.0
    ) -> None:
        """normals (P, 3), offsets (P,) m, in the base frame: normal . p > offset counts. noise: m
        at 1 m; a pixel that would lie outside if its depth z were larger by noise * z^2 does too.
        """
        self._noise = noise
        self._rays = camera.rays()
        self._normals, self._offsets = normals, offsets
        self._pose: Array | None = None
        self._bounds: dict[np.dtype[np.generic], tuple[Depth, Depth]] = {}
        self._mask = np.empty((camera.height, camera.width), np.uint8)

    @property
    def is_limited(self) -> bool:
        """Whether there is any half space."""
        return bool(len(self._offsets))

    def apply(self, image: Depth, rotation: Array, translation: Array) -> None:
        """Sets to 0 what lies outside. rotation (3, 3), translation (3,) m: pose of the camera."""
        lower, upper = self._limits(image.dtype, rotation, translation)
        mask = cv2.inRange(image, lower, upper, dst=self._mask)
        np.multiply(image, mask > 0, out=image)

    def _limits(
        self, kind: np.dtype[np.generic], rotation: Array, translation: Array
    ) -> tuple[Depth, Depth]:
        pose = np.concatenate((np.ravel(rotation), np.ravel(translation)))
        if self._pose is None or not np.array_equal(pose, self._pose):
            self._pose, self._bounds = pose, {}
        if kind not in self._bounds:
            near, far = self._intervals(rotation, translation)
            self._bounds[kind] = _in_units(near, far) if kind == np.uint16 else (near, far)
        return self._bounds[kind]

    def _intervals(self, rotation: Array, translation: Array) -> tuple[Single, Single]:
        """(H, W) each, m: between which depths a pixel lies inside; none where they are crossed."""
        x, y = (ray.astype(np.float32) for ray in self._rays)
        near = np.zeros((len(y), len(x)), np.float32)
        far = np.full((len(y), len(x)), np.inf, np.float32)
        normals = (self._normals @ rotation).astype(np.float32)
        offsets = (self._offsets - self._normals @ translation).astype(np.float32)
        for (a, b, c), offset in zip(normals, offsets):
            slope = (b * y + c)[:, None] + a * x
            with np.errstate(divide='ignore', invalid='ignore'):
                border = offset / slope
            # Where the ray runs along the plane all of it lies on one side.
            np.nan_to_num(border, copy=False, nan=np.inf, posinf=np.inf, neginf=-np.inf)
            np.maximum(near, np.where(slope > 0, border, near), out=near)
            np.minimum(far, np.where(slope < 0, border, far), out=far)
            if offset >= 0:
                far[slope == 0] = 0.0
        if self._noise > 0.0:
            with np.errstate(over='ignore'):
                twice = np.float32(2.0 * self._noise)
                far = (np.sqrt(np.float32(1.0) + np.float32(2.0) * twice * far) - 1) / twice
        return near, far


def _in_units(near: Single, far: Single) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """The least and largest mm strictly between the borders."""
    lower = np.clip(np.floor(near * np.float32(1000.0)) + 1, 0, SATURATED)
    upper = np.clip(np.ceil(far * np.float32(1000.0)) - 1, 0, SATURATED)
    return lower.astype(np.uint16), upper.astype(np.uint16)
