# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The operators by which scenes vary: one list, from which command, tables and coverage derive.

An operator has dimensions, each with a range and a scale; a draw is a number from 0 to 1 for each,
so that a search can choose them too. The ranges and what they rest on stand here only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.options import nearest
from frame_ros.scenes.description.scene import TEXTURES, Scene
from frame_ros.scenes.generation.changes import (
    move_cameras,
    set_confounder_count,
    set_confounder_orientations,
    set_confounder_positions,
    set_confounder_types,
    set_dropouts,
    set_friction,
    set_intensity,
    set_intrinsics,
    set_latency,
    set_light_count,
    set_mass,
    set_orientations,
    set_positions,
    set_resolution,
    set_table,
    set_types,
    set_unseen,
    turn_cameras,
)
from frame_ros.scenes.generation.setting import (
    MOST_CONFOUNDERS,
    POSTURES,
    Setting,
    colour_names,
    receptacle_azimuths,
)
from frame_ros.scenes.surroundings import LAMPS, OBJECT_FRICTION

PAPER = 'VLATest, section 3.1'
CODE = "VLATest's code"
CHOSEN = 'chosen here'
UNSEEN = 'unseen_objects'


@attrs.frozen
class Dimension:
    """One number or choice of an operator.

    Attributes:
        name: in the operator.
        low, high: ends of the range; of choices 0 and their number.
        unit: SI symbol; '': none.
        is_log: whether equal ratios are equally likely, not equal differences.
        choices: instead of a range.
    """

    name: str
    low: float = 0.0
    high: float = 1.0
    unit: str = ''
    is_log: bool = False
    choices: tuple[Any, ...] = ()

    def at(self, share: float) -> Any:
        """The value at a share, 0 to 1, of the range; raises ValueRangeError outside of it."""
        if not 0.0 <= share <= 1.0:
            raise ValueRangeError(f'{self.name} is drawn at {share}; it must be 0 to 1')
        if self.choices:
            return self.choices[min(int(share * len(self.choices)), len(self.choices) - 1)]
        if self.is_log:
            value = self.low * (self.high / self.low) ** share
        else:
            value = self.low + (self.high - self.low) * share
        return float(min(max(value, self.low), self.high))  # which rounding may pass

    def checked(self, value: Any) -> Any:
        """A value of the range, whole numbers as decimal ones, or one of the choices.

        Raises:
            ValueRangeError: it is neither.
        """
        if self.choices:
            is_right = any(value == c and type(value) is type(c) for c in self.choices)
        else:
            is_right = type(value) in (int, float) and self.low <= value <= self.high
        if not is_right:
            expected = f'one of {self.text}' if self.choices else self.text
            raise ValueRangeError(f'{self.name} is {value!r}; it must be {expected}')
        return value if self.choices else float(value)

    def is_of(self, objects: Sequence[str]) -> bool:
        """Returns whether it is a dimension of one of these objects, by their generated names."""
        owner = self.name.partition('.')[0]
        return any(owner == name.removeprefix('confounder_') for name in objects)

    @property
    def text(self) -> str:
        """The range or the choices, in words."""
        if self.choices:
            return ', '.join(map(str, self.choices))
        unit = f' {self.unit}' if self.unit else ''
        return f'{self.low:.3g} to {self.high:.3g}{unit}{", by ratios" if self.is_log else ""}'


Values = Mapping[str, Any]


@attrs.frozen
class Operator:
    """A way in which scenes vary.

    Attributes:
        name: on the command line and in scene files.
        text: what it varies.
        source: what the operator comes from.
        basis: what its range rests on.
        dimensions: of a setting.
        change: scene, dimension -> value, setting -> the changed scene.
        may_break: names of constraints, for the sake of which it is drawn again.
    """

    name: str
    text: str
    source: str
    basis: str
    dimensions: Callable[[Setting], tuple[Dimension, ...]]
    change: Callable[[Scene, Values, Setting], Scene]
    may_break: tuple[str, ...] = ()

    def draw(self, rng: np.random.Generator, setting: Setting) -> dict[str, Any]:
        """Draws a value of each dimension."""
        return {d.name: d.at(float(rng.random())) for d in self.dimensions(setting)}

    def draw_again(
        self, rng: np.random.Generator, setting: Setting, values: Values, objects: Sequence[str]
    ) -> dict[str, Any]:
        """Draws the dimensions of some objects again, and keeps the others."""
        return {
            d.name: d.at(float(rng.random())) if d.is_of(objects) else values[d.name]
            for d in self.dimensions(setting)
        }


def _target_types(setting: Setting) -> tuple[Dimension, ...]:
    return _types(setting, True)


def _types(setting: Setting, is_seen: bool) -> tuple[Dimension, ...]:
    """Types of target and receptacle, as far as there are any for the task."""
    able = setting.names(is_seen, is_target=True)
    if not setting.kind.has_receptacle:
        return (Dimension('target', choices=able),)
    pairs = setting.pairs
    # An unseen receptacle is taken with an unseen target only.
    graspable = setting.names(None, is_target=True) if is_seen else able
    targets = tuple(n for n in able if any(n == a for a, _ in pairs))
    receptacles = tuple(
        n for n in setting.names(is_seen) if any(n == b and a in graspable for a, b in pairs)
    )
    found = (Dimension('target', choices=targets), Dimension('receptacle', choices=receptacles))
    return tuple(each for each in found if each.choices)


