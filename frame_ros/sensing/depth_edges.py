# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a depth camera invents at edges, and its noise.

Where a pixel sees the rim of a thing and what is behind it, cameras give depths in between: points
that fly in empty space. So a pixel counts as an obstacle only if enough of its 8 neighbours are one
too, at about its depth: at the straight edge of a thing 5 are, at a right-angled corner 3, along a
line one pixel wide 2. Pixels that fly beside the robot's outline are alone when the robot has been
taken out. The median of a square takes most of the noise out, and leaves edges where they are.
"""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from frame_ros.sensing.depth_blocks import PIXELS, BlockGrid
from frame_ros.sensing.depth_camera import SATURATED, Depth
from frame_ros.sensing.depth_settings import DepthSettings

Indices = NDArray[np.intp]
_AROUND = 2  # pixels: the neighbours of a pixel's neighbours
_PAIRS = (
    # Two neighbouring pixels as (rows, columns) of the one and of the other.
    ((slice(None), slice(None, -1)), (slice(None), slice(1, None))),
    ((slice(None, -1), slice(None)), (slice(1, None), slice(None))),
    ((slice(None, -1), slice(None, -1)), (slice(1, None), slice(1, None))),
    ((slice(None, -1), slice(1, None)), (slice(1, None), slice(None, -1))),
)


class EdgeFilter:
    """Filters images of one camera. Owns buffers."""

    def __init__(self, settings: DepthSettings, grid: BlockGrid) -> None:
        """grid: of the images' blocks."""
        self._settings, self._grid = settings, grid
        self._mask = np.empty((grid.height, grid.width), np.bool_)

    def smooth(self, image: Depth) -> None:
        """Puts the median of its square in place of each valid pixel. image: 0 where invalid."""
        if self._settings.smoothing > 1:
            is_valid = np.greater(image, 0, out=self._mask)
            median = cv2.medianBlur(image, self._settings.smoothing)
            np.multiply(median, is_valid, out=image)

    def supported(self, image: Depth, blocks: Indices) -> Depth:
        """(K, 64) the pixels of blocks (K,), 0 for those that have too few neighbours at about
        their depth, unless one of these has enough: so things keep their rims. image: 0 where
        invalid, left as it is.
        """
        patches = self._grid.surrounded(image, blocks, _AROUND)
        upper = self._upper(patches)
        count, agreeing = np.zeros(patches.shape, np.uint8), []
        for one, other in _PAIRS:
            agree = patches[other] <= upper[one]
            agree &= patches[one] <= upper[other]
            count[one] += agree
            count[other] += agree
            agreeing.append(agree)
        # Those at the rim of a patch lack neighbours; what they say reaches no pixel of the block.
        has_support = count >= self._settings.min_support
        keep = has_support.copy()
        for (one, other), agree in zip(_PAIRS, agreeing):
            keep[one] |= agree & has_support[other]
            keep[other] |= agree & has_support[one]
        inner = slice(_AROUND, -_AROUND)
        kept: Any = patches[inner, inner] * keep[inner, inner]
        result: Depth = np.ascontiguousarray(kept.reshape(PIXELS, len(blocks)).T)
        return result

    def _upper(self, image: Depth) -> Depth:
        """The largest depth that is about that of each pixel, where it is the nearer one; below
        any depth for an invalid one.
        """
        settings = self._settings
        if image.dtype == np.float32:
            more = image * np.float32(1 + settings.relative_tolerance)
            more += np.float32(settings.tolerance)
            more *= image > 0
            return more
        # In whole 256ths, rounded down in two steps.
        whole = image.astype(np.uint32)
        upper = ((whole >> 4) * round(settings.relative_tolerance * 256)) >> 4
        upper += whole + round(settings.tolerance * 1000)
        upper *= image > 0
        clipped: NDArray[np.uint16] = np.minimum(upper, SATURATED).astype(np.uint16)
        return clipped
