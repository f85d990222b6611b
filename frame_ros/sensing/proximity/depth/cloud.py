# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Some of the points of a depth image, for display, each with its classification."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ValueRangeError
from frame_ros.robots.shapes.link_shapes import PlacedShapes
from frame_ros.sensing.proximity.depth.camera import SATURATED, Depth, DepthCamera
from frame_ros.sensing.proximity.depth.options import DepthOptions
from frame_ros.sensing.proximity.depth.outline import mixed_pixels, outline_width
from frame_ros.sensing.proximity.depth.shapes import CameraShapes

Array = NDArray[np.float64]
OBSTACLE, SELF, CROPPED = 0, 1, 2


@dataclass(frozen=True)
class MarkedCloud:
    """Classified points.

    Attributes:
        points: (N, 3) float32, m, in the base frame.
        marks: (N,) uint8: OBSTACLE; SELF, the robot, its held object and
            what is mixed with its outline; CROPPED, outside the
            observed space.
    """

    points: NDArray[np.float32]
    marks: NDArray[np.uint8]


def marked_cloud(
    camera: DepthCamera,
    settings: DepthOptions,
    depth: Depth,
    shapes: PlacedShapes,
    rotation: Array,
    translation: Array,
    held: PlacedShapes | None = None,
    step: int = 8,
    padding: float | None = None,
    is_own: NDArray[np.bool_] | None = None,
) -> MarkedCloud:
    """Returns the valid pixels of every `step`th row and column.

    is_own: (H, W) further pixels that show the robot. The other arguments are as for
    DepthProximity.measure; pixels are used without the filter of edges.

    Raises:
        DepthError: the image is not of the camera's size or of another type.
        ValueRangeError: step is below 1.
    """
    if step < 1:
        raise ValueRangeError(f'every {step}th pixel cannot be shown, step is 1 or more')
    chosen = camera.checked(depth)[::step, ::step]
    z = chosen * np.float32(1e-3 if chosen.dtype == np.uint16 else 1.0)
    with np.errstate(invalid='ignore'):
        is_valid = (z >= settings.min_range) & (z <= settings.max_range)
    if chosen.dtype == np.uint16:
        is_valid &= chosen < SATURATED
    rows, columns = np.nonzero(is_valid)
    x, y = (ray[::step].astype(np.float32) for ray in camera.rays())
    seen = z[rows, columns]
    local = np.stack((seen * x[columns], seen * y[rows], seen), axis=1).astype(np.float32)
    points = local @ rotation.T.astype(np.float32) + translation.astype(np.float32)
    marks = np.full(len(points), OBSTACLE, np.uint8)
    normals, offsets = settings.half_spaces()
    marks[(points @ normals.T <= offsets).any(axis=1)] = CROPPED
    nearest = CameraShapes(shapes, rotation, translation, held).distances(local)
    marks[nearest <= (settings.padding if padding is None else padding)] = SELF
    if is_own is not None:
        marks[is_own[::step, ::step][rows, columns]] = SELF
    width = outline_width(camera, settings, step)
    if width:
        own = np.zeros(z.shape, np.bool_)
        own[rows, columns] = marks == SELF
        around = settings.padding if padding is None else padding
        mixed = mixed_pixels(z, own, width, around, settings.depth_noise)[rows, columns]
        marks[mixed & (marks == OBSTACLE)] = SELF
    return MarkedCloud(points.astype(np.float32), marks)