def _target_positions(setting: Setting) -> tuple[Dimension, ...]:
    table = setting.robot.table
    found = _place('target', table.object_radii, table.object_azimuths)
    if setting.kind.has_receptacle:
        found += _place('receptacle', table.distractor_radii, receptacle_azimuths(setting))
    return found


def _place(
    name: str, radii: tuple[float, float], azimuths: tuple[float, float]
) -> tuple[Dimension, ...]:
    return (
        Dimension(f'{name}.radius', *radii, 'm'),
        Dimension(f'{name}.azimuth', *azimuths, 'rad'),
    )


def _turn(name: str) -> tuple[Dimension, ...]:
    return (
        Dimension(f'{name}.yaw', -math.pi, math.pi, 'rad'),
        Dimension(f'{name}.posture', choices=POSTURES),
    )


def _target_orientations(setting: Setting) -> tuple[Dimension, ...]:
    found = _turn('target')
    if setting.kind.has_receptacle:
        found += (_turn('receptacle')[0],)  # a receptacle stays upright
    return found


def _confounder_types(setting: Setting) -> tuple[Dimension, ...]:
    names = setting.names(True)
    loose = tuple(n for n in names if setting.types[n].shape.kind != 'tray')
    return tuple(Dimension(f'{i}.type', choices=loose) for i in range(MOST_CONFOUNDERS))


def _confounder_positions(setting: Setting) -> tuple[Dimension, ...]:
    table = setting.robot.table
    places = [
        _place(str(i), table.distractor_radii, table.distractor_azimuths)
        for i in range(MOST_CONFOUNDERS)
    ]
    return tuple(each for place in places for each in place)


def _confounder_orientations(setting: Setting) -> tuple[Dimension, ...]:
    return tuple(each for i in range(MOST_CONFOUNDERS) for each in _turn(str(i)))


def _unseen(setting: Setting) -> tuple[Dimension, ...]:
    names = setting.names(False)
    return (
        Dimension('who', choices=('target', 'confounders', 'all')),
        *_types(setting, False),
        *(Dimension(f'{i}.type', choices=names) for i in range(MOST_CONFOUNDERS)),
    )


def fixed(*dimensions: Dimension) -> Callable[[Setting], tuple[Dimension, ...]]:
    """Dimensions that are the same in every setting."""
    return lambda setting: dimensions


PLACING = ('distance', 'reach', 'visibility')
TARGET_PLACING = ('undone', *PLACING)
_FIVE = 5 / 100  # m
_TILT = math.pi / 36

