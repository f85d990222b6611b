# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Types of arguments: what a text must be to be taken. argparse adds the option's name."""

from __future__ import annotations

import math
import re
from argparse import ArgumentTypeError
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from frame_ros.core.errors import RobotError, SetupError
from frame_ros.core.output_files import check_file, check_folder
from frame_ros.core.ros_names import check_namespace


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


def robot(text: str) -> str:
    """The name of a robot, or the path of its profile or URDF; as a packaged name or a path."""
    from frame_ros.robots.profiles import locate

    try:
        locate(text)
    except RobotError as error:
        raise ArgumentTypeError(str(error)) from error
    return text


def namespace(text: str) -> str:
    """A namespace as ROS has them; empty: none."""
    try:
        check_namespace(text)
    except SetupError as error:
        raise ArgumentTypeError(str(error)) from error
    return text


def word(text: str) -> str:
    """Returns what can be a part of a file's name, or name an environment variable."""
    if not re.fullmatch(r'[\w-][\w.-]*', text):
        raise ArgumentTypeError(f'{text!r} must be letters, digits, -, _ and .')
    return text


def url(text: str) -> str:
    """An http or https address."""
    parts = urlsplit(text)
    if parts.scheme not in ('http', 'https') or not parts.hostname:
        raise ArgumentTypeError(f'{text!r} is no address such as http://127.0.0.1:11434/v1')
    return text


def names(text: str) -> tuple[str, ...]:
    """Names with commas between, at least one."""
    found = tuple(filter(None, map(str.strip, text.split(','))))
    if not found:
        raise ArgumentTypeError(f'{text!r} holds no name; they have commas between: a,b')
    return found


def whole(low: int, high: int | None = None) -> Callable[[str], int]:
    """A whole number from `low` to `high`."""
    expected = f'a whole number, {low} or more' if high is None else f'{low} to {high}'

    def parse(text: str) -> int:
        """The number that an argument gives; ArgumentTypeError if it is no such number."""
        try:
            value = int(text)
        except ValueError:
            value = low - 1
        if value < low or (high is not None and value > high):
            raise ArgumentTypeError(f'{text!r} must be {expected}')
        return value

    return parse


def samples(text: str) -> int:
    """Returns how many chunks to sample: none, or enough for a deviation."""
    value = whole(0)(text)
    if value == 1:
        raise ArgumentTypeError('1 sample has no deviation; it must be 0, or 2 or more')
    return value


def number_from(
    low: float = -math.inf, high: float = math.inf, is_above: bool = False
) -> Callable[[str], float]:
    """A finite number from `low` to `high`. is_above: `low` itself is too low."""
    expected = 'a number'
    if math.isfinite(low):
        expected += f' above {low:g}' if is_above else f', {low:g} or more'
    if math.isfinite(high):
        expected += f', {high:g} at most'

    def parse(text: str) -> float:
        """The number that an argument gives; ArgumentTypeError if it is no such number."""
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        is_right = math.isfinite(value) and (value > low if is_above else value >= low)
        if not is_right or value > high:
            raise ArgumentTypeError(f'{text!r} must be {expected}')
        return value

    return parse


positive = number_from(0.0, is_above=True)
