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

import cv2
import numpy as np
from numpy.typing import NDArray

from frame_ros.sensing.depth_camera import Depth
from frame_ros.sensing.depth_settings import DepthSettings

_PAIRS = (
    # Two neighbouring pixels as (rows, columns) of the one and of the other.
    ((slice(None), slice(None, -1)), (slice(None), slice(1, None))),
    ((slice(None, -1), slice(None)), (slice(1, None), slice(None))),
    ((slice(None, -1), slice(None, -1)), (slice(1, None), slice(1, None))),
    ((slice(None, -1), slice(1, None)), (slice(1, None), slice(None, -1))),
)


class EdgeFilter:
    """Filters images of one size. Owns buffers."""

    def __init__(self, settings: DepthSettings, shape: tuple[int, int]) -> None:
        """shape: (rows, columns) of the images."""
        self._settings = settings
        self._count = np.empty(shape, np.uint8)
        self._mask = np.empty(shape, np.bool_)
        self._keep = np.empty(shape, np.bool_)
        self._agree = [np.empty(shape, np.bool_) for _ in _PAIRS]

    def smooth(self, image: Depth) -> None:
        """Puts the median of its square in place of each valid pixel. image: 0 where invalid."""
        if self._settings.smoothing > 1:
            is_valid = np.greater(image, 0, out=self._mask)
            median = cv2.medianBlur(image, self._settings.smoothing)
            np.multiply(median, is_valid, out=image)

    def keep_supported(self, image: Depth) -> None:
        """Takes out pixels that have too few neighbours at about their depth, unless one of these
        has enough: so things keep their rims. image: 0 where invalid.
        """
        if not self._settings.min_support:
            return
        upper = self._upper(image)
        count, keep = self._count, self._keep
        count[:] = 0
        for (one, other), agree in zip(_PAIRS, self._agree):
            np.less_equal(image[other], upper[one], out=agree[one])
            agree[one] &= np.less_equal(image[one], upper[other], out=self._mask[one])
            count[one] += agree[one]
            count[other] += agree[one]
        has_support = np.greater_equal(count, self._settings.min_support, out=self._mask)
        keep[:] = has_support
        for (one, other), agree in zip(_PAIRS, self._agree):
            keep[one] |= agree[one] & has_support[other]
            keep[other] |= agree[one] & has_support[one]
        np.multiply(image, keep, out=image)

    def _upper(self, image: Depth) -> Depth:
        """The largest depth that is about that of each pixel, where it is the nearer one."""
        settings = self._settings
        if image.dtype == np.float32:
            more = image * np.float32(1 + settings.relative_tolerance)
            more += np.float32(settings.tolerance)
            return more
        # In whole 256ths, in 16 bits.
        share = np.uint16(min(round(settings.relative_tolerance * 256), 15))
        whole: NDArray[np.uint16] = image.astype(np.uint16, copy=False)
        upper: NDArray[np.uint16] = whole >> np.uint16(4)
        upper *= share
        upper >>= np.uint16(4)
        upper += whole
        upper += np.uint16(round(settings.tolerance * 1000))
        return upper
