# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Starts the node of a folder: the one way in for `ros2 run`, launch files and `python -m`."""

from __future__ import annotations

import gc
import importlib
import sys

from frame_ros.core.errors import FrameRosError


def start(name: str) -> None:
    """Runs `main` of the module `frame_ros.nodes.<name>.node`.

    Exits with 1 and one line on standard error where a library is missing that the module needs.
    """
    try:
        module = importlib.import_module(f'frame_ros.nodes.{name}.node')
    except FrameRosError as error:
        sys.exit(f'[FATAL] [{name}]: {error}')
    try:
        module.main()
    finally:
        # What ends with the process is not searched for garbage: with torch that takes more than a
        # second, and on a busy machine so long that a launch ends the process by force.
        gc.freeze()
