# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Types of arguments: what a text must be to be taken. argparse adds the option's name."""

from __future__ import annotations

import math
from argparse import ArgumentTypeError
from pathlib import Path

from frame_ros.core.errors import SetupError
from frame_ros.core.output_files import check_file, check_folder


def given(text: str) -> str:
    """A text that is not empty."""
    if not text.strip():
        raise ArgumentTypeError('it is empty')
    return text


def any_path(text: str) -> Path:
    """A path, whatever is there."""
    return Path(given(text)).expanduser()


def input_file(text: str) -> Path:
    """A file that is there."""
    if not any_path(text).is_file():
        raise ArgumentTypeError(f'there is no file {text!r}')
    return any_path(text)


def input_folder(text: str) -> Path:
    """A folder that is there."""
    if not any_path(text).is_dir():
        raise ArgumentTypeError(f'there is no folder {text!r}')
    return any_path(text)


def output_file(text: str) -> Path:
    """A file that can be written, in a folder that is there."""
    try:
        return check_file(given(text), 'the file')
    except SetupError as error:
        raise ArgumentTypeError(str(error)) from error


def output_link(text: str) -> str:
    """A symbolic link that can be made; one that is there is replaced, anything else is not."""
    place = any_path(text)
    if not place.is_symlink():
        if place.exists():
            raise ArgumentTypeError(f'{text!r} is there, and is no symbolic link')
        output_file(text)
    return text


def output_folder(text: str) -> Path:
    """A folder that can be written, or made."""
    try:
        return check_folder(given(text), 'the folder')
    except SetupError as error:
        raise ArgumentTypeError(str(error)) from error


def positive(text: str) -> float:
    """A number above 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 < value < math.inf:
        raise ArgumentTypeError(f'{text!r} must be a number above 0')
    return value
