# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The least distances between a robot and all pixels of a depth image that do not show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.sensing.proximity.depth import image_kernels as images
from frame_ros.sensing.proximity.depth import kernels, padding_kernels
from frame_ros.sensing.proximity.depth import surface_kernels as surfaces
from frame_ros.sensing.proximity.depth.camera import Depth, DepthCamera
from frame_ros.sensing.proximity.depth.shapes import CameraShapes
from frame_ros.sensing.proximity.depth.support_kernels import UNKNOWN

Array = NDArray[np.float64]
ALL_COUNT: Array = np.zeros(4)  # no pixel needs support


@dataclass(frozen=True)
class Nearest:
    """The nearest pixel of each of L links, in the optical frame."""

    distances: Array  # (L,) m, NaN if there is no pixel
    points: Array  # (L, 3) of the pixels, m
    surface: Array  # (L, 3) of the shapes, m


@dataclass(frozen=True)
class Scan:
    """The result for one image."""

    nearest: Nearest  # in the optical frame
    own: int  # pixels that show the robot


class DepthScan:
    """Scans the images of one camera: the distances equal those of a float64 scan of all pixels.

    Not thread-safe: it owns buffers. counts: (rows, columns) valid pixels of each block of 8 x 8
    pixels when the image was loaded.
    """

    def __init__(self, camera: DepthCamera, padding: float, noise: float = 0.0) -> None:
        """Makes a scan whose robot extends by `padding`, m, around its shapes.

        noise: m at 1 m; a pixel that would be within the padding if its depth z were changed by
        noise * z^2 m, or half of that, either way, is the robot too.
        """
        rows, columns = -(-camera.height // kernels.SIDE), -(-camera.width // kernels.SIDE)
        size = (rows * kernels.SIDE, columns * kernels.SIDE)
        self._padding, self._noise = float(padding), float(noise)
        self._x = (np.arange(size[1], dtype=np.float64) - camera.cx) / camera.fx
        self._y = (np.arange(size[0], dtype=np.float64) - camera.cy) / camera.fy
        self._image = np.zeros(size, np.float32)
        self._verdicts = np.zeros(size, np.uint8)
        self._near, self._far = np.zeros((2, rows, columns), np.float32)
        self.counts = np.zeros((rows, columns), np.int32)
        self._scale = 1.0
        self._source: tuple[Depth, Depth] | None = None
        self._limits: tuple[Array, Array] | None = None
        self._whole: NDArray[np.float32] | None = None

    def run(
        self, image: Depth, scale: float, shapes: CameraShapes, support: Array = ALL_COUNT
    ) -> Scan:
        """Scans an image (H, W), 0 where invalid;

        Args:
            scale: m per unit.
            support: see `find`.
        """
        self.load(image, image, scale)
        return self.find(shapes, support)

    def load(self, image: Depth, valid: Depth, scale: float) -> None:
        """Takes the pixels (H, W) that are above 0 in `valid`. scale: m per unit."""
        images.load(image, valid, self._image, self.counts)
        self._scale, self._source, self._limits = scale, (image, valid), None

    def crop(self, normals: Array, offsets: Array) -> None:
        """Removes pixels outside an intersection of P half spaces, normal . p > offset, in the
        optical frame. normals (P, 3), offsets (P,) m. So it does those that would be outside if
        their depth z were larger by noise * z^2.
        """
        self._limits = np.ascontiguousarray(normals), np.ascontiguousarray(offsets)
        images.crop(self._image, self._scale, self._x, self._y, *self._limits, self._noise)

    @property
    def loaded(self) -> tuple[NDArray[np.float32], float]:
        """The loaded image, (8 R, 8 C), of which pixels may be set to 0; and the m per unit of
        it.
        """
        return self._image, self._scale

    def find(
        self,
        shapes: CameraShapes,
        support: Array = ALL_COUNT,
        padding: float | None = None,
        own: CameraShapes | None = None,
    ) -> Scan:
        """Removes the robot from the loaded image, and finds the nearest of the other pixels.

        Args:
            support: (4,) see `EdgeFilter.support`.
            padding: m, of this image; None: as the scan was made with.
            own: the shapes to remove, if not all: the distance to a pixel in one that stays is 0.
        """
        count = self.take_out(shapes if own is None else own, padding)
        return Scan(self.nearest(shapes, support), count)

    def take_out(self, shapes: CameraShapes, padding: float | None = None) -> int:
        """Removes the robot from the loaded image, as `find`; returns how many pixels show it."""
        around = self._padding if padding is None else float(padding)
        images.limits(self._image, self._near, self._far)
        return int(kernels.take_out_robot(*self._view, shapes.table, around, self._noise))

    def nearest(self, shapes: CameraShapes, support: Array = ALL_COUNT) -> Nearest:
        """Finds the nearest of the pixels that `take_out` left."""
        self._verdicts[:] = UNKNOWN
        found = np.empty((len(shapes.links), 7))
        kernels.find_nearest(
            *self._view, shapes.table, shapes.owners, support, self._verdicts, found
        )
        found[np.isinf(found)] = np.nan
        distances = np.maximum(found[:, 0], 0.0)
        return Nearest(distances, found[:, 1:4], found[:, 4:])

    @property
    def _view(self) -> tuple[Any, ...]:
        return self._image, self._scale, self._x, self._y, self._near, self._far

    def settled(
        self, nearest: Nearest, pixels: Nearest, shapes: CameraShapes, support: Array
    ) -> Nearest:
        """Returns it with each point that is one of `pixels`, of the latest `find`, moved onto the
        surface through the pixels around it, and the distance of that.

        Raw pixels are the nearest by their noise. The surface of few pixels is the pixel itself.
        """
        chosen = (nearest.points == pixels.points).all(axis=1)
        found = np.column_stack((nearest.distances, nearest.points, nearest.surface))
        surfaces.settle(self._image, self._scale, self._x, self._y, shapes.table, shapes.owners,
                        support, surfaces.AROUND, chosen, found)  # fmt: skip
        return Nearest(found[:, 0], found[:, 1:4], found[:, 4:])

    def followed(
        self,
        nearest: Nearest,
        pixels: Nearest,
        shapes: CameraShapes,
        support: Array,
        at_padding: NDArray[np.bool_],
        core: float,
        is_settled: bool = True,
        outline: int = 0,
    ) -> Nearest:
        """Returns it with what begins where the robot's padding ends followed into the padding.

        The image is what `find` had, with the robot in it; the arrays given to `load` must be the
        same as then.

        Args:
            nearest, pixels, shapes, support: as of `settled`.
            at_padding: (L,) links whose nearest obstacle may reach into the padding.
            core: m around the robot that nothing is followed into; the noise is added.
            is_settled: whether the points that move are put onto the surface around them, as
                `settled` does.
            outline: pixels about the robot that have been taken out, too.
        """
        chosen = at_padding & (nearest.points == pixels.points).all(axis=1)
        if self._source is None or not chosen.any():
            return nearest
        if self._whole is None:
            self._whole = np.empty_like(self._image)
        whole = self._whole
        images.load(*self._source, whole, np.empty_like(self.counts))
        if self._limits is not None:
            images.crop(whole, self._scale, self._x, self._y, *self._limits, self._noise)
        found = np.column_stack((nearest.distances, nearest.points, nearest.surface))
        view = (self._scale, self._x, self._y, shapes.table, shapes.owners, support)
        reach = padding_kernels.REACH + outline
        padding_kernels.follow(
            self._image, whole, *view, float(core), self._noise, reach, chosen, found
        )
        if is_settled:
            surfaces.settle(whole, *view, 0, chosen, found)
        return Nearest(found[:, 0], found[:, 1:4], found[:, 4:])
