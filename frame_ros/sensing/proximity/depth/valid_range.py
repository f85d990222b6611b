# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The pixels of a depth image with a depth within range."""

from __future__ import annotations

import numpy as np

from frame_ros.sensing.proximity.depth.camera import SATURATED, Depth
from frame_ros.sensing.proximity.depth.image_kernels import keep_range


class DepthRange:
    """Pixels within the camera's range; the rest becomes 0."""

    def __init__(self, min_range: float, max_range: float) -> None:
        """m along the optical axis."""
        low = int(np.ceil(min_range * 1000 - 1e-9))
        high = min(int(np.floor(max_range * 1000 + 1e-9)), SATURATED - 1)
        self._in_units = np.uint16(max(low, 1)), np.uint16(high)
        self._in_metres = np.float32(min_range), np.float32(max_range)

    def apply(self, depth: Depth, out: Depth) -> int:
        """Copies the valid pixels of `depth` into `out`; returns their number."""
        # One type for the compiler, whether the image may be written or not.
        image = np.ascontiguousarray(depth).view()
        image.flags.writeable = False
        low, high = self._in_units if depth.dtype == np.uint16 else self._in_metres
        return int(keep_range(image, low, high, out))
