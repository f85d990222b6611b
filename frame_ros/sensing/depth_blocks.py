# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A depth image in blocks of 8 x 8 pixels, and where in the optical frame each can have points.

The distances of two points to a shape differ by no more than the points are apart; so that of a
block's centre, less or plus the radius of a ball around the block, bounds those of its pixels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.sensing.depth_camera import SATURATED, Depth, DepthCamera

Single = NDArray[np.float32]
Indices = NDArray[np.intp]
SIDE = 8  # pixels of a block's edge
PIXELS = SIDE * SIDE
ROUNDING = np.float32(2e-6)  # m per m of depth, more than float32 loses in a distance
_ROW = np.complex128  # 16 bytes, to copy a block's row of 8 uint16 as one number


@dataclass(frozen=True)
class Balls:
    """What the valid pixels of K blocks lie within.

    blocks: (K,) their indices, row by row. near, far: (K,) m, least and largest depth; 0 where no
    pixel is valid. centres: (3, K) m. radii: (K,) m. rounding: m, more than float32 loses in the
    distance of any point.
    """

    blocks: Indices
    near: Single
    far: Single
    centres: Single
    radii: Single
    rounding: np.float32


def balls_of(blocks: Indices, rays: Single, reach: Single, near: Single, far: Single) -> Balls:
    """Around what lies between depths near and far, (K,) m, of pixels that are no farther than
    reach (2,) from rays (2, K), which are used up: x/z and y/z.
    """
    middle, half = (far + near) * np.float32(0.5), (far - near) * np.float32(0.5)
    centres = np.empty((3, len(middle)), np.float32)
    np.multiply(rays, middle, out=centres[:2])
    centres[2] = middle
    np.abs(rays, out=rays)
    rays *= half
    rays += reach[:, None] * far
    np.multiply(rays, rays, out=rays)
    half *= half
    half += rays[0]
    half += rays[1]
    rounding = ROUNDING * max(np.float32(1.0), far.max(initial=np.float32(0.0)))
    return Balls(blocks, near, far, centres, np.sqrt(half) + rounding, rounding)


