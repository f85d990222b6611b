# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Processes that a benchmark starts, for a with block."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

TO_STOP = 20.0  # s from SIGTERM until a process is killed


@contextmanager
def started(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen]:
    """A process with Popen's options; at the end of the block it is asked to stop."""
    process = subprocess.Popen(command, **options)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(TO_STOP)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
