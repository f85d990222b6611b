# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Shapes of a robot's links as a YAML file.

    robot: my_arm
    links:
      upper_arm:
      - {start: [0.0, 0.0, 0.02], end: [0.0, 0.0, 0.31], radius: 0.055}
      - {centre: [0.0, 0.0, 0.1], axis: [0.0, 0.0, 1.0], half_length: 0.1, core: 0.04,
         radius: 0.005}
      - {centre: [0.0, 0.02, 0.1], quaternion: [0.0, 0.0, 0.0, 1.0], half_sizes: [0.02, 0.03, 0.1],
         radius: 0.01}

In the link's frame, m: a capsule by the centres of its ends; a cylinder of the radius `core` with
all within `radius` of it; a box with all within `radius` of it, its quaternion x y z w. A file may
say under `source` where the shapes come from, and under `fit` how well they fit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import RobotError
from frame_ros.core.input_files import read_text
from frame_ros.core.strict_yaml import load_yaml
from frame_ros.robots.description import Capsule
from frame_ros.robots.motion import rotation_of
from frame_ros.robots.shapes.link_shapes import (
    CAPSULE,
    ROUNDED_CYLINDER,
    SPHERE,
    Shape,
    capsule_shape,
    rotation_to,
    rounded_box,
    rounded_cylinder,
)

DIGITS = 5  # of the numbers in m
_TURN_DIGITS = 6
_UNIT = 1e-3  # by which an axis' or quaternion's length may differ from 1

Array = NDArray[np.float64]


def format_shapes(shapes: Mapping[str, Sequence[Shape]]) -> str:
    """Returns the entry `links` of a file. Lengths are rounded to 0.01 mm, radii up by as much as
    the rest may move, so that nothing leaves a shape by it.
    """
    lines = ['links:']
    for link, found in shapes.items():
        lines.append(f'  {link}:')
        lines += [f'  - {_entry(shape)}' for shape in found]
    return '\n'.join(lines) + '\n'


def _entry(shape: Shape) -> str:
    radius = math.ceil(shape.radius * 10**DIGITS + 2) / 10**DIGITS
    last = f'radius: {radius:.{DIGITS}f}}}'
    if shape.kind in (SPHERE, CAPSULE):
        reach = shape.rotation[:, 2] * shape.half_sizes[2]
        start, end = _text(shape.translation - reach), _text(shape.translation + reach)
        return f'{{start: {start}, end: {end}, {last}'
    centre = f'{{centre: {_text(shape.translation)}'
    if shape.kind == ROUNDED_CYLINDER:
        core, _, half_length = (f'{value:.{DIGITS}f}' for value in shape.half_sizes)
        axis = _text(shape.rotation[:, 2], _TURN_DIGITS)
        return f'{centre}, axis: {axis}, half_length: {half_length}, core: {core}, {last}'
    from scipy.spatial.transform import Rotation  # reading needs none

    turn = _text(Rotation.from_matrix(shape.rotation).as_quat(canonical=True), _TURN_DIGITS)
    return f'{centre}, quaternion: {turn}, half_sizes: {_text(shape.half_sizes)}, {last}'


def _text(numbers: Array, digits: int = DIGITS) -> str:
    return '[' + ', '.join(f'{value + 0.0:.{digits}f}' for value in numbers) + ']'


def read_shapes(path: str | Path) -> dict[str, list[Shape]]:
    """Loads link -> its shapes from a file.

    Raises:
        RobotError: the file cannot be read, or does not contain shapes.
    """
    import yaml

    try:
        data = load_yaml(read_text(Path(path).expanduser()))
    except (OSError, UnicodeDecodeError) as error:
        raise RobotError(f'the shapes {path} cannot be read: {error}') from error
    except yaml.YAMLError as error:
        raise RobotError(f'{path} is not YAML: {error}') from error
    links = data.get('links') if isinstance(data, dict) else None
    if not isinstance(links, dict) or not links:
        raise RobotError(f'{path} has no entry "links" with shapes; see `frame-ros capsules`')
    return {str(link): _shapes(path, str(link), entries) for link, entries in links.items()}


def _shapes(path: str | Path, link: str, entries: Any) -> list[Shape]:
    if not isinstance(entries, list) or not entries:
        raise RobotError(f'{path}: {link} needs a list of shapes, not {entries!r}')
    return [_shape(path, link, entry) for entry in entries]


def _shape(path: str | Path, link: str, entry: Any) -> Shape:
    try:
        if 'axis' in entry:
            return _cylinder(entry)
        return _box(entry) if 'centre' in entry else _capsule(entry)
    except (KeyError, TypeError, ValueError) as error:
        raise RobotError(
            f'{path}: a shape of {link} needs start and end of three numbers each and a radius '
            'above 0; or centre, axis, half_length, core and radius; or centre, quaternion '
            f'(x y z w), half_sizes and radius, in m, not {entry!r}'
        ) from error


def _capsule(entry: Mapping[str, Any]) -> Shape:
    start, end = _numbers(entry, 'start', 3), _numbers(entry, 'end', 3)
    return capsule_shape(Capsule(start, end, _radius(entry)))


def _cylinder(entry: Mapping[str, Any]) -> Shape:
    core, half_length = float(entry['core']), float(entry['half_length'])
    if not (0.0 <= core < math.inf and 0.0 <= half_length < math.inf):
        raise ValueError('core')
    axis = _numbers(entry, 'axis', 3)
    length = float(np.linalg.norm(axis))
    if abs(length - 1.0) > _UNIT:
        raise ValueError('axis')
    centre, turn = _numbers(entry, 'centre', 3), rotation_to(axis / length)
    return rounded_cylinder(core, half_length, _radius(entry), centre, turn)


def _box(entry: Mapping[str, Any]) -> Shape:
    half, quaternion = _numbers(entry, 'half_sizes', 3), _numbers(entry, 'quaternion', 4)
    if (half < 0.0).any() or abs(float(np.linalg.norm(quaternion)) - 1.0) > _UNIT:
        raise ValueError('half_sizes')
    turn = rotation_of(quaternion / np.linalg.norm(quaternion))
    return rounded_box(half, _radius(entry), _numbers(entry, 'centre', 3), turn)


def _radius(entry: Mapping[str, Any]) -> float:
    radius = float(entry['radius'])
    if not (math.isfinite(radius) and radius > 0.0):
        raise ValueError('radius')
    return radius


def _numbers(entry: Mapping[str, Any], name: str, count: int) -> Array:
    numbers = np.array([float(value) for value in entry[name]])
    if numbers.shape != (count,) or not np.isfinite(numbers).all():
        raise ValueError(name)
    return numbers
