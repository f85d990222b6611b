# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Zones of the workspace, in the base frame: where things belong, and where they are taken from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import SetupError
from frame_ros.core.input_files import read_text
from frame_ros.core.meanings import MeaningEnum
from frame_ros.core.strict_yaml import load_yaml

SHAPES = ('box', 'polygon', 'circle')
FIELDS = (*SHAPES, 'kind', 'height')
EXAMPLE = '{bin: {kind: target, box: [0.1, 0.2, 0.3, 0.4]}}'


class ZoneKind(MeaningEnum):
    """Kinds of zone."""

    TARGET = 'target', 'what is released here was placed'
    SOURCE = 'source', 'where things are taken from'
    WORKSPACE = 'workspace', 'what leaves it is lost'


@dataclass(frozen=True)
class Zone:
    """One zone.

    Attributes:
        outline: (N, 2) corners x, y in m; a circle has one, its centre.
        radius: of a circle, m; 0: the outline is a polygon.
        height: lowest and highest z, m.
    """

    name: str
    kind: ZoneKind
    outline: NDArray[np.float64]
    radius: float = 0.0
    height: tuple[float, float] = (-math.inf, math.inf)

    def holds(self, position: NDArray[np.float64]) -> bool:
        """Returns whether a position (3,), m, lies in the zone; never one that is not known."""
        if not np.isfinite(position).all() or not self.height[0] <= position[2] <= self.height[1]:
            return False
        if self.radius > 0:
            return bool(np.linalg.norm(position[:2] - self.outline[0]) <= self.radius)
        return _is_inside(position[0], position[1], self.outline)


def zone_at(zones: Sequence[Zone], position: NDArray[np.float64]) -> Zone | None:
    """Returns the first target or source zone that holds a position (3,), m; None: none does."""
    inner = (zone for zone in zones if zone.kind is not ZoneKind.WORKSPACE)
    return next((zone for zone in inner if zone.holds(position)), None)


def is_lost(zones: Sequence[Zone], position: NDArray[np.float64]) -> bool:
    """Returns whether a position (3,), m, lies outside of all zones, if one is the workspace."""
    has_workspace = any(zone.kind is ZoneKind.WORKSPACE for zone in zones)
    known = bool(np.isfinite(position).all())
    return has_workspace and known and not any(zone.holds(position) for zone in zones)


def read_zones(path: str | Path) -> tuple[Zone, ...]:
    """Returns the zones of a YAML file: name -> kind, and one of box [x0, y0, x1, y1], polygon
    [[x, y], ...] and circle [x, y, radius], in m of the base frame; possibly height [z0, z1].

    Raises:
        SetupError: it cannot be read, or a zone is wrong.
    """
    try:
        content = load_yaml(read_text(Path(path).expanduser()))
    except (OSError, ValueError) as error:
        raise SetupError(f'the zones {path}: {error}') from error
    except Exception as error:  # of the YAML parser
        raise SetupError(f'the zones {path} are no YAML: {error}') from error
    if not isinstance(content, dict) or not content:
        raise SetupError(f'the zones {path} must be a mapping such as {EXAMPLE}')
    zones = []
    for name, fields in content.items():
        try:
            zones.append(make_zone(str(name), fields))
        except SetupError as error:
            raise SetupError(f'the zones {path}: {error}') from None
    return tuple(zones)


def make_zone(name: str, fields: Any) -> Zone:
    """Returns a zone of its fields; without `kind` its name is its kind.

    Raises:
        SetupError: a field is missing, unknown or wrong.
    """
    if not isinstance(fields, Mapping) or set(fields) - set(FIELDS):
        raise SetupError(f'{name} is {fields!r}; expected: {", ".join(FIELDS)}, as in {EXAMPLE}')
    kind = next((k for k in ZoneKind if k.value == fields.get('kind', name)), None)
    if kind is None:
        raise SetupError(f'{name} is of kind {fields.get("kind")!r}; one of {", ".join(ZoneKind)}')
    shapes = [shape for shape in SHAPES if shape in fields]
    if len(shapes) != 1:
        raise SetupError(f'{name} has {shapes or "no shape"}; one of {", ".join(SHAPES)} is needed')
    outline, radius = _outline(name, shapes[0], fields[shapes[0]])
    height = (-math.inf, math.inf)
    if 'height' in fields:
        low, high = _numbers(name, 'height', fields['height'], 2)
        if low > high:
            raise SetupError(f'{name}: height is {[low, high]}; the lower comes first')
        height = (low, high)
    return Zone(name, kind, outline, radius, height)


def _outline(name: str, shape: str, given: Any) -> tuple[NDArray[np.float64], float]:
    if shape == 'box':
        x0, y0, x1, y1 = _numbers(name, shape, given, 4)
        if x0 == x1 or y0 == y1:
            raise SetupError(f'{name}: box is {given}, which is flat; x0, y0, x1, y1 are expected')
        return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]]), 0.0
    if shape == 'circle':
        x, y, radius = _numbers(name, shape, given, 3)
        if radius <= 0:
            raise SetupError(f'{name}: circle is {given}; x, y and a positive radius are expected')
        return np.array([[x, y]]), radius
    if not isinstance(given, list) or len(given) < 3:
        raise SetupError(f'{name}: polygon is {given!r}; three or more corners [x, y] are expected')
    return np.array([_numbers(name, shape, corner, 2) for corner in given]), 0.0


def _numbers(name: str, field: str, given: Any, count: int) -> list[float]:
    is_list = isinstance(given, list) and len(given) == count
    if not is_list or not all(type(each) in (int, float) and math.isfinite(each) for each in given):
        raise SetupError(f'{name}: {field} is {given!r}; {count} numbers (m) are expected')
    return [float(each) for each in given]


def _is_inside(x: float, y: float, outline: NDArray[np.float64]) -> bool:
    """Returns whether a point lies in a polygon (N, 2): a ray crosses its edges an odd number of
    times.
    """
    ends = np.roll(outline, -1, axis=0)
    is_crossed = (outline[:, 1] > y) != (ends[:, 1] > y)
    rise = ends[:, 1] - outline[:, 1]
    with np.errstate(divide='ignore', invalid='ignore'):
        at = outline[:, 0] + (y - outline[:, 1]) / rise * (ends[:, 0] - outline[:, 0])
    return bool(np.count_nonzero(is_crossed & (x < at)) % 2)
