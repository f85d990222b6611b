# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A calibrated camera: points of the scene to pixels, with the distortion of its lens."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import attrs
import cv2
import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ValueRangeError
from frame_ros.robots.motion import rotation_of
from frame_ros.scenes.cards.outlines import convex_hull
from frame_ros.scenes.description.scene import SceneCamera
from frame_ros.sensing.proximity.depth.rectified import FISHEYE, MODELS

Array = NDArray[np.float64]
NEAR = 0.01  # m before the camera, nearer than which nothing is drawn
_FAR_ANGLE = 8.0  # tangent of the widest angle that a lens is looked at for


@attrs.frozen(kw_only=True, eq=False)
class Lens:
    """The intrinsics of a camera, as sensor_msgs/CameraInfo has them.

    Attributes:
        width, height: pixels.
        matrix: (3, 3), K; the middle of the first pixel is 0, 0.
        distortion: coefficients, none: a pinhole camera.
        model: one of MODELS.
    """

    width: int
    height: int
    matrix: Array
    distortion: Array = attrs.field(factory=lambda: np.empty(0))
    model: str = 'plumb_bob'

    def __attrs_post_init__(self) -> None:
        """Raises ValueRangeError for an impossible camera."""
        if self.width < 1 or self.height < 1:
            raise ValueRangeError(
                f'the camera has {self.width}x{self.height} pixels; there must be some'
            )
        matrix = self.matrix
        if matrix.shape != (3, 3) or not np.isfinite(matrix).all():
            raise ValueRangeError(f'K is {matrix.tolist()}; it must be 3 x 3 finite numbers')
        if matrix[0, 0] <= 0 or matrix[1, 1] <= 0:
            raise ValueRangeError(
                f'K has the focal lengths {matrix[0, 0]} and {matrix[1, 1]}; those of a calibrated '
                'camera are above 0'
            )
        if self.is_distorted and len(self.distortion) not in MODELS.get(self.model, ()):
            counts = '; '.join(f'{n}: {"/".join(map(str, c))}' for n, c in MODELS.items())
            raise ValueRangeError(
                f'the distortion is {self.model!r} with {len(self.distortion)} coefficients; known '
                f'are {counts}'
            )
        if not np.isfinite(self.distortion).all():
            raise ValueRangeError(
                f'the distortion is {self.distortion.tolist()}; it must be finite'
            )

    @property
    def is_distorted(self) -> bool:
        """True if lines are bent."""
        return bool(np.any(self.distortion))

    def pixels(self, points: Array) -> Array:
        """Returns (N, 2) pixels of points (N, 3) m before the camera, in its optical frame."""
        if not len(points):
            return np.empty((0, 2))
        if not self.is_distorted:
            flat = points @ self.matrix.T
            return np.asarray(flat[:, :2] / flat[:, 2:])
        project = cv2.fisheye.projectPoints if self.model in FISHEYE else cv2.projectPoints
        shaped = np.ascontiguousarray(points, np.float64).reshape(-1, 1, 3)
        found, _ = project(shaped, np.zeros(3), np.zeros(3), self.matrix, self.distortion)
        return np.asarray(found, np.float64).reshape(-1, 2)

    @cached_property
    def widest(self) -> float:
        """Tangent of the angle from the axis up to which the lens's formula goes outwards; beyond
        it, points would fold back into the picture.
        """
        if not self.is_distorted:
            return math.inf
        radii = np.linspace(0.0, _FAR_ANGLE, 801)
        points = np.column_stack((radii, np.zeros_like(radii), np.ones_like(radii)))
        rising = np.diff(self.pixels(points)[:, 0]) > 0
        return float(radii[-1] if rising.all() else radii[int(np.argmin(rising))])


def lens_of(camera: SceneCamera) -> Lens:
    """Returns the lens of a scene's camera.

    Raises:
        ValueRangeError: its intrinsics are not known.
    """
    if not (camera.width and camera.height and camera.focal and camera.centre):
        raise ValueRangeError(
            f'width, height, focal and centre of the camera {camera.name} must be known'
        )
    (fx, fy), (cx, cy) = camera.focal, camera.centre
    matrix = np.array(((fx, 0.0, cx), (0.0, fy, cy), (0.0, 0.0, 1.0)))
    return Lens(width=camera.width, height=camera.height, matrix=matrix)


def lens_of_info(info: Any, is_rectified: bool = False) -> Lens:
    """Returns the lens of a sensor_msgs/CameraInfo, or anything with its fields.

    is_rectified: the pictures are those of the pinhole camera P.

    Raises:
        ValueRangeError: it describes no calibrated camera.
    """
    model = info.distortion_model or 'plumb_bob'
    matrix, distortion = np.array(info.k, np.float64), np.array(info.d, np.float64)
    if is_rectified:
        projection = np.array(info.p, np.float64).reshape(3, 4)[:, :3]
        matrix = projection.ravel() if projection[0, 0] > 0 else matrix
        distortion = np.empty(0)
    if matrix.size != 9:
        raise ValueRangeError(f'K has {matrix.size} numbers; it must have 9')
    return Lens(
        width=int(info.width), height=int(info.height), matrix=matrix.reshape(3, 3),
        distortion=distortion, model=model,
    )  # fmt: skip


