# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Files that a command writes: refused before the work begins, and written whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from frame_ros.core.errors import SetupError


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
    folder, place = path.absolute().parent, _existing(path, name)
    if place.is_dir() and place == path.absolute():
        raise SetupError(f'{name} is {str(path)!r}, a folder; it must be a file')
    if not folder.is_dir():
        wrong = f'{place} is a file' if place.is_file() else f'there is no folder {folder}'
        raise SetupError(f'{name} {str(path)!r} cannot be written: {wrong}')
    # What is no file is written to, and nothing beside it.
    _check_permission(folder if path.is_file() or not path.exists() else None, path, name)
    return path


def refuse_inputs(file: str | os.PathLike[str], inputs: Iterable[Path], name: str) -> None:
    """Checks that a file to write is none of those that are read.

    Raises:
        SetupError: it is one of them.
    """
    path = Path(file).expanduser()
    if not path.exists():
        return
    for each in inputs:
        if each.exists() and path.samefile(each):
            raise SetupError(f'{name} {str(path)!r} is a file that is read: {each}; name another')


def write_whole(path: Path, text: str, name: str) -> None:
    """Writes a text file whole or not at all: what was there stays until the new one is complete.
    A link at its place is replaced, never followed. What is no file, such as /dev/null or a pipe,
    is written to and never replaced.

    Raises:
        SetupError: it cannot be written.
    """
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding='utf-8')
        else:
            _replace(path, text)
    except OSError as error:
        raise SetupError(f'{name} cannot be written to {path}: {error.strerror}') from error


@contextmanager
def replacing(path: Path, part: Path) -> Iterator[Path]:
    """Gives the name of a new, empty file beside `path`, which takes its place at the end.

    part: that name, known to whoever clears up after a process that was killed. What has it is
    removed; a link is not followed.

    Raises:
        OSError: it cannot be made, or cannot take the place; neither stays.
    """
    part.unlink(missing_ok=True)
    part.open('x').close()
    try:
        yield part
        os.replace(part, path)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _replace(path: Path, text: str) -> None:
    part = path.with_name(f'.{path.name[:200]}.{secrets.token_hex(8)}.part')
    with replacing(path, part):
        part.write_text(text, encoding='utf-8')


@contextmanager
def appending(path: Path) -> Iterator[BinaryIO]:
    """Opens a file, made if it is missing, for reading and for writing at its end. A link at its
    place is not followed.

    Raises:
        OSError: it cannot be opened, or is a link, a named pipe or a device.
    """
    if path.is_symlink():
        raise OSError(errno.ELOOP, 'it is a link, and outputs go through none', str(path))
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    handle = os.open(path, flags, 0o666)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, 'it is not a file', str(path))
    with os.fdopen(handle, 'a+b') as file:
        yield file


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
        whole = path.absolute()
        return next(place for place in (whole, *whole.parents) if place.exists())
    except OSError as error:
        raise SetupError(f'{name} is {str(path)!r}: {error.strerror}') from error


def _check_permission(place: Path | None, path: Path, name: str) -> None:
    """By writing to the folder `place`: what a system forbids, permissions do not always say."""
    try:
        if place is not None:
            with tempfile.TemporaryFile(dir=place):
                pass
    except OSError as error:
        raise SetupError(
            f'{name} {str(path)!r} cannot be written: {place} refuses: {error.strerror}'
        ) from error
    if path.exists() and not path.is_dir() and not os.access(path, os.W_OK):
        raise SetupError(f'{name} {str(path)!r} cannot be written: it is read-only')
