# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Artefacts of depth cameras at edges, and their noise.

Where a pixel sees the rim of an object and its background, cameras report depths in between: points
in empty space. So a pixel counts as an obstacle only if enough of its 8 neighbours are one too, at
about its depth: at a straight edge 5 are, at a right-angled corner 3, along a line one pixel wide
2. Isolated pixels along the robot's outline are alone once the robot has been removed. The median
of a square removes most of the noise, and leaves edges where they are.
"""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from frame_ros.sensing.proximity.depth.options import DepthOptions


class EdgeFilter:
    """Filters images of one camera."""

    def __init__(self, settings: DepthOptions) -> None:
        self._settings = settings

    def smoothed(self, image: Any) -> Any:
        """Returns the median of the square around each pixel, or the image itself. image: (H, W)
        uint16 or float32, 0 where invalid, where the median means nothing.
        """
        side = self._settings.smoothing
        return cv2.medianBlur(image, side) if side > 1 else image

    def support(self, kind: np.dtype[np.generic]) -> NDArray[np.float64]:
        """Returns (4,) for the compiled loops: when a pixel of uint16 (mm) or float32 (m) has
        enough neighbours at about its depth.
        """
        settings = self._settings
        if kind == np.float32:
            values = (1.0 + settings.relative_tolerance, settings.tolerance, 0.0)
        else:
            share = round(settings.relative_tolerance * 256)
            values = (float(share), float(round(settings.tolerance * 1000)), 1.0)
        return np.array((settings.min_support, *values), np.float64)
