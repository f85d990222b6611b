# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The space of scenes: the dimensions of operators, as shares from 0 to 1, and their cells."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import attrs
import numpy as np

from frame_ros.core.errors import ValueRangeError
from frame_ros.scenes.description.scene import Scene
from frame_ros.scenes.generation.operators import Dimension, Operator, chosen_operators
from frame_ros.scenes.generation.setting import Setting, mesh_library, setting
from frame_ros.scenes.simulation.scene_robot import scene_robot

BINS = 4  # of a range in the coverage grid; choices are one by one
# Operator and dimension, on whose value it depends whether others have an effect.
DECIDING = (('confounder_count', 'count'), ('unseen_objects', 'who'))
Values = Mapping[str, Mapping[str, Any]]
Cell = tuple[tuple[str, int], ...]


@attrs.frozen
class Axis:
    """One dimension of one operator.

    Attributes:
        operator: its name.
        dimension: with its range or choices.
    """

    operator: str
    dimension: Dimension

    @property
    def name(self) -> str:
        """Operator and dimension, as `--fixed` takes them."""
        return f'{self.operator}.{self.dimension.name}'

    @property
    def is_deciding(self) -> bool:
        """True if it depends on its value which others have an effect."""
        return (self.operator, self.dimension.name) in DECIDING

    @property
    def is_ordered(self) -> bool:
        """True if values are nearer to one another or further: numbers, not other choices."""
        return all(isinstance(each, (int, float)) for each in self.dimension.choices)

    def bins(self, bins: int = BINS) -> int:
        """Number of cells."""
        return len(self.dimension.choices) or bins

    def bin_of(self, value: Any, bins: int = BINS) -> int:
        """The cell of a value: equal parts of the range, or the number of the choice.

        Raises:
            ValueRangeError: the value is none of the dimension.
        """
        if self.dimension.choices:
            self.dimension.checked(value)
            return self.dimension.choices.index(value)
        return min(int(share_of(self.dimension, value) * bins), bins - 1)


def share_of(dimension: Dimension, value: Any) -> float:
    """The share, 0 to 1, at which a dimension has a value; of a choice the middle of its part.

    Raises:
        ValueRangeError: the value is none of the dimension.
    """
    value = dimension.checked(value)
    if dimension.choices:
        return (dimension.choices.index(value) + 0.5) / len(dimension.choices)
    if dimension.low == dimension.high:
        return 0.0
    if dimension.is_log:
        share = math.log(value / dimension.low) / math.log(dimension.high / dimension.low)
    else:
        share = (value - dimension.low) / (dimension.high - dimension.low)
    return min(max(share, 0.0), 1.0)


@attrs.frozen
class SceneSpace:
    """The dimensions of some operators in a setting.

    Attributes:
        setting: robot, task and limits.
        operators: in the order in which they are applied.
        fixed: operator -> dimension -> the one value that it has.
    """

    setting: Setting
    operators: tuple[Operator, ...]
    fixed: Values = {}

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The dimensions that may vary."""
        return tuple(
            Axis(operator.name, each)
            for operator in self.operators
            for each in operator.dimensions(self.setting)
            if each.name not in self.fixed.get(operator.name, ())
        )

    def draw(self, rng: np.random.Generator) -> dict[str, dict[str, Any]]:
        """Values of all operators, drawn as the generator does."""
        return {
            each.name: each.draw(rng, self.setting) | dict(self.fixed.get(each.name, {}))
            for each in self.operators
        }

    def cell_of(self, values: Values, bins: int = BINS) -> Cell:
        """The cell of values: (axis, bin) of each axis that has an effect, in order.

        Raises:
            ValueRangeError: a value is missing or out of range.
        """
        found = []
        for axis in self.axes:
            if axis.dimension.name not in values.get(axis.operator, ()):
                raise ValueRangeError(f'there is no value of {axis.name}')
            if has_effect(axis, values):
                found.append(
                    (axis.name, axis.bin_of(values[axis.operator][axis.dimension.name], bins))
                )
        return tuple(found)


def has_effect(axis: Axis, values: Values) -> bool:
    """Returns whether a dimension changes the scene that the values make: one of a confounder that
    the scene does not have does not, nor does one of an object whose type is replaced, or not
    replaced, by an unseen one.
    """
    owner = axis.dimension.name.partition('.')[0]
    if owner.isdigit() and int(owner) >= values.get('confounder_count', {}).get('count', 0):
        return False
    who = values.get('unseen_objects', {}).get('who')
    replaced = {
        'target': ('target',),
        'confounders': ('confounders',),
        'all': ('target', 'receptacle', 'confounders'),
    }.get(str(who), ())
    thing = 'confounders' if owner.isdigit() else owner
    if axis.operator == 'unseen_objects':
        return owner == 'who' or thing in replaced
    if axis.operator in ('target_type', 'confounder_type'):
        return thing not in replaced
    return True


def space_of(scene: Scene, place: Setting | None = None) -> SceneSpace:
    """The space of the operators that drew a scene.

    Args:
        place: its setting; None: that of its robot and task.

    Raises:
        RobotError: there is no such robot.
        ValueRangeError: no operators drew it.
        FrameRosError: its meshes are not to be had, as of `mesh_library` and `setting`.
    """
    if scene.origin is None or not scene.origin.values:
        raise ValueRangeError(f'the scene {scene.name} says no values of operators')
    meshes = mesh_library([scene])
    found = place or setting(scene_robot(scene.robot), scene.task.kind, meshes=meshes)
    return SceneSpace(found, chosen_operators(tuple(scene.origin.values)))


def cell_of(scene: Scene, place: Setting | None = None, bins: int = BINS) -> Cell:
    """The cell of the operators' coverage grid in which a scene lies, by the values that it was
    drawn with: (axis, bin) of each dimension that has an effect in it.

    Raises:
        RobotError, ValueRangeError: as `space_of`, or a value is out of range.
    """
    space = space_of(scene, place)
    assert scene.origin is not None
    return space.cell_of(scene.origin.values, bins)
