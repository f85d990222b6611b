# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The video beside a bag, made by a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def start_video(bag: Path, topic: str) -> subprocess.Popen[bytes]:
    """Begins to make an MP4 of an image topic, by its absolute name, at low priority; of a bag
    without it, none.

    Raises:
        OSError: the process cannot be started.
    """
    command = [sys.executable, '-m', 'frame_ros.episodes.video', str(bag), '--topic', topic]
    command += ['--if-recorded', '--nice', '10']
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
