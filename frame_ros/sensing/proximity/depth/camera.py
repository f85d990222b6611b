# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Depth images as cameras send them, and their pinhole model."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import FrameRosError, ShapeError

Array = NDArray[np.float64]
Depth = NDArray[np.uint16] | NDArray[np.float32]
SATURATED = 65535  # mm: what 16UC1 has where the depth is beyond it
_ENCODINGS = {'16UC1': ('u2', 'mm'), 'mono16': ('u2', 'mm'), '32FC1': ('f4', 'm')}


class DepthError(FrameRosError, ValueError):
    """A depth image, or its camera_info, cannot be used."""


@dataclass(frozen=True)
class DepthCamera:
    """A pinhole camera without distortion. width, height, fx, fy, cx, cy: in pixels. Pixel centres
    lie at whole numbers. Its optical frame: x right, y down, z forward.
    """

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float

    def __post_init__(self) -> None:
        """Raises DepthError for an impossible camera."""
        if self.width < 1 or self.height < 1:
            raise DepthError(f'a camera of {self.width}x{self.height} pixels is impossible')
        if not (self.fx > 0 and self.fy > 0 and math.isfinite(self.fx * self.fy)):
            raise DepthError(
                f'the focal lengths are {self.fx} and {self.fy} pixels, they must be above 0: is '
                'the camera calibrated?'
            )
        if not math.isfinite(self.cx * self.cy):
            raise DepthError(f'the principal point ({self.cx}, {self.cy}) is not finite')

    def rays(self) -> tuple[Array, Array]:
        """Returns x/z of each column (W,) and y/z of each row (H,)."""
        x = (np.arange(self.width, dtype=np.float64) - self.cx) / self.fx
        y = (np.arange(self.height, dtype=np.float64) - self.cy) / self.fy
        return x, y

    def points(self, depth: Depth) -> Array:
        """Returns (H, W, 3) m in the optical frame, NaN where the depth is invalid.

        Raises:
            DepthError: the image is not of the camera's size.
        """
        metres = depth_in_metres(self.checked(depth))
        x, y = self.rays()
        return np.stack((metres * x, metres * y[:, None], metres), axis=2)

    def project(self, points: Array) -> Array:
        """Returns (N, 2) column and row, in pixels, of points (N, 3) m in the optical frame; NaN
        for those not in front of the camera.
        """
        points = np.asarray(points, np.float64)
        if points.ndim != 2 or points.shape[1] != 3:
            raise ShapeError(f'points must be (N, 3), not {points.shape}')
        z = np.where(points[:, 2] > 0.0, points[:, 2], np.nan)
        columns = points[:, 0] / z * self.fx + self.cx
        return np.stack((columns, points[:, 1] / z * self.fy + self.cy), axis=1)

    def checked(self, depth: Depth) -> Depth:
        """Returns the image itself.

        Raises:
            DepthError: it is not of the camera's size, or neither uint16 nor float32.
        """
        if depth.shape != (self.height, self.width):
            size = 'x'.join(str(n) for n in depth.shape[::-1])
            raise DepthError(
                f'the depth image has {size} pixels, but its camera_info is of '
                f'{self.width}x{self.height}'
            )
        if depth.dtype not in (np.uint16, np.float32):
            raise DepthError(f'depth must be uint16 (mm) or float32 (m), not {depth.dtype}')
        return depth


def depth_in_metres(depth: Depth) -> Array:
    """Returns float64 m of an image; NaN where 0, negative, saturated or not finite."""
    if depth.dtype == np.uint16:
        is_valid = (depth > 0) & (depth < SATURATED)
        return np.where(is_valid, depth * 1e-3, np.nan)
    metres = depth.astype(np.float64)
    is_valid = np.isfinite(metres) & (metres > 0.0)
    return np.where(is_valid, metres, np.nan)


def decode_depth(
    data: bytes | bytearray | memoryview | NDArray[np.uint8],
    encoding: str,
    height: int,
    width: int,
    step: int,
    is_bigendian: bool = False,
) -> Depth:
    """Returns the pixels of a sensor_msgs/Image: (H, W) uint16 in mm or float32 in m.

    The encodings are 16UC1 and mono16, or 32FC1. Values are unchanged; see `depth_in_metres` for
    the invalid ones. A view of `data` where its bytes allow it.

    Raises:
        DepthError: another encoding, or a size, step and length that do not fit each other.
    """
    if encoding not in _ENCODINGS:
        raise DepthError(
            f'a depth image is 16UC1 (mm) or 32FC1 (m), this one is {encoding!r}: is this the '
            "camera's depth topic?"
        )
    kind = np.dtype(('>' if is_bigendian else '<') + _ENCODINGS[encoding][0])
    row = width * kind.itemsize
    raw = np.frombuffer(data, np.uint8)
    if height < 1 or width < 1:
        raise DepthError(f'a depth image of {width}x{height} pixels is empty')
    if step < row:
        raise DepthError(
            f'a row of {width} pixels of {encoding} has {row} bytes, but step is {step}'
        )
    if len(raw) < step * (height - 1) + row or len(raw) > step * height:
        raise DepthError(
            f'a depth image of {width}x{height} pixels with step {step} has {step * height} '
            f'bytes, this one has {len(raw)}'
        )
    strided: Depth = np.ndarray((height, width), kind, raw, 0, (step, kind.itemsize))
    return np.ascontiguousarray(strided, kind.newbyteorder('='))