REGISTRY = (
    Operator(
        'target_type', 'type of the target, and of the receptacle', PAPER,
        "the cube, can, block and bin of the robot's table, that its gripper can hold and the task "
        'allows', _target_types, set_types, ('semantics', 'grasp', 'matter', *TARGET_PLACING),
    ),
    Operator(
        'confounder_count', 'number of confounders', PAPER, 'VLATest, section 5.2: 0 to 4',
        fixed(Dimension('count', choices=tuple(range(MOST_CONFOUNDERS + 1)))), set_confounder_count,
    ),
    Operator(
        'confounder_type', 'type of each confounder', PAPER,
        "the cube, can and block of the robot's table", _confounder_types, set_confounder_types,
        ('semantics', *PLACING),
    ),
    Operator(
        UNSEEN, 'types that are not of the simulated table, in place of those that are',
        'VLATest, section 5.5', "objects of the YCB set as simple shapes, or those of the user's "
        'folder of meshes', _unseen, set_unseen,
        ('semantics', 'grasp', 'matter', *TARGET_PLACING),
    ),
    Operator(
        'target_position', 'position of the target, and of the receptacle', PAPER,
        "the profile's object_radii and object_azimuths; of a receptacle those of distractors, on "
        'to the bin', _target_positions, set_positions, TARGET_PLACING,
    ),
    Operator(
        'target_orientation', 'yaw of target and receptacle, posture of the target', PAPER,
        'a whole turn; upright or lying, as in VLATest', _target_orientations, set_orientations,
        ('grasp', *TARGET_PLACING),
    ),
    Operator(
        'confounder_position', 'position of each confounder', PAPER,
        "the profile's distractor_radii and distractor_azimuths", _confounder_positions,
        set_confounder_positions, PLACING,
    ),
    Operator(
        'confounder_orientation', 'yaw and posture of each confounder', PAPER,
        'a whole turn; upright or lying, as in VLATest', _confounder_orientations,
        set_confounder_orientations, PLACING,
    ),
    Operator(
        'light_intensity', 'factor on all lights', PAPER,
        f'{CODE} (run_fuzzer_w_lighting.py): 1 to 20, brighter or darker',
        fixed(Dimension('factor', 1 / 20, 20.0, is_log=True)), set_intensity,
    ),
    Operator(
        'camera_position', 'shift of the cameras that stand', PAPER, f'{CODE} (random_camera.py)',
        fixed(*(Dimension(axis, -_FIVE, _FIVE, 'm') for axis in 'xyz')), move_cameras,
        ('visibility',),
    ),
    Operator(
        'camera_orientation', 'turn of the cameras that stand', PAPER,
        f'{CODE} (random_camera.py): 5 degrees',
        fixed(*(Dimension(name, -_TILT, _TILT, 'rad') for name in ('pitch', 'yaw'))), turn_cameras,
        ('visibility',),
    ),
    Operator(
        'light_count', 'number of lights, as bright in sum', CHOSEN,
        "one to one more than the simulator's own; ManiSkill2's default has three",
        fixed(Dimension('count', choices=tuple(range(1, len(LAMPS) + 2)))), set_light_count,
    ),
    Operator(
        'camera_intrinsics', 'focal length and centre of the cameras that stand', CHOSEN,
        f'{CHOSEN}: a lens a quarter longer or shorter, a centre a twentieth of the picture off',
        fixed(
            Dimension('focal', 0.8, 1.25, is_log=True),
            *(Dimension(name, -0.05, 0.05) for name in ('centre_x', 'centre_y')),
        ), set_intrinsics, ('visibility',),
    ),
    Operator(
        'camera_resolution', "pixels of all cameras' images", CHOSEN,
        f'{CHOSEN}: half and twice the default of 320x240, and that',
        fixed(Dimension('size', choices=('160x120', '320x240', '640x480'))), set_resolution,
        ('visibility',),
    ),
    Operator(
        'sensor_latency', 'delay of images and of joint states', CHOSEN,
        f'{CHOSEN}: up to two periods of images at 10 Hz, and of joint states at 50 Hz',
        fixed(Dimension('images', 0.0, 0.2, 's'), Dimension('joints', 0.0, 0.04, 's')),
        set_latency,
    ),
    Operator(
        'sensor_dropouts', 'share of images and of joint states that do not come', CHOSEN,
        f'{CHOSEN}: up to three of ten',
        fixed(*(Dimension(name, 0.0, 0.3) for name in ('images', 'joints'))), set_dropouts,
    ),
    Operator(
        'friction', 'sliding friction of the target', CHOSEN,
        'from the least that utiasDSL/upright measured of household things on a tray, 0.26, to '
        'that of the simulated objects',
        fixed(Dimension('target', 0.26, OBJECT_FRICTION[0])), set_friction,
    ),
    Operator(
        'mass', "factor on the target's mass", CHOSEN, f'{CHOSEN}: half to twice',
        fixed(Dimension('target', 0.5, 2.0, is_log=True)), set_mass, ('matter',),
    ),
    Operator(
        'table_texture', 'texture and colour of the table top', CHOSEN,
        "MuJoCo's built-in textures; the table's own colour and those of the objects",
        fixed(
            Dimension('texture', choices=TEXTURES),
            Dimension('colour', choices=('own', *colour_names())),
        ), set_table,
    ),
)  # fmt: skip
OPERATORS = {operator.name: operator for operator in REGISTRY}
PAPER_OPERATORS = tuple(each.name for each in REGISTRY if each.source == PAPER)


def chosen_operators(names: Sequence[str]) -> tuple[Operator, ...]:
    """The operators of these names, or of 'paper' (VLATest's ten) and 'all', in the order in which
    they are applied.

    Raises:
        ValueRangeError: there is no operator of a name.
    """
    wanted: set[str] = set()
    for name in names:
        group = {'all': tuple(OPERATORS), 'paper': PAPER_OPERATORS}.get(name)
        if group is None and name not in OPERATORS:
            near = nearest(name, OPERATORS)
            hint = f'; did you mean {near}?' if near else ''
            raise ValueRangeError(
                f'there is no operator {name!r}; there are paper, all, {", ".join(OPERATORS)}{hint}'
            )
        wanted.update(group or (name,))
    return tuple(each for each in REGISTRY if each.name in wanted)


def fixed_values(
    values: Mapping[str, Any], operators: Sequence[Operator], setting: Setting
) -> dict[str, dict[str, Any]]:
    """Returns operator -> dimension -> value of 'operator.dimension' -> value.

    Raises:
        ValueRangeError: the operator is not among these, has no such dimension, or a value is out
            of range.
    """
    found: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        first, _, rest = name.partition('.')
        operator = next((each for each in operators if each.name == first), None)
        if operator is None:
            names = ', '.join(each.name for each in operators)
            raise ValueRangeError(
                f'{name} is fixed, but {first!r} is none of the operators {names}'
            )
        dimensions = {each.name: each for each in operator.dimensions(setting)}
        if rest not in dimensions:
            raise ValueRangeError(
                f'{name} is fixed, but the dimensions of {first} are {", ".join(dimensions)}'
            )
        found.setdefault(first, {})[rest] = dimensions[rest].checked(value)
    return found