@attrs.frozen(kw_only=True, eq=False)
class PlacedCamera:
    """A lens at its place.

    Attributes:
        position: (3,) m of the optical frame (z forward, x right, y down) in the scene's frame.
        rotation: (3, 3) of its axes there.
    """

    lens: Lens
    position: Array
    rotation: Array

    def lines(self, points: Array) -> Iterator[Array]:
        """Yields the parts (N, 2) pixels of a line through points (N, 3) m that are before the
        camera.
        """
        local = (points - self.position) @ self.rotation
        part: list[Array] = []
        for start, end in zip(local[:-1], local[1:], strict=True):
            clipped = _clipped(start, end)
            if clipped is not None and self._is_within(np.array(clipped)).all():
                if not part or not np.array_equal(part[-1], clipped[0]):
                    if len(part) > 1:
                        yield self.lens.pixels(np.array(part))
                    part = [clipped[0]]
                part.append(clipped[1])
            else:
                if len(part) > 1:
                    yield self.lens.pixels(np.array(part))
                part = []
        if len(part) > 1:
            yield self.lens.pixels(np.array(part))

    def silhouette(self, points: Array) -> Array:
        """Returns (M, 2) pixels, the outline of the convex hull of points (N, 3) m, of the part
        that is before the camera; (0, 2): none is.
        """
        local = (points - self.position) @ self.rotation
        is_before = local[:, 2] >= NEAR
        if is_before.any() and not is_before.all():
            front, behind = local[is_before], local[~is_before]
            share = (front[:, None, 2] - NEAR) / (front[:, None, 2] - behind[None, :, 2])
            cut = front[:, None] + share[..., None] * (behind[None] - front[:, None])
            local = np.concatenate((front, cut.reshape(-1, 3)))
        elif not is_before.any():
            return np.empty((0, 2))
        return convex_hull(self.lens.pixels(local[self._is_within(local)]))

    def on_plane(self, pixels: Array, height: float) -> Array:
        """Returns (N, 2) m, where the lines of sight of pixels (N, 2) meet a level plane; NaN where
        they do not.
        """
        lens = self.lens
        shaped = np.ascontiguousarray(pixels, np.float64).reshape(-1, 1, 2)
        if lens.is_distorted and lens.model in FISHEYE:
            flat = cv2.fisheye.undistortPoints(shaped, lens.matrix, lens.distortion)
        else:
            flat = cv2.undistortPoints(
                shaped, lens.matrix, lens.distortion if lens.is_distorted else np.zeros(5)
            )
        rays = np.column_stack((flat.reshape(-1, 2), np.ones(len(pixels)))) @ self.rotation.T
        with np.errstate(divide='ignore', invalid='ignore'):
            share = (height - self.position[2]) / rays[:, 2]
        share = np.where(share > 0, share, np.nan)
        return np.asarray(self.position[:2] + share[:, None] * rays[:, :2])

    def _is_within(self, local: Array) -> NDArray[np.bool_]:
        """(N,): before the camera, and not so far aside that the lens would fold it back."""
        if math.isinf(self.lens.widest):
            return np.asarray(local[:, 2] >= NEAR)
        wide = np.hypot(local[:, 0], local[:, 1]) <= self.lens.widest * local[:, 2]
        return np.asarray((local[:, 2] >= NEAR) & wide)


def placed_camera(camera: SceneCamera) -> PlacedCamera:
    """Returns a scene's camera that stands in the scene's frame.

    Raises:
        ValueRangeError: its pose or its intrinsics are not known, or a link carries it.
    """
    if camera.position is None or camera.orientation is None:
        raise ValueRangeError(f'position and orientation of the camera {camera.name} must be known')
    if camera.link:
        raise ValueRangeError(
            f'the camera {camera.name} is carried by {camera.link}; give its pose in the base'
        )
    return PlacedCamera(
        lens=lens_of(camera), position=np.array(camera.position),
        rotation=rotation_of(np.array(camera.orientation)),
    )  # fmt: skip


def _clipped(start: Array, end: Array) -> tuple[Array, Array] | None:
    """The part of a line before the camera; None: it has none."""
    if start[2] < NEAR and end[2] < NEAR:
        return None
    if start[2] >= NEAR and end[2] >= NEAR:
        return start, end
    cut = start + (start[2] - NEAR) / (start[2] - end[2]) * (end - start)
    return (cut, end) if start[2] < NEAR else (start, cut)
