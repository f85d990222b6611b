# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Factors by which scenes differ: the operators' values, and what follows from the scene."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.scenes.description.scene import Scene, SceneObject

Array = NDArray[np.float64]
NAN = float('nan')

# Name -> unit, text: of what is derived from the scene itself.
DERIVED = {
    'target.type': ('', 'type of the target'),
    'target.x': ('m', "x of the target's middle"),
    'target.y': ('m', "y of the target's middle"),
    'target.yaw': ('rad', 'yaw of the target'),
    'target.mass': ('kg', 'mass of the target'),
    'confounders': ('', 'number of confounders'),
    'confounders.similarity': ('', 'mean similarity of the confounders to the target'),
    'confounders.distance': ('m', 'from the middle of the target to the nearest confounder'),
    'light.factor': ('', 'factor on all lights'),
    'light.change': ('', 'absolute natural logarithm of the factor on all lights'),
    'camera.shift': ('m', 'distance by which the cameras that stand are moved'),
    'camera.turn': ('rad', 'root of the sum of the squared turns of the cameras that stand'),
}  # fmt: skip
# Operators' dimensions that a derived factor says already.
SAID = ('target_type.target', 'confounder_count.count', 'light_intensity.factor')
# Factors of one thing each.
_ROOTS = (
    {'target.mass', 'mass.target'},
    {'light.factor', 'light.change'},
    {'camera.shift', *(f'camera_position.{axis}' for axis in 'xyz')},
    {'camera.turn', *(f'camera_orientation.{name}' for name in ('pitch', 'yaw', 'roll'))},
)
SIMILARITY = (
    'The similarity of a confounder to the target is the mean of three parts from 0 to 1: shape, 1 '
    'for the same kind of shape, else 0; size, the mean over the three edges of the boxes about '
    'them, in order of length, of the shorter to the longer; colour, 1 minus the distance in '
    'linear RGB over the greatest possible. A part that is not known is left out of the mean.'
)


@dataclass(frozen=True)
class Factor:
    """One factor of several scenes.

    Attributes:
        name: 'operator.dimension', of what is of an object the dimension, such as 'target.radius';
            or one of DERIVED.
        unit: SI symbol; '': none.
        text: in words.
        values: (n,) of the scenes; NaN: the scene has none. Of choices the place in `choices`.
        choices: texts, if it is no number.
    """

    name: str
    unit: str
    text: str
    values: Array
    choices: tuple[str, ...] = ()


def scene_factors(scenes: Sequence[Scene]) -> dict[str, Factor]:
    """Returns the factors in which scenes differ, by name.

    Dimensions of single confounders are left out: the first of them is no other than the second.
    """
    rows = [dict(_values_of(scene)) for scene in scenes]
    found = {}
    for name in sorted({name for row in rows for name in row}, key=_order):
        column = [row.get(name) for row in rows]
        known = {value for value in column if value is not None}
        if len(known) < 2:
            continue
        unit, text = DERIVED.get(name, ('', name.replace('_', ' ')))
        if all(isinstance(value, (int, float)) for value in known):
            values = np.array([NAN if value is None else float(value) for value in column])
            found[name] = Factor(name, unit or _unit(name), text, values)
        else:
            choices = tuple(sorted(map(str, known)))
            places = [NAN if v is None else float(choices.index(str(v))) for v in column]
            found[name] = Factor(name, '', text, np.array(places), choices)
    return found


def _order(name: str) -> tuple[bool, int, str]:
    places = list(DERIVED)
    return name not in DERIVED, places.index(name) if name in DERIVED else 0, name


def says_the_same(first: str, second: str) -> bool:
    """Returns whether two factors are of one thing, so that both together say hardly more."""
    roots = [next((root for root in _ROOTS if name in root), {name}) for name in (first, second)]
    if roots[0] == roots[1]:
        return True
    of_place = [{'target.x', 'target.y'}, {'target.radius', 'target.azimuth'}]
    return any(first in a and second in b for a, b in (of_place, of_place[::-1]))


def _unit(name: str) -> str:
    if name.startswith('camera_position.'):
        return 'm'
    if name.startswith('sensor_latency.'):
        return 's'
    last = name.rpartition('.')[2]
    return {'radius': 'm', 'azimuth': 'rad', 'yaw': 'rad', 'pitch': 'rad'}.get(last, '')


def _values_of(scene: Scene) -> Iterator[tuple[str, Any]]:
    drawn = scene.origin.values if scene.origin else {}
    for operator, values in drawn.items():
        for dimension, value in values.items():
            name = dimension if '.' in dimension else f'{operator}.{dimension}'
            if not dimension[:1].isdigit() and f'{operator}.{dimension}' not in SAID:
                yield name, value
    target = scene.target
    yield 'target.type', target.type
    yield 'target.x', target.position[0]
    yield 'target.y', target.position[1]
    yield 'target.yaw', _yaw(scene)
    if target.mass is not None:
        yield 'target.mass', target.mass
    yield 'confounders', len(scene.confounders)
    if scene.confounders:
        yield 'confounders.similarity', mean_similarity(scene)
        yield (
            'confounders.distance',
            min(math.dist(target.position, each.position) for each in scene.confounders),
        )
    yield 'light.factor', scene.light_factor
    yield 'light.change', abs(math.log(scene.light_factor))
    for name, operator in (('shift', 'camera_position'), ('turn', 'camera_orientation')):
        if operator in drawn:
            yield f'camera.{name}', math.hypot(*drawn[operator].values())


def _yaw(scene: Scene) -> float:
    """As it was drawn, or of the target's x axis."""
    drawn = scene.origin.values.get('target_orientation', {}) if scene.origin else {}
    if 'target.yaw' in drawn:
        return float(drawn['target.yaw'])
    rotation = scene.target.rotation
    return math.atan2(rotation[1, 0], rotation[0, 0])


def mean_similarity(scene: Scene) -> float:
    """Returns the mean similarity, 0 to 1, of the confounders; NaN without any."""
    found = [similarity(scene.target, each) for each in scene.confounders]
    known = [each for each in found if not math.isnan(each)]
    return sum(known) / len(known) if known else NAN


def similarity(first: SceneObject, second: SceneObject) -> float:
    """Returns how alike two objects are, 0 to 1, as SIMILARITY says; NaN: nothing is known."""
    parts = []
    if first.shape is not None and second.shape is not None:
        parts.append(float(first.shape.kind == second.shape.kind))
        a, b = np.sort(first.shape.half_edges), np.sort(second.shape.half_edges)
        parts.append(float(np.mean(np.minimum(a, b) / np.maximum(a, b))))
    if first.colour is not None and second.colour is not None:
        parts.append(1.0 - math.dist(first.colour, second.colour) / math.sqrt(3))
    return sum(parts) / len(parts) if parts else NAN
