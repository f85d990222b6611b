# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Turns sensor_msgs/CameraInfo and a depth image into the image of a pinhole camera."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import FrameRosError
from frame_ros.sensing.proximity.depth.camera import DepthCamera, DepthError

Array = NDArray[np.float64]
# Number of coefficients of the distortion models of sensor_msgs/CameraInfo.
BROWN = {'plumb_bob': (4, 5), 'rational_polynomial': (8, 12, 14)}
FISHEYE = {'equidistant': (4,)}
MODELS = BROWN | FISHEYE


class CameraModel:
    """A camera_info: a pinhole camera, and the conversion of its pictures.

    A picture with distortion is remapped to the nearest measured pixel, so no depth is invented:
    pixels of the undistorted picture without a source are 0, not measured.

    Attributes:
        camera: the pinhole camera.
    """

    def __init__(self, info: Any, is_rectified: bool) -> None:
        """Makes the model; `is_rectified` pictures are already those of a pinhole camera, that of
        `p`.

        Raises:
            DepthError: it describes no camera that can be used.
        """
        width, height = int(info.width), int(info.height)
        if not width or not height:
            raise DepthError(f'camera_info has the size {width}x{height}')
        _check_region(info)
        distortion = np.array(info.d, np.float64)
        is_distorted = not is_rectified and bool(np.any(distortion))
        projection = np.array(info.p, np.float64).reshape(3, 4)[:, :3]
        uses_projection = is_rectified and projection[0, 0] > 0
        matrix = projection if uses_projection else np.array(info.k, np.float64).reshape(3, 3)
        _check_matrix(matrix, width, height)
        self.camera = DepthCamera(
            width, height, *(float(matrix[at]) for at in ((0, 0), (1, 1), (0, 2), (1, 2)))
        )
        self._maps = _maps(info, distortion, matrix) if is_distorted else None

    def undistorted(self, depth: NDArray) -> NDArray:
        """Returns a picture (H, W) of the pinhole camera."""
        if self._maps is None:
            return depth
        return cv2.remap(
            depth, *self._maps, cv2.INTER_NEAREST, borderMode=cv2.BORDER_CONSTANT, borderValue=0
        )


def _check_region(info: Any) -> None:
    roi = info.roi
    is_part = roi.x_offset or roi.y_offset or roi.width not in (0, info.width) or (
        roi.height not in (0, info.height)
    )  # fmt: skip
    if is_part or info.binning_x > 1 or info.binning_y > 1:
        raise DepthError(
            f'camera_info has a region ({roi.x_offset}, {roi.y_offset}, {roi.width}x{roi.height}) '
            f'or binning ({info.binning_x}, {info.binning_y}): the full picture is needed'
        )


def _check_matrix(matrix: Array, width: int, height: int) -> None:
    fx, fy, cx, cy = matrix[0, 0], matrix[1, 1], matrix[0, 2], matrix[1, 2]
    if not np.isfinite(matrix).all() or fx <= 0 or fy <= 0:
        raise DepthError(
            f'camera_info has focal lengths {fx} and {fy}: the camera is not calibrated'
        )
    if not (-width < cx < 2 * width and -height < cy < 2 * height):
        raise DepthError(
            f'camera_info has its centre at ({cx}, {cy}), far outside {width}x{height} pixels'
        )
    if abs(matrix[0, 1]) > 1e-6 * fx:
        raise DepthError(f'camera_info has a skew of {matrix[0, 1]}: it must be 0')


def _maps(info: Any, distortion: Array, matrix: Array) -> tuple[NDArray, NDArray]:
    """Returns the position of each pixel of the pinhole camera in the distorted picture."""
    model = info.distortion_model
    if len(distortion) not in MODELS.get(model, ()) or not np.isfinite(distortion).all():
        raise DepthError(
            f'camera_info has the distortion {model!r} {distortion.tolist()}; known are '
            f'{", ".join(MODELS)}, or publish rectified depth'
        )
    size = (int(info.width), int(info.height))
    undistort = cv2.fisheye.initUndistortRectifyMap if model in FISHEYE else (
        cv2.initUndistortRectifyMap
    )  # fmt: skip
    first, second = undistort(matrix, distortion, np.eye(3), matrix, size, cv2.CV_32FC1)
    return cv2.convertMaps(first, second, cv2.CV_16SC2, nninterpolation=True)


class CameraModels:
    """The model of a camera's newest camera_info, rebuilt only when that changes."""

    def __init__(self, is_rectified: bool) -> None:
        self._is_rectified = is_rectified
        self._contents: tuple | None = None
        self._found: CameraModel | FrameRosError | None = None
        self._frame = ''

    @property
    def is_empty(self) -> bool:
        """True if none has come yet."""
        return self._contents is None

    def take(self, info: Any) -> None:
        """Takes a sensor_msgs/CameraInfo."""
        roi, self._frame = info.roi, info.header.frame_id.lstrip('/')
        contents = (
            info.width, info.height, info.distortion_model, tuple(info.d), tuple(info.k),
            tuple(info.p), info.binning_x, info.binning_y, roi.x_offset, roi.y_offset, roi.width,
            roi.height,
        )  # fmt: skip
        if contents == self._contents:
            return
        self._contents = contents
        try:
            self._found = CameraModel(info, self._is_rectified)
        except FrameRosError as error:
            self._found = error

    def of_image(self, width: int, height: int, frame: str = '') -> CameraModel:
        """The model, for an image of this size and with this header.frame_id.

        Raises:
            DepthError: no camera_info has come, it cannot be used, or it is of another size or
                frame, so of another camera.
        """
        if self._found is None:
            raise DepthError('no camera_info has come')
        if isinstance(self._found, FrameRosError):
            raise self._found
        camera = self._found.camera
        if (camera.width, camera.height) != (width, height):
            raise DepthError(
                f'camera_info is of {camera.width}x{camera.height} pixels, the image has '
                f'{width}x{height}'
            )
        frame = frame.lstrip('/')
        if frame and self._frame and frame != self._frame:
            raise DepthError(
                f'camera_info is of the frame {self._frame!r}, the image of {frame!r}: it is of '
                'another camera'
            )
        return self._found
