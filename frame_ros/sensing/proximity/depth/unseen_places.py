# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Places around the robot that a depth camera did not see: hidden, behind holes, out of view."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots.shapes.link_shapes import PlacedShapes
from frame_ros.sensing.proximity.depth import unseen_kernels as kernels
from frame_ros.sensing.proximity.depth.camera import Depth, DepthCamera
from frame_ros.sensing.proximity.depth.options import DepthOptions
from frame_ros.sensing.proximity.depth.outline import outline_width
from frame_ros.sensing.proximity.depth.scan import Nearest
from frame_ros.sensing.proximity.depth.shapes import CameraShapes
from frame_ros.sensing.proximity.surroundings import SurroundingsOf
from frame_ros.sensing.proximity.unseen import Unseen

Array = NDArray[np.float64]
ROUNDING = 1e-4  # m: a place that touches its link is not within it


class UnseenPlaces:
    """Looks at the places around the links in images of one camera."""

    def __init__(self, camera: DepthCamera, settings: DepthOptions) -> None:
        """settings: hidden_size, hidden_reach and partial_margin decide on places."""
        self._settings = settings
        width = outline_width(camera, settings)
        # rad, to the nearest pixel that may count: in the diagonal of the square that is left out
        self._outline = math.sqrt(2) * (width + 1) / min(camera.fx, camera.fy) if width else 0.0
        self._lens = np.array([camera.fx, camera.fy, camera.cx, camera.cy])
        self._around = SurroundingsOf(settings.hidden_size / 2, settings.hidden_reach)
        self._normals, self._offsets = settings.half_spaces()

    def look(
        self,
        depth: Depth,
        shapes: PlacedShapes,
        seen: CameraShapes,
        rotation: Array,
        translation: Array,
        padding: float,
    ) -> Unseen | None:
        """Returns how the places were seen; None if places of no size are looked for.

        Args:
            depth: (H, W) as the camera gave it.
            shapes: of the robot, in the base frame; seen: those and a held object, as it sees them.
            rotation, translation: pose of the optical frame in the base frame.
            padding: m around the robot, of this image: what lies in it as a whole is not seen.
        """
        settings = self._settings
        if settings.hidden_size <= 0.0:
            return None
        around = self._around.get(shapes)
        points = np.empty_like(around.points)
        # `seen` has the robot's shapes first, then what it holds.
        exact = seen.exact
        kernels.place(exact.rotations, exact.translations, around.anchors, around.points, points)
        states = np.empty(len(points), np.uint8)
        # One type for the compiler, whether the image may be written or not.
        image = np.ascontiguousarray(depth).view()
        image.flags.writeable = False
        scale = 1e-3 if depth.dtype == np.uint16 else 1.0
        kernels.look(image, scale, self._lens, settings.min_range, settings.max_range,
                     settings.depth_noise, points, around.radius, states)  # fmt: skip
        kernels.mark_padded(points, around.distances, 2 * around.radius, padding,
                            settings.depth_noise, states)  # fmt: skip
        normals = np.ascontiguousarray(self._normals @ rotation)
        offsets = self._offsets - self._normals @ translation + around.radius
        kernels.leave_out(points, normals, offsets, seen.table, groups(seen.exact),
                          around.radius - ROUNDING, states)  # fmt: skip
        return Unseen(
            around, states, np.zeros(around.count, np.bool_), settings.partial_margin,
            settings.hidden_reach,
        )  # fmt: skip

    def at_padding(self, nearest: Nearest, padding: float) -> NDArray[np.bool_]:
        """Returns (L,) whether the nearest obstacle of a link begins where the robot ends: nearer
        parts of it would have been taken for the robot.

        nearest: of all links. padding: m around the robot, of this image.
        """
        settings, points = self._settings, nearest.points
        z = points[:, 2]
        ray = np.linalg.norm(points, axis=1) / z
        noise = settings.depth_noise * z**2 * ray + settings.tolerance
        blind = padding + self._outline * z + noise
        found: NDArray[np.bool_] = nearest.distances < blind
        return found


def groups(shapes: PlacedShapes) -> Array:
    """Returns (G, 6): stretches of shapes with one owner: first, one past the last, and middle and
    radius, m, of a ball around them.
    """
    if not len(shapes):
        return np.empty((0, 6))
    starts = np.flatnonzero(np.diff(shapes.owners, prepend=shapes.owners[0] - 1))
    ends = np.append(starts[1:], len(shapes))
    middles = shapes.translations
    reaches = np.linalg.norm(shapes.half_sizes, axis=1) + shapes.radii
    lower = np.minimum.reduceat(middles - reaches[:, None], starts)
    upper = np.maximum.reduceat(middles + reaches[:, None], starts)
    half = np.linalg.norm(upper - lower, axis=1) / 2
    return np.column_stack((starts, ends, (lower + upper) / 2, half))
