# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How much of the surroundings of each link a depth camera sees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots.link_shapes import PlacedShapes
from frame_ros.sensing.depth_blocks import SIDE, BlockGrid
from frame_ros.sensing.depth_camera import Depth, DepthCamera

Array = NDArray[np.float64]


def seen_fractions(
    camera: DepthCamera, grid: BlockGrid, image: Depth, shapes: PlacedShapes, surroundings: float
) -> Array:
    """(L,) share of the pixels around each link that are valid; NaN for a link out of view.

    Around a link: the squares that hold the pictures of balls, three in each of its shapes'
    enclosing capsules, larger by `surroundings` m. Counted in whole blocks, and only what lies
    within the picture. image: of the grid's size, 0 where invalid. shapes: in the optical frame.
    """
    watched = shapes.watched()
    starts, ends, radii = watched.enclosing()
    centres = np.concatenate((starts, (starts + ends) / 2, ends))
    reach = np.tile(radii + surroundings, 3)
    is_before = centres[:, 2] > reach
    z = np.where(is_before, centres[:, 2], 1.0)
    x, y = centres[:, 0] / z * camera.fx + camera.cx, centres[:, 1] / z * camera.fy + camera.cy
    wide, high = reach / z * camera.fx, reach / z * camera.fy
    left, right = _interval(x - wide, x + wide, camera.width, grid.columns)
    top, bottom = _interval(y - high, y + high, camera.height, grid.rows)
    sums = np.zeros((grid.rows + 1, grid.columns + 1))
    sums[1:, 1:] = grid.counts(image).cumsum(axis=0).cumsum(axis=1)
    valid = sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left]
    every = (right - left) * (bottom - top) * float(SIDE * SIDE) * is_before
    owners = np.tile(watched.owners, 3)
    count = len(shapes.links)
    of_links = np.bincount(owners, valid * is_before, count), np.bincount(owners, every, count)
    with np.errstate(invalid='ignore'):
        result: Array = of_links[0] / of_links[1]
    return result


def _interval(
    first: Array, last: Array, pixels: int, blocks: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The blocks, as a half-open interval, that hold pixels `first` to `last`; empty where those
    lie outside the picture.
    """
    is_inside = (last >= 0.0) & (first <= pixels - 1.0)
    begin = np.clip(np.floor(first / SIDE), 0, blocks).astype(np.intp)
    end = np.clip(np.floor(last / SIDE) + 1, 0, blocks).astype(np.intp)
    return begin, np.where(is_inside, end, begin)
