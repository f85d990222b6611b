# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A mark in a folder of episodes that a recorder writes into it, even between two episodes.

It is an advisory lock on a hidden file: the system releases it with the process that holds it,
however that ends.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

NAME = '.frame_ros_recording'


class RecordingLock:
    """Held by a recorder for as long as it may write episodes into a folder; several may."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._file = -1

    def hold(self, folder: Path) -> None:
        """Marks a folder, made if missing, instead of the one before.

        Raises:
            OSError: the file cannot be made.
        """
        if folder == self._folder:
            return
        self.release()
        folder.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self._folder = folder
        while True:
            self._file = os.open(folder / NAME, flags, 0o644)
            fcntl.flock(self._file, fcntl.LOCK_SH)
            if _is_same(self._file, folder / NAME):
                return
            os.close(self._file)  # another recorder has removed it meanwhile

    def release(self) -> None:
        """Removes the mark; the last recorder removes the file."""
        folder, self._folder = self._folder, None
        if folder is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            (folder / NAME).unlink(missing_ok=True)
        except OSError:
            pass  # another recorder goes on
        finally:
            os.close(self._file)


def _is_same(file: int, path: Path) -> bool:
    """Returns whether an open file is still the one at a path."""
    try:
        return os.path.samestat(os.fstat(file), path.stat(follow_symlinks=False))
    except FileNotFoundError:
        return False


def is_being_recorded(folder: Path) -> bool:
    """Returns whether a recorder holds the lock of a folder."""
    try:
        file = os.open(folder / NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(file)
    return False
