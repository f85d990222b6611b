# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""LeRobot's cameras, described as on its command lines."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import SetupError
from frame_ros.core.time import SECOND
from frame_ros.hardware.device_error import DeviceError
from frame_ros.hardware.lerobot.devices import (
    CAMERAS,
    device_errors,
    make_config,
    making,
    parse_value,
)

EXAMPLE = '{front: {type: opencv, index_or_path: /dev/video0, width: 640, height: 480, fps: 30}}'


@dataclass(frozen=True)
class Frame:
    """An image."""

    pixels: NDArray[np.uint8]  # (H, W, 3)
    captured: int  # time.monotonic_ns() when the driver had it


class LeRobotCamera:
    """One camera, used by one thread at a time.

    Args:
        name: ours.

    Attributes:
        encoding: 'rgb8' or 'bgr8'.
    """

    def __init__(self, name: str, config: Any) -> None:
        """Makes LeRobot's camera from its `config` without connecting it.

        Raises:
            MissingExtraError: a package that the camera needs is not installed.
            SetupError: LeRobot cannot make it.
        """
        self.name = name
        utilities = import_module('lerobot.cameras.utils')
        with making(f'camera {name}'):
            self.device = utilities.make_cameras_from_configs({name: config})[name]
        mode = getattr(self.device, 'color_mode', None)
        self.encoding = 'bgr8' if getattr(mode, 'value', mode) == 'bgr' else 'rgb8'

    def connect(self) -> None:
        """Opens the camera.

        Raises:
            DeviceError: it is missing, or does not support its configuration.
        """
        self.close()
        try:
            with device_errors(f'camera {self.name} cannot be opened'):
                self.device.connect()
        except DeviceError:
            self.close()
            raise

    def read(self, timeout: float) -> Frame:
        """Returns the next frame, waiting at most `timeout` s.

        Raises:
            DeviceError: none came, or the camera is gone.
        """
        with device_errors(f'camera {self.name}'):
            pixels = self.device.async_read(timeout_ms=timeout * 1000.0)
        now = time.monotonic_ns()
        captured = getattr(self.device, 'latest_timestamp', None)  # time.perf_counter()
        age = 0.0 if captured is None else max(0.0, time.perf_counter() - captured)
        return Frame(pixels, now - round(age * SECOND))

    def close(self) -> None:
        """Closes the camera; no error if it is gone."""
        with contextlib.suppress(Exception):
            self.device.disconnect()


def make_cameras(text: str) -> list[LeRobotCamera]:
    """Makes the cameras of a text as for LeRobot's `--robot.cameras=`; none for an empty one.

    Raises:
        MissingExtraError: LeRobot, or what a camera needs, is not installed.
        SetupError: the text cannot be read, or a camera cannot be made.
    """
    given = parse_value('cameras', text) if text.strip() else {}
    is_right = isinstance(given, dict) and all(
        isinstance(fields, dict) and 'type' in fields for fields in given.values()
    )
    if not is_right:
        raise SetupError(f'cameras are {text!r}; they must be given as, for example, {EXAMPLE}')
    cameras = []
    for name, fields in given.items():
        options = {key: value for key, value in fields.items() if key != 'type'}
        cameras.append(LeRobotCamera(str(name), make_config(CAMERAS, fields['type'], options)))
    return cameras
