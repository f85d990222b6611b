# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Types of arguments: paths, checked before a command begins. argparse adds the option's name."""

from __future__ import annotations

import math
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path

from frame_ros.core.errors import SetupError
from frame_ros.core.output_files import check_file, check_folder


def given(text: str) -> str:
    """Returns the text, which must not be empty."""
    if not text.strip():
        raise ArgumentTypeError('it is empty')
    return text


def any_path(text: str) -> Path:
    """Returns a path, which need not exist."""
    return Path(given(text)).expanduser()


def input_file(text: str) -> Path:
    """Returns the path of an existing file."""
    if not any_path(text).is_file():
        raise ArgumentTypeError(f'there is no file {text!r}')
    return any_path(text)


def input_folder(text: str) -> Path:
    """Returns the path of an existing folder."""
    if not any_path(text).is_dir():
        raise ArgumentTypeError(f'there is no folder {text!r}')
    return any_path(text)


def output_file(text: str) -> Path:
    """Returns the path of a file that can be written, in an existing folder."""
    try:
        return check_file(given(text), 'the file')
    except SetupError as error:
        raise ArgumentTypeError(str(error)) from error


def output_link(text: str) -> str:
    """Returns the path of a symbolic link to make, in a folder that may be made later; only an
    existing link may be replaced.
    """
    place = any_path(text)
    if place.is_symlink():
        return text
    if place.exists():
        raise ArgumentTypeError(f'{text!r} exists, and is not a symbolic link')
    try:
        check_folder(place.parent, 'its folder')
    except SetupError as error:
        raise ArgumentTypeError(str(error)) from error
    return text


def add_new_folder(parser: ArgumentParser, text: str) -> None:
    """Declares -o/--output DIR, which is required. text: what is in it."""
    parser.add_argument(
        '-o', '--output', type=output_folder, required=True, metavar='DIR', help=f'new folder{text}'
    )


def output_folder(text: str) -> Path:
    """Returns the path of a folder that can be written, or made."""
    try:
        return check_folder(given(text), 'the folder')
    except SetupError as error:
        raise ArgumentTypeError(str(error)) from error


def positive(text: str) -> float:
    """Returns a number above 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 < value < math.inf:
        raise ArgumentTypeError(f'{text!r} must be a number above 0')
    return value
