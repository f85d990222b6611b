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

from frame_ros.core.errors import MissingExtraError, SetupError, install_hint
from frame_ros.core.time import SECOND
from frame_ros.hardware.lerobot.devices import (
    CAMERAS,
    DeviceError,
    device_errors,
    make_config,
    parse_value,
)

EXAMPLE = '{front: {type: opencv, index_or_path: /dev/video0, width: 640, height: 480, fps: 30}}'


@dataclass(frozen=True)
class Frame:
    """pixels: (H, W, 3). captured: time.monotonic_ns() when the driver had it."""

    pixels: NDArray[np.uint8]
    captured: int


class LeRobotCamera:
    """One camera. One thread at a time may use it. name: ours. encoding: 'rgb8' or 'bgr8'."""

    def __init__(self, name: str, config: Any) -> None:
        """config: LeRobot's; nothing is connected.

        Raises:
            MissingExtraError: a package that the camera needs is not installed.
            SetupError: LeRobot cannot make it.
        """
        self.name = name
        utilities = import_module('lerobot.cameras.utils')
        try:
            self.device = utilities.make_cameras_from_configs({name: config})[name]
        except ImportError as error:
            raise MissingExtraError(
                f'camera {name} cannot be used: {error}: {install_hint("hardware")}'
            ) from error
        except Exception as error:
            raise SetupError(f'camera {name} cannot be made: {error}') from error
        mode = getattr(self.device, 'color_mode', None)
        self.encoding = 'bgr8' if getattr(mode, 'value', mode) == 'bgr' else 'rgb8'

    def connect(self) -> None:
        """Opens it.

        Raises:
            DeviceError: it is not there, or does not do what its configuration asks for.
        """
        self.close()
        try:
            with device_errors(f'camera {self.name} cannot be opened'):
                self.device.connect()
        except DeviceError:
            self.close()
            raise

    def read(self, timeout: float) -> Frame:
        """Waits for the next frame. timeout: s.

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
        """Closes it; one that is not there any more is let go without an error."""
        with contextlib.suppress(Exception):
            self.device.disconnect()


def make_cameras(text: str) -> list[LeRobotCamera]:
    """The cameras of a text as LeRobot's `--robot.cameras=`; none of an empty one.

    Raises:
        MissingExtraError: LeRobot, or what a camera needs, is not installed.
        SetupError: the text cannot be read, or a camera cannot be made.
    """
    given = parse_value('cameras', text) if text.strip() else {}
    is_right = isinstance(given, dict) and all(
        isinstance(fields, dict) and 'type' in fields for fields in given.values()
    )
    if not is_right:
        raise SetupError(f'cameras are {text!r}; they are given as, for example, {EXAMPLE}')
    cameras = []
    for name, fields in given.items():
        options = {key: value for key, value in fields.items() if key != 'type'}
        cameras.append(LeRobotCamera(str(name), make_config(CAMERAS, fields['type'], options)))
    return cameras
