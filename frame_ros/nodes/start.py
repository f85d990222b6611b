# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Starts the node of a folder: the one way in for `ros2 run`, launch files and `python -m`."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
import time

from frame_ros.core.errors import FrameRosError


def start(name: str) -> None:
    """Runs `main` of the module `frame_ros.nodes.<name>.node`, in the main thread.

    Says at once that it starts: on a busy machine its libraries take many seconds to load.

    Exits with 1 and one line on standard error where a library is missing that the module needs,
    and with 0, as a node does, where Ctrl-C comes while it still loads its libraries.
    """
    now = time.time()
    print(f'[INFO] [{now:.9f}] [{name}]: loading its libraries', file=sys.stderr, flush=True)
    before = signal.signal(signal.SIGINT, _end)
    try:
        module = importlib.import_module(f'frame_ros.nodes.{name}.node')
    except FrameRosError as error:
        sys.exit(f'[FATAL] [{name}]: {error}')
    finally:
        signal.signal(signal.SIGINT, before)  # `run_node` takes it over
    try:
        module.main()
    finally:
        # What ends with the process is not searched for garbage: with torch that takes more than a
        # second, and on a busy machine so long that a launch ends the process by force.
        gc.freeze()


def _end(*_: object) -> None:
    """Ends the process at once: there is no node yet that could close anything."""
    os._exit(0)
