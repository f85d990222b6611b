# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Perturbations of a scene: values of one operator, on the way from its own to others."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import attrs

from frame_ros.core.errors import ValueRangeError
from frame_ros.scenes.description.scene import Origin, Scene, with_values
from frame_ros.scenes.generation.generator import GENERATOR, scene_from
from frame_ros.scenes.generation.operators import OPERATORS
from frame_ros.scenes.generation.setting import Setting, nominal_scene
from frame_ros.scenes.search.space import share_of

OWN_FIELDS = ('name', 'robot', 'policy_seed', 'origin')  # of a scene, which no operator makes


@attrs.frozen
class Perturbation:
    """A way from a scene's values of an operator to others.

    Attributes:
        operator: its name.
        start: dimension -> value in the scene.
        end: dimension -> value at the other end.
    """

    operator: str
    start: Mapping[str, Any]
    end: Mapping[str, Any]

    def at(self, scale: float, setting: Setting) -> dict[str, Any]:
        """Dimension -> value at a scale from 0, the start, to 1, the end: the same part of each
        dimension's share. A choice changes halfway.

        Raises:
            ValueRangeError: the scale is outside, or a value is none of its dimension.
        """
        if not 0.0 <= scale <= 1.0:
            raise ValueRangeError(f'the scale is {scale}; it must be 0 to 1')
        found = dict(self.start)
        for dimension in OPERATORS[self.operator].dimensions(setting):
            name = dimension.name
            first, last = self.start[name], self.end[name]
            if scale == 1.0 or (dimension.choices and scale >= 0.5):
                found[name] = last
            elif not dimension.choices and scale > 0.0:
                a, b = share_of(dimension, first), share_of(dimension, last)
                found[name] = dimension.at(a + (b - a) * scale)
        return found

    @property
    def is_of_choices(self) -> bool:
        """True if nothing lies between the ends."""
        changed = (value for name, value in self.end.items() if value != self.start[name])
        return all(not isinstance(value, float) for value in changed)

    @property
    def is_none(self) -> bool:
        """True if both ends are the same."""
        return dict(self.start) == dict(self.end)


def values_of(scene: Scene, setting: Setting) -> dict[str, dict[str, Any]]:
    """Values of all operators in a scene: those that it was drawn with, else those that change
    nothing. Operators of unseen objects, and of confounders that are not there, are left out.

    Raises:
        ValueRangeError: no operators drew it.
    """
    if scene.origin is None or not scene.origin.values:
        raise ValueRangeError(f'the scene {scene.name} says no values of operators')
    own = {name: dict(values) for name, values in scene.origin.values.items()}
    friction = {'friction': {'target': scene.target.friction}}
    return {**neutral_values(setting), **friction, **own}


def neutral_values(setting: Setting) -> dict[str, dict[str, Any]]:
    """Values of operators with which the nominal scene stays as it is."""
    scene, table = nominal_scene(setting), setting.robot.table
    found: dict[str, dict[str, Any]] = {
        'target_type': {'target': scene.target.type},
        'confounder_count': {'count': 0},
        'target_position': {
            'target.radius': sum(table.object_radii) / 2,
            'target.azimuth': sum(table.object_azimuths) / 2,
        },
        'target_orientation': {'target.yaw': 0.0, 'target.posture': 'upright'},
        'light_intensity': {'factor': 1.0},
        'camera_position': dict.fromkeys('xyz', 0.0),
        'camera_orientation': {'pitch': 0.0, 'yaw': 0.0},
        'light_count': {'count': len(scene.lights or ())},
        'camera_intrinsics': {'focal': 1.0, 'centre_x': 0.0, 'centre_y': 0.0},
        'camera_resolution': {'size': f'{setting.limits.width}x{setting.limits.height}'},
        'sensor_latency': {'images': 0.0, 'joints': 0.0},
        'sensor_dropouts': {'images': 0.0, 'joints': 0.0},
        'friction': {'target': scene.target.friction},
        'mass': {'target': 1.0},
        'table_texture': {'texture': 'plain', 'colour': 'own'},
    }
    if (receptacle := scene.receptacle) is not None:
        found['target_type']['receptacle'] = receptacle.type
        found['target_position'] |= {
            'receptacle.radius': table.bin_radius, 'receptacle.azimuth': table.bin_azimuth,
        }  # fmt: skip
        found['target_orientation']['receptacle.yaw'] = 0.0
    return found


def undrawn_fields(scene: Scene, setting: Setting, start: Scene | None = None) -> list[str]:
    """Returns the fields of a scene that are not as its values make them; none of a scene without
    values. Numbers may differ by rounding, as on another computer.

    Args:
        start: that operators change; None: the nominal one.
    """
    if scene.origin is None or not scene.origin.values:
        return []
    values = {name: dict(own) for name, own in scene.origin.values.items()}
    made = scene_from(setting, values, start)
    names = [each.name for each in attrs.fields(Scene) if each.name not in OWN_FIELDS]
    found, expected = (attrs.asdict(each) for each in (scene, made))
    return [name for name in names if not _is_close(found[name], expected[name])]


def _is_close(one: Any, other: Any) -> bool:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        same = one.keys() == other.keys()
        return same and all(_is_close(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_is_close, one, other))
    if isinstance(one, float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return bool(one == other)


def perturbed(
    scene: Scene,
    change: Perturbation,
    scale: float,
    setting: Setting,
    start: Scene | None = None,
) -> Scene:
    """The scene with one operator's values on the way to the end of a perturbation.

    Args:
        start: that operators change; None: the nominal one.

    Raises:
        ValueRangeError: as of `values_of` and `Perturbation.at`.
    """
    own = values_of(scene, setting)
    assert scene.origin is not None
    kept = {name: own[name] for name in scene.origin.values}
    values = {**kept, change.operator: change.at(scale, setting)}
    made = scene_from(setting, values, start)
    origin = Origin(
        generator=GENERATOR, seed=scene.origin.seed, index=scene.origin.index, values=values
    )
    name = f'{scene.name}.{change.operator}_{scale:.4f}'
    return with_values(made, name=name, policy_seed=scene.policy_seed, origin=origin)


def to_ends(scene: Scene, operator: str, setting: Setting) -> list[Perturbation]:
    """Perturbations of one dimension each: to both ends of its range, or to each other choice.

    Raises:
        ValueRangeError: as of `values_of`, or the operator has no values in the scene.
    """
    start = _start(scene, operator, setting)
    found = []
    for dimension in OPERATORS[operator].dimensions(setting):
        ends = dimension.choices or (dimension.low, dimension.high)
        for end in ends:
            change = Perturbation(operator, start, {**start, dimension.name: end})
            if not change.is_none:
                found.append(change)
    return found


def to_scene(scene: Scene, other: Scene, operator: str, setting: Setting) -> Perturbation:
    """The perturbation to the values of another scene, such as one that failed.

    Raises:
        ValueRangeError: as of `to_ends`.
    """
    end = _start(other, operator, setting)
    return Perturbation(operator, _start(scene, operator, setting), end)


def _start(scene: Scene, operator: str, setting: Setting) -> Mapping[str, Any]:
    own = values_of(scene, setting)
    if operator not in own:
        raise ValueRangeError(
            f'the scene {scene.name} says no values of {operator}, and it has none that change '
            'nothing; draw the scene with it'
        )
    return own[operator]
