# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Files of a camera: its calibration, and photos."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import yaml
from numpy.typing import NDArray

from frame_ros.core.errors import FrameRosError, SetupError
from frame_ros.core.input_files import PIXELS, UNPACKED_PART, read_bytes, read_text
from frame_ros.core.strict_yaml import load_yaml, yaml_problem
from frame_ros.scenes.cards.camera import Lens, lens_of_info

# Names of fields in files of camera_calibration, and those of sensor_msgs/CameraInfo.
_FIELDS = {
    'width': ('width', 'image_width'),
    'height': ('height', 'image_height'),
    'k': ('k', 'K', 'camera_matrix'),
    'd': ('d', 'D', 'distortion_coefficients'),
    'p': ('p', 'P', 'projection_matrix'),
    'distortion_model': ('distortion_model',),
}


def read_lens(path: str | Path, is_rectified: bool = False) -> Lens:
    """Returns the lens of a calibration file: of ROS's camera_calibration, or a CameraInfo as
    `ros2 topic echo` prints it.

    is_rectified: the pictures are those of the pinhole camera P.

    Raises:
        SetupError: it cannot be read, lacks something, or describes no camera.
    """
    try:
        content = load_yaml(_first_document(read_text(Path(path).expanduser())))
    except yaml.YAMLError as error:
        raise SetupError(f'{path} is no YAML: {yaml_problem(error)}') from error
    except OSError as error:
        raise SetupError(f'{path} cannot be read: {error.strerror}') from error
    except ValueError as error:
        raise SetupError(f'{path} is no text: {error}') from error
    if not isinstance(content, Mapping):
        raise SetupError(f'{path} is no map of a camera: {", ".join(_FIELDS)}')
    try:
        return lens_of_info(SimpleNamespace(**_fields(content)), is_rectified)
    except (FrameRosError, TypeError, ValueError) as error:
        raise SetupError(f'{path}: {error}') from error


def _fields(content: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {'d': [], 'p': [0.0] * 12, 'distortion_model': 'plumb_bob'}
    for field, names in _FIELDS.items():
        for name in names:
            if name in content:
                value = content[name]
                found[field] = value.get('data') if isinstance(value, Mapping) else value
    if lacking := [names for field, names in _FIELDS.items() if field not in found]:
        raise SetupError('it has no ' + ', no '.join(' or '.join(names) for names in lacking))
    for name in ('k', 'd', 'p'):
        value = found[name]
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise SetupError(f'{name} is {value!r}; it must be a list of numbers')
    return found


def _first_document(text: str) -> str:
    """The text up to the line that `ros2 topic echo` ends a message with."""
    lines = text.splitlines()
    ends = [at for at, line in enumerate(lines) if line.strip() == '---' and at]
    return '\n'.join(lines[: ends[0]]) if ends else text


def read_photo(path: str | Path) -> NDArray[np.uint8]:
    """Returns a photo (H, W, 3) uint8 RGB, as it is stored: turned by none of its own labels.

    Raises:
        SetupError: it cannot be read, or is no picture.
    """
    try:
        content = read_bytes(Path(path).expanduser(), UNPACKED_PART)
    except OSError as error:
        raise SetupError(f'{path} cannot be read: {error.strerror}') from error
    try:
        flags = cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION
        found = cv2.imdecode(np.frombuffer(content, np.uint8), flags)
    except cv2.error:
        found = None
    if found is None:
        raise SetupError(f'{path} is no picture that OpenCV reads, such as PNG or JPEG')
    if found.shape[0] * found.shape[1] > PIXELS.now:
        raise SetupError(f'{path} has {PIXELS.excess(found.shape[0] * found.shape[1])}')
    return np.ascontiguousarray(found[..., ::-1], np.uint8)
