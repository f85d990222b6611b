# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The user's own temporary folder, in which what is made again replaces what was there."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path


def own_folder() -> Path:
    """Returns the folder, made if it is missing.

    Raises:
        OSError: it cannot be made, or is somebody else's.
    """
    folder = Path(tempfile.gettempdir()) / f'frame_ros_{os.getuid()}'
    folder.mkdir(mode=0o700, exist_ok=True)
    state = folder.lstat()
    if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.getuid():
        raise OSError(f'{folder} is not a folder of your own')
    return folder
