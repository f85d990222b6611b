# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Files of lines that survive the end of the process that writes them, however it ends."""

from __future__ import annotations

import os
from typing import BinaryIO


def drop_cut_line(file: BinaryIO) -> None:
    """Removes an incomplete last line."""
    file.seek(0)
    content = file.read()
    if content and not content.endswith(b'\n'):
        file.truncate(content.rfind(b'\n') + 1)
    file.seek(0, os.SEEK_END)


def append_line(file: BinaryIO, line: str) -> None:
    """Adds a line that is on the disk on return. Raises OSError: it cannot be written."""
    file.write((line + '\n').encode())
    file.flush()
    os.fsync(file.fileno())
