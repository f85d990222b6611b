# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Capsules of a robot's links as a YAML file.

    robot: my_arm
    links:
      upper_arm:
      - {start: [0.0, 0.0, 0.02], end: [0.0, 0.0, 0.31], radius: 0.055}

start, end: centres of the ends, m, in the link's frame; radius: m. `shape_files` reads it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

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
