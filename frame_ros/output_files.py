# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a command writes: refused before the work begins, and written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from frame_ros.errors import SetupError


def check_folder(folder: str | os.PathLike[str], name: str) -> Path:
    """Checks that files can be written to a folder, which may be made later; returns it.

    name: what the user calls it, for the message.

    Raises:
        SetupError: it is no folder, or lies in none, or nothing may be written there.
    """
    path = Path(folder).expanduser()
    if not str(folder).strip():
        raise SetupError(f'{name} is empty; it must be a folder')
    place = _existing(path, name)
    if not place.is_dir():
        raise SetupError(f'{name} is {str(path)!r}, but {place} is a file; it must be a folder')
    _check_permission(place, path, name)
    return path


def check_file(file: str | os.PathLike[str], name: str) -> Path:
    """Checks that a file can be written, in a folder that is there; returns it.

    Raises:
        SetupError: it is a folder, its folder is missing, or it may not be written.
    """
    path = Path(file).expanduser()
    if not path.name:
        raise SetupError(f'{name} is {str(file)!r}; it must be a file')
    place = _existing(path, name)
    if path == place and path.is_dir():
        raise SetupError(f'{name} is {str(path)!r}, a folder; it must be a file')
    if place not in (path, path.parent):
        raise SetupError(f'{name} is {str(path)!r}, but there is no folder {path.parent}')
    if place != path and not place.is_dir():
        raise SetupError(f'{name} is {str(path)!r}, but {place} is no folder')
    _check_permission(path.parent, path, name)
    return path


def write_whole(path: Path, text: str, name: str) -> None:
    """Writes a text file whole or not at all: what was there stays until the new one is complete.

    Raises:
        SetupError: it cannot be written.
    """
    part = path.with_name(f'.{path.name}.part')
    try:
        part.write_text(text, encoding='utf-8')
        os.replace(part, path)
    except OSError as error:
        with_part = part.is_file()
        if with_part:
            part.unlink(missing_ok=True)
        raise SetupError(f'{name} cannot be written to {path}: {error.strerror}') from error


def make_folder(path: Path, name: str) -> Path:
    """Makes a folder, and those above it; returns it.

    Raises:
        SetupError: it cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SetupError(f'{name} {str(path)!r} cannot be made: {error.strerror}') from error
    return path


def _existing(path: Path, name: str) -> Path:
    """The path, or the nearest one above it that exists."""
    try:
        return next(place for place in (path, *path.absolute().parents) if place.exists())
    except OSError as error:
        raise SetupError(f'{name} is {str(path)!r}: {error.strerror}') from error


def _check_permission(place: Path, path: Path, name: str) -> None:
    if not os.access(place, os.W_OK | os.X_OK):
        raise SetupError(f'{name} is {str(path)!r}, but nothing may be written to {place}')
    if place == path.parent and path.is_file() and not os.access(path, os.W_OK):
        raise SetupError(f'{name} is {str(path)!r}, which may not be written')
