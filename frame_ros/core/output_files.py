# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Files that a command writes: checked before the work begins, and written whole or not at all."""

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
    """Checks that files can be written to a folder, which may be made later, and returns it.

    Args:
        name: the user's name for it, for the message.

    Raises:
        SetupError: it is a file or lies in one, or cannot be written.
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
    """Checks that a file can be written in an existing folder, and returns it.

    Raises:
        SetupError: it is a folder, its folder is missing, or it cannot be written.
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
    # Devices and pipes are written in place, with no temporary file next to them.
    _check_permission(folder if path.is_file() or not path.exists() else None, path, name)
    return path


def refuse_inputs(file: str | os.PathLike[str], inputs: Iterable[Path], name: str) -> None:
    """Checks that a file to write is not among those that are read.

    Raises:
        SetupError: it is one of them.
    """
    path = Path(file).expanduser()
    if not path.exists():
        return
    for each in inputs:
        if each.exists() and path.samefile(each):
            raise SetupError(f'{name} {str(path)!r} is a file that is read: {each}; name another')


def write_whole(path: Path, text: str | Iterable[str], name: str) -> None:
    """Writes a text, or its pieces, to a file whole or not at all: the old file stays until the new
    one is complete.

    A link at its place is replaced, never followed. A device or pipe, such as /dev/null, is written
    in place.

    Raises:
        SetupError: it cannot be written.
    """
    try:
        if path.exists() and not path.is_file():
            _write_pieces(path, text)
        else:
            _replace(path, text)
    except OSError as error:
        raise SetupError(f'{name} cannot be written to {path}: {error.strerror}') from error


@contextmanager
def replacing(path: Path, part: Path) -> Iterator[Path]:
    """Yields a new, empty file next to `path` that takes its place at the end.

    Args:
        part: the new file's name, so that it can be removed after a process was killed. An existing
            file of that name is removed; a link is not followed.

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


def _replace(path: Path, text: str | Iterable[str]) -> None:
    part = path.with_name(f'.{path.name[:200]}.{secrets.token_hex(8)}.part')
    with replacing(path, part):
        _write_pieces(part, text)


def _write_pieces(path: Path, text: str | Iterable[str]) -> None:
    with path.open('w', encoding='utf-8') as file:
        file.writelines([text] if isinstance(text, str) else text)


@contextmanager
def appending(path: Path) -> Iterator[BinaryIO]:
    """Opens a file, created if missing, for reading and appending; never follows a link.

    Raises:
        OSError: it cannot be opened, or is a link, a named pipe or a device.
    """
    if path.is_symlink():
        raise OSError(errno.ELOOP, 'it is a link, which outputs do not follow', str(path))
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    handle = os.open(path, flags, 0o666)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, 'it is not a file', str(path))
    with os.fdopen(handle, 'a+b') as file:
        yield file


def make_folder(path: Path, name: str) -> Path:
    """Makes a folder and its parents, and returns it.

    Raises:
        SetupError: it cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SetupError(f'{name} {str(path)!r} cannot be made: {error.strerror}') from error
    return path


def _existing(path: Path, name: str) -> Path:
    """Returns the path, or its nearest existing parent."""
    try:
        whole = path.absolute()
        return next(place for place in (whole, *whole.parents) if place.exists())
    except OSError as error:
        raise SetupError(f'{name} is {str(path)!r}: {error.strerror}') from error


def _check_permission(place: Path | None, path: Path, name: str) -> None:
    """Tries to write to the folder `place`: permissions alone do not show what a system forbids."""
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
