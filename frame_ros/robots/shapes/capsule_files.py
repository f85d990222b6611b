# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Capsules of a robot's links as a YAML file.

    robot: my_arm
    links:
      upper_arm:
      - {start: [0.0, 0.0, 0.02], end: [0.0, 0.0, 0.31], radius: 0.055}

start, end: centres of the ends, m, in the link's frame; radius: m.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from frame_ros.core.errors import RobotError
from frame_ros.core.input_files import read_text
from frame_ros.core.strict_yaml import load_yaml
from frame_ros.robots.description import Capsule

DIGITS = 6  # of the numbers in m: to the micrometre


def format_capsules(robot: str, capsules: Mapping[str, Sequence[Capsule]]) -> str:
    """Returns the text of a file, with radii rounded up so that nothing leaves a capsule."""
    lines = [f'robot: {robot}', 'links:']
    for link, found in capsules.items():
        lines.append(f'  {link}:')
        for each in found:
            # The ends may have moved by half the last digit along each axis.
            radius = math.ceil(each.radius * 10**DIGITS + 1) / 10**DIGITS
            start, end = _text(each.start), _text(each.end)
            lines.append(f'  - {{start: {start}, end: {end}, radius: {radius:.{DIGITS}f}}}')
    return '\n'.join(lines) + '\n'


def _text(point: Sequence[float] | np.ndarray) -> str:
    return '[' + ', '.join(f'{value + 0.0:.{DIGITS}f}' for value in np.asarray(point)) + ']'


def load_capsules(path: str | Path) -> dict[str, list[Capsule]]:
    """Loads link -> its capsules from a file.

    Raises:
        RobotError: the file cannot be read, or does not contain capsules.
    """
    import yaml

    try:
        data = load_yaml(read_text(Path(path).expanduser()))
    except (OSError, UnicodeDecodeError) as error:
        raise RobotError(f'the capsules {path} cannot be read: {error}') from error
    except yaml.YAMLError as error:
        raise RobotError(f'{path} is not YAML: {error}') from error
    links = data.get('links') if isinstance(data, dict) else None
    if not isinstance(links, dict) or not links:
        raise RobotError(f'{path} has no entry "links" with capsules; see `frame-ros capsules`')
    return {str(link): _capsules(path, str(link), entries) for link, entries in links.items()}


def _capsules(path: str | Path, link: str, entries: Any) -> list[Capsule]:
    if not isinstance(entries, list) or not entries:
        raise RobotError(f'{path}: {link} needs a list of capsules, not {entries!r}')
    return [_capsule(path, link, entry) for entry in entries]


def _capsule(path: str | Path, link: str, entry: Any) -> Capsule:
    try:
        start, end = (np.array([float(v) for v in entry[name]]) for name in ('start', 'end'))
        radius = float(entry['radius'])
    except (KeyError, TypeError, ValueError) as error:
        raise RobotError(
            f'{path}: a capsule of {link} needs start and end of three numbers each and a radius, '
            f'in m, not {entry!r}'
        ) from error
    is_finite = np.isfinite([*start, *end, radius]).all()
    if start.shape != (3,) or end.shape != (3,) or not is_finite or not radius > 0.0:
        raise RobotError(
            f'{path}: a capsule of {link} needs start and end of three numbers each and a radius '
            f'above 0, in m, not {entry!r}'
        )
    return Capsule(start, end, radius)
