# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The share of each link's surroundings that a depth camera sees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots.shapes.link_shapes import PlacedShapes
from frame_ros.sensing.proximity.depth.camera import DepthCamera
from frame_ros.sensing.proximity.depth.image_kernels import count_squares
from frame_ros.sensing.proximity.depth.kernels import SIDE

Array = NDArray[np.float64]


def seen_fractions(
    camera: DepthCamera, counts: NDArray[np.int32], shapes: PlacedShapes, surroundings: float
) -> Array:
    """Returns (L,) share of valid pixels around each link; NaN for a link out of view.

    Around a link: the squares that hold the pictures of balls, three in each of its shapes'
    enclosing capsules, larger by `surroundings` m. Counted in whole blocks, and only what lies
    within the picture.

    Args:
        counts: (R, C) valid pixels of each block.
        shapes: in the optical frame.
    """
    watched = shapes.watched()
    starts, ends, radii = watched.enclosing()
    centres = np.concatenate((starts, (starts + ends) / 2, ends))
    reach = np.tile(radii + surroundings, 3)
    is_before = centres[:, 2] > reach
    z = np.where(is_before, centres[:, 2], 1.0)
    x, y = centres[:, 0] / z * camera.fx + camera.cx, centres[:, 1] / z * camera.fy + camera.cy
    wide, high = reach / z * camera.fx, reach / z * camera.fy
    found = np.empty((2, len(shapes.links)))
    owners = np.tile(watched.owners, 3)[is_before]
    reaches = np.stack((wide[is_before], high[is_before]))
    count_squares(counts, SIDE, camera.width, camera.height, x[is_before], y[is_before], reaches,
                  owners, found)  # fmt: skip
    with np.errstate(invalid='ignore'):
        result: Array = found[0] / found[1]
    return result
