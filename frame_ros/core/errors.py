# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Errors that a user can cause and fix, each stating what was wrong and what would be right."""

import re
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
# The checkout that this copy runs from, if any.
CHECKOUT = _ROOT if (_ROOT / 'scripts' / 'setup.sh').is_file() else None


class FrameRosError(Exception):
    """Base of all errors raised on purpose by frame_ros."""


class ShapeError(FrameRosError, ValueError):
    """An array has the wrong shape, or too few samples."""


class ValueRangeError(FrameRosError, ValueError):
    """A value is out of range (not finite, negative, an unknown name)."""


class RobotError(FrameRosError, ValueError):
    """A robot description or a joint state does not fit."""


class AbsentError(FrameRosError):
    """Something outside does not answer yet: trying again can help."""


class BagError(FrameRosError):
    """A bag cannot be read or written."""


class CheckpointError(FrameRosError):
    """A policy's folder lacks files or does not fit the robot."""


class PolicyError(FrameRosError):
    """A policy cannot act on what it was given, or gave something unusable."""


class PolicyFailedError(PolicyError):
    """A policy broke down by its own fault: its code raised, or gave unusable actions."""


class CalibrationError(FrameRosError):
    """Nothing can be fitted to the data, or a fitted file does not fit what it is used for."""


class MissingExtraError(FrameRosError, ImportError):
    """An optional dependency is not installed; the message names the extra to install."""


class SetupError(FrameRosError):
    """The environment lacks a tool, or a configuration is wrong."""


class UnsetError(SetupError):
    """An option that only the user knows, such as a port, is not given yet."""


def install_hint(extra: str = '') -> str:
    """Returns how to install what is missing, as a command that works for this copy of the package.
    The packages are named one by one, because frame_ros itself is in no index. extra: the extra
    that names them; empty for the package's own requirements.
    """
    if CHECKOUT is not None:
        packages = _of_checkout(CHECKOUT, extra)
    elif not (packages := _of_metadata(extra)):
        named = f'the extra {extra!r} of setup.cfg names' if extra else 'setup.cfg names'
        return f'{named} the packages; requirements/ros-sourced.txt has tested versions of all'
    command = f'pip install {" ".join(map(repr, packages))}'
    return command if CHECKOUT is None else f'`make setup` in {CHECKOUT}, or {command}'


def _of_checkout(checkout: Path, extra: str) -> list[str]:
    from configparser import ConfigParser

    metadata = ConfigParser()
    metadata.read(checkout / 'setup.cfg', encoding='utf-8')
    section, key = ('options.extras_require', extra) if extra else ('options', 'install_requires')
    return metadata.get(section, key).split()


def _of_metadata(extra: str) -> list[str]:
    """Returns the packages named in an installed copy's metadata; a colcon build has none."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        lines = requires('frame_ros') or []
    except PackageNotFoundError:
        return []
    parts = [line.partition(';') for line in lines]
    marks = [(name.strip(), re.search(r'extra == .([\w-]+)', mark)) for name, _, mark in parts]
    return [name for name, mark in marks if (mark[1] if mark else '') == extra]