class BlockGrid:
    """The blocks of one camera's images. The image is filled up to whole blocks by invalid pixels.

    rows, columns: of blocks. height, width: of the filled image. rays: (2, rows * columns) x/z and
    y/z of the middles of the blocks. offsets: (3, 64) the same of the pixels, from their middle;
    and 1. reach: (2,) the largest of these. lengths: (rows * columns,) m, no ray of the block is
    longer per m of depth.
    """

    def __init__(self, camera: DepthCamera) -> None:
        self.rows = -(-camera.height // SIDE)
        self.columns = -(-camera.width // SIDE)
        self.height, self.width = self.rows * SIDE, self.columns * SIDE
        self._x = (np.arange(self.width) - camera.cx) / camera.fx
        self._y = (np.arange(self.height) - camera.cy) / camera.fy
        middle_x = self._x.reshape(self.columns, SIDE).mean(axis=1)
        middle_y = self._y.reshape(self.rows, SIDE).mean(axis=1)
        self.rays: Single = np.stack(
            (np.tile(middle_x, self.rows), np.repeat(middle_y, self.columns))
        ).astype(np.float32)
        steps = np.arange(SIDE) - (SIDE - 1) / 2
        self.offsets: Single = np.stack(
            (np.tile(steps / camera.fx, SIDE), np.repeat(steps / camera.fy, SIDE), np.ones(PIXELS))
        ).astype(np.float32)
        self.reach: Single = self.offsets[:2].max(axis=1)
        farthest = np.abs(self.rays) + self.reach[:, None]
        self.lengths: Single = np.sqrt(1 + (farthest * farthest).sum(axis=0))
        self._work = np.empty((self.height, self.width), np.uint16)

    def counts(self, image: Depth) -> NDArray[np.int64]:
        """(rows, columns) how many pixels of each block are valid. image: (height, width), 0 where
        invalid.
        """
        valid = (image > 0).view(np.uint8).reshape(self.rows, SIDE, self.width)
        sums = valid.sum(axis=1, dtype=np.uint8).view(np.uint64)
        # The upper byte of this product is the sum of the 8 bytes.
        return ((sums * np.uint64(0x0101010101010101)) >> np.uint64(56)).astype(np.int64)

    def depths(self, image: Depth, scale: float) -> tuple[Single, Single]:
        """Least and largest depth, (K,) m each, of all blocks; 0 where no pixel is valid. image:
        (height, width), 0 where invalid; scale: m per unit.
        """
        far = self._reduced(np.maximum, image) * np.float32(scale)
        return self._nearest(image) * np.float32(scale), far

    @staticmethod
    def limits(pixels: Depth, scale: float) -> tuple[Single, Single]:
        """Least and largest depth, (K,) m each, of pixels (K, 64); the latter 0 where none is
        valid.
        """
        far = pixels.max(axis=1, initial=0)
        if pixels.dtype == np.uint16:
            # 0 becomes the largest number.
            near = (pixels - np.uint16(1)).min(axis=1, initial=SATURATED) + np.uint16(1)
        else:
            near = np.where(pixels > 0, pixels, np.float32(np.inf)).min(axis=1, initial=np.inf)
        return near * np.float32(scale), far * np.float32(scale)

    def around(self, blocks: Indices, near: Single, far: Single) -> Balls:
        """Of what of the blocks (K,) lies between depths near and far, (K,) m."""
        return balls_of(blocks, self.rays[:, blocks], self.reach, near, far)

    def _nearest(self, image: Depth) -> Any:
        if image.dtype == np.uint16:
            # 0 becomes the largest number.
            np.subtract(image, np.uint16(1), out=self._work)
            return self._reduced(np.minimum, self._work) + np.uint16(1)
        nearest = self._reduced(np.minimum, np.where(image > 0, image, np.float32(np.inf)))
        nearest[np.isinf(nearest)] = 0.0
        return nearest

    def _reduced(self, ufunc: np.ufunc, image: Any) -> Any:
        rows = ufunc.reduce(image.reshape(self.rows, SIDE, self.width), axis=1)
        for _ in range(3):
            rows = ufunc(rows[:, 0::2], rows[:, 1::2])
        return rows.ravel()

    def pixels(self, image: Depth, blocks: Indices) -> Depth:
        """(K, 64) the pixels of blocks (K,), row by row; a copy."""
        rows = self._as_rows(image)
        down, across = np.divmod(blocks, self.columns)
        return rows[down, :, across].view(image.dtype).reshape(len(blocks), PIXELS)

    def surrounded(self, image: Depth, blocks: Indices, by: int) -> Depth:
        """(8 + 2 * by, 8 + 2 * by, K) the pixels of blocks (K,) and of `by` rows and columns around
        them, 0 beyond the image.
        """
        steps = np.arange(-by, SIDE + by)[:, None]
        down, across = np.divmod(blocks, self.columns)
        rows, columns = down * SIDE + steps, across * SIDE + steps
        result = image[
            rows.clip(0, self.height - 1)[:, None], columns.clip(0, self.width - 1)[None]
        ]
        result *= ((rows >= 0) & (rows < self.height))[:, None]
        result *= ((columns >= 0) & (columns < self.width))[None]
        return result

    def write(self, image: Depth, blocks: Indices, pixels: Depth) -> None:
        """Puts pixels (K, 64) into blocks (K,) of the image."""
        rows = self._as_rows(image)
        down, across = np.divmod(blocks, self.columns)
        rows[down, :, across] = pixels.view(_ROW).reshape(len(blocks), SIDE, *rows.shape[3:])

    def clear(self, image: Depth, blocks: Indices) -> None:
        """Makes all pixels of blocks (K,) of the image invalid."""
        down, across = np.divmod(blocks, self.columns)
        self._as_rows(image)[down, :, across] = 0

    def _as_rows(self, image: Depth) -> Any:
        each = () if image.dtype == np.uint16 else (2,)
        return image.view(_ROW).reshape(self.rows, SIDE, self.columns, *each)

    def exact_points(self, values: Depth, places: Indices, scale: float) -> NDArray[np.float64]:
        """(N, 3) m in float64 of single pixels: values (N,) as in the image; places (N,): index of
        the block times 64 plus that of the pixel in the block.
        """
        row, column = self.positions(places)
        z = values.astype(np.float64) * scale
        return np.stack((z * self._x[column], z * self._y[row], z), axis=1)

    def positions(self, places: Indices) -> tuple[Indices, Indices]:
        """Row and column in the image, (N,) each, of pixels given as in `exact_points`."""
        block, inside = np.divmod(places, PIXELS)
        down, across = np.divmod(block, self.columns)
        row, column = np.divmod(inside, SIDE)
        return down * SIDE + row, across * SIDE + column
