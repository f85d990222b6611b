# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Visibility of surface points to a camera: the truth for measured distances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.scenes.simulation.rendering import Intrinsics

Array = NDArray[np.float64]


@dataclass(frozen=True)
class VisibilityRule:
    """The rule by which a point of an object counts as seen.

    Among the 3 x 3 pixels about its projection, at least `least_pixels` must show that object at a
    place no further than `tolerance` (m) and one and a half pixels' width from the point. So a
    point that is hidden, outside the picture, on a side that is turned away, or on a corner of only
    one pixel, is not seen.
    """

    tolerance: float = 0.005
    least_pixels: int = 3


def visible_points(
    points: Array,
    bodies: NDArray[np.int64],
    depth: NDArray[np.float32],
    segmentation: NDArray[np.int32],
    camera: Intrinsics,
    position: Array,
    rotation: Array,
    rule: VisibilityRule | None = None,
    valid: NDArray[np.bool_] | None = None,
) -> NDArray[np.bool_]:
    """Returns (N,) whether each of the points (N, 3) m on bodies (N,) ids is seen.

    Args:
        depth: (H, W) m, without noise.
        segmentation: (H, W) body ids.
        position, rotation: (3,) m and (3, 3), of the camera's optical frame, in the frame of the
            points.
        valid: (H, W) pixels that count; None: all.
    """
    rule = rule or VisibilityRule()
    height, width = depth.shape
    local = (np.asarray(points, np.float64) - position) @ rotation
    seen = np.zeros(len(local), np.bool_)
    for row, (x, y, z) in enumerate(local):
        if not z > 0:  # behind the camera, or not known
            continue
        u, v = camera.focal * x / z + camera.cx, camera.focal * y / z + camera.cy
        column, line = round(u), round(v)
        if not (0 <= column < width and 0 <= line < height):
            continue
        rows = slice(max(0, line - 1), line + 2)
        columns = slice(max(0, column - 1), column + 2)
        lines, across = np.mgrid[rows.start : min(height, rows.stop),
                                 columns.start : min(width, columns.stop)]  # fmt: skip
        near = depth[rows, columns].astype(np.float64)
        offsets = np.stack(
            (
                (across - camera.cx) * near / camera.focal - x,
                (lines - camera.cy) * near / camera.focal - y,
                near - z,
            )
        )
        reach = rule.tolerance + 1.5 * z / camera.focal
        is_there = np.linalg.norm(offsets, axis=0) <= reach
        is_it = segmentation[rows, columns] == bodies[row]
        if valid is not None:
            is_it &= valid[rows, columns]
        seen[row] = np.count_nonzero(is_there & is_it) >= rule.least_pixels
    return seen
