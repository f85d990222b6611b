# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A scene as a scene file holds it: what stands where, how it is lit and seen, what is asked for.

Every value is either stated or null, and of what is null `unknown` says why.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from types import SimpleNamespace
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.options import nearest
from frame_ros.robots.motion import rotation_of
from frame_ros.scenes.description.shapes import Shape
from frame_ros.scenes.tasks.kinds import task_kind
from frame_ros.scenes.world_names import OURS

Pair = tuple[float, float]
Triple = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]

BASE = 'robot_base'  # frame of scenes: the robot's base, the table top at z = 0
ROLES = ('target', 'receptacle', 'confounder')
# MuJoCo's built-in textures, and none.
TEXTURES = ('plain', 'checker', 'gradient', 'speckled')
UNIT = 1e-6  # by which the length of a quaternion or a direction may differ from 1


def _numbers(
    expected: str, holds: Callable[[float], bool] = lambda value: True
) -> Callable[[Any, attrs.Attribute[Any], Any], None]:
    """Returns a validator of a number, or of each in a tuple: finite, and as `holds` says."""

    def check(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
        items = () if value is None else value if isinstance(value, tuple) else (value,)
        if not all(math.isfinite(item) and holds(item) for item in items):
            shown = list(value) if isinstance(value, tuple) else value
            raise ValueRangeError(f'{field.name} is {shown}; it must be {expected}')

    return check


def _one_of(*allowed: str) -> Callable[[Any, attrs.Attribute[Any], Any], None]:
    def check(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
        if value not in allowed:
            near = nearest(str(value), allowed)
            hint = f'; did you mean {near}?' if near else ''
            raise ValueRangeError(
                f'{field.name} is {value!r}; it must be one of {", ".join(allowed)}{hint}'
            )

    return check


def _unit(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
    if value is not None and not abs(math.hypot(*value) - 1.0) <= UNIT:
        what = 'a quaternion x, y, z, w' if len(value) == 4 else 'a direction'
        raise ValueRangeError(f'{field.name} is {list(value)}; it must be {what} of length 1')


def _named(_: Any, field: attrs.Attribute[Any], value: str) -> None:
    if not value.strip():
        raise ValueRangeError(f'{field.name} is {value!r}; it must be a text that is not empty')


_POSITIVE = _numbers('above 0', lambda value: value > 0)
_NOT_NEGATIVE = _numbers('at least 0', lambda value: value >= 0)
_SHARES = _numbers('0 to 1', lambda value: 0 <= value <= 1)
_FINITE = _numbers('finite')


@attrs.frozen(kw_only=True)
class SceneObject:
    """One thing on the table.

    Attributes:
        name: in this scene only.
        type: what it is, such as 'cube'.
        role: target (what is moved), receptacle (to which it is moved) or confounder.
        shape: None: not known.
        mass: kg.
        friction: coefficient of sliding friction.
        colour: linear RGB, 0 to 1.
        position: x, y of its middle, m.
        height: of its middle above the table top, m.
        orientation: quaternion x, y, z, w.
    """

    name: str = attrs.field(validator=_named)
    type: str = attrs.field(validator=_named)
    role: str = attrs.field(validator=_one_of(*ROLES))
    shape: Shape | None
    mass: float | None = attrs.field(validator=_POSITIVE)
    friction: float | None = attrs.field(validator=_NOT_NEGATIVE)
    colour: Triple | None = attrs.field(validator=_SHARES)
    position: Pair = attrs.field(validator=_FINITE)
    height: float | None = attrs.field(validator=_FINITE)
    orientation: Quaternion = attrs.field(validator=_unit)

    @property
    def rotation(self) -> NDArray[np.float64]:
        """(3, 3), of its axes."""
        return rotation_of(np.array(self.orientation))


@attrs.frozen(kw_only=True)
class SceneTask:
    """A task in a scene.

    Attributes:
        kind: one of `TASKS`.
        target: name of the object to move.
        receptacle: name of the object to which it is moved; None: the task has none.
    """

    kind: str
    target: str
    receptacle: str | None = None

    def __attrs_post_init__(self) -> None:
        """Raises ValueRangeError where kind and receptacle do not agree."""
        if task_kind(self.kind).has_receptacle != (self.receptacle is not None):
            expected = 'the name of an object' if self.receptacle is None else 'null'
            raise ValueRangeError(
                f'receptacle is {self.receptacle!r}; of the task {self.kind} it must be {expected}'
            )


@attrs.frozen(kw_only=True)
class SceneLight:
    """A directional light.

    Attributes:
        position: m, where it is drawn.
        direction: of its rays, of length 1.
        intensity: of its diffuse light, before the scene's light_factor.
    """

    name: str = attrs.field(validator=_named)
    position: Triple = attrs.field(validator=_FINITE)
    direction: Triple = attrs.field(validator=_unit)
    intensity: float = attrs.field(validator=_NOT_NEGATIVE)


@attrs.frozen(kw_only=True)
class SceneCamera:
    """A pinhole camera.

    Attributes:
        link: of the robot that carries it; '': its base.
        position: m, in the link's axes.
        orientation: quaternion x, y, z, w of the optical frame (z forward, x right, y down).
        width, height: pixels.
        focal: x, y, pixels.
        centre: x, y, pixels; the middle of the first pixel is 0, 0.
    """

    name: str = attrs.field(validator=_named)
    link: str | None
    position: Triple | None = attrs.field(validator=_FINITE)
    orientation: Quaternion | None = attrs.field(validator=_unit)
    width: int | None = attrs.field(validator=_POSITIVE)
    height: int | None = attrs.field(validator=_POSITIVE)
    focal: Pair | None = attrs.field(validator=_POSITIVE)
    centre: Pair | None = attrs.field(validator=_FINITE)


@attrs.frozen(kw_only=True)
class SensorFault:
    """Lateness and gaps of a stream.

    Attributes:
        latency: s from the measurement to the message.
        dropouts: share of the messages that do not come.
    """

    latency: float = attrs.field(default=0.0, validator=_NOT_NEGATIVE)
    dropouts: float = attrs.field(default=0.0, validator=_SHARES)


@attrs.frozen(kw_only=True)
class TableTop:
    """The look of the table top.

    Attributes:
        texture: one of TEXTURES.
        colour: linear RGB, 0 to 1.
    """

    texture: str = attrs.field(validator=_one_of(*TEXTURES))
    colour: Triple = attrs.field(validator=_SHARES)


@attrs.frozen(kw_only=True)
class Origin:
    """The origin of a scene.

    Attributes:
        generator: what made it.
        seed: of the generator.
        index: of the scene among those of the seed.
        values: operator -> dimension -> its value.
    """

    generator: str = attrs.field(validator=_named)
    seed: int | None
    index: int
    values: Mapping[str, Mapping[str, Any]] = {}


@attrs.frozen(kw_only=True)
class Scene:
    """One scene.

    Attributes:
        name: of the scene.
        robot: as `load_robot` takes it, or the name of one that this package does not know.
        world: the simulated world that it is of; OURS unless others made it.
        frame: of all positions; BASE unless they are of another world.
        task: what is asked for.
        instruction: in words; None: the standard one of the task.
        objects: at least the target.
        table: None: not known.
        lights: None: not known.
        light_factor: by which all lights are multiplied.
        cameras: None: not known.
        sensors: stream, such as a camera or joint_states -> how it is late and incomplete.
        policy_seed: None: not set.
        origin: how it came to be; None: written by hand.
        unknown: field, such as 'objects.*.mass' -> why it is null.
    """

    name: str = attrs.field(validator=_named)
    robot: str = attrs.field(validator=_named)
    world: str = attrs.field(default=OURS, validator=_named)
    frame: str = attrs.field(default=BASE, validator=_named)
    task: SceneTask
    instruction: str | None
    objects: tuple[SceneObject, ...]
    table: TableTop | None
    lights: tuple[SceneLight, ...] | None
    light_factor: float = attrs.field(default=1.0, validator=_POSITIVE)
    cameras: tuple[SceneCamera, ...] | None
    sensors: Mapping[str, SensorFault] = {}
    policy_seed: int | None = attrs.field(default=0, validator=_NOT_NEGATIVE)
    origin: Origin | None = None
    unknown: Mapping[str, str] = {}

    def __attrs_post_init__(self) -> None:
        """Raises ValueRangeError where parts of the scene do not agree."""
        self._check_names()
        self._check_roles()
        self._check_unknown()

    def object(self, name: str) -> SceneObject:
        """The object of that name; raises KeyError if there is none."""
        return {each.name: each for each in self.objects}[name]

    @property
    def target(self) -> SceneObject:
        """The object to move."""
        return self.object(self.task.target)

    @property
    def receptacle(self) -> SceneObject | None:
        """The object to which it is moved; None: the task has none."""
        return None if self.task.receptacle is None else self.object(self.task.receptacle)

    @property
    def confounders(self) -> tuple[SceneObject, ...]:
        """The objects that the task leaves alone."""
        return tuple(each for each in self.objects if each.role == 'confounder')

    def _check_names(self) -> None:
        for what, things in (
            ('objects', self.objects),
            ('lights', self.lights or ()),
            ('cameras', self.cameras or ()),
        ):
            names = [thing.name for thing in things]
            for name in names:
                if names.count(name) > 1:
                    raise ValueRangeError(f'{what} has the name {name!r} twice; names must differ')

    def _check_roles(self) -> None:
        names = [each.name for each in self.objects]
        wanted = {self.task.target: 'target', self.task.receptacle: 'receptacle'}
        for name, role in wanted.items():
            if name is not None and name not in names:
                raise ValueRangeError(
                    f'task.{role} is {name!r}; it must be one of the objects {", ".join(names)}'
                )
        for each in self.objects:
            role = wanted.get(each.name, 'confounder')
            if each.role != role:
                raise ValueRangeError(
                    f'the role of the object {each.name!r} is {each.role}; by the task it must be '
                    f'{role}'
                )

    def _check_unknown(self) -> None:
        absent = set(null_fields(self))
        for path in sorted(absent):
            if not any(fnmatchcase(path, pattern) for pattern in self.unknown):
                raise ValueRangeError(
                    f'{path} is null; give its value, or say in unknown.{path} why it is not known'
                )
        for pattern, reason in self.unknown.items():
            if not reason.strip() or not any(fnmatchcase(path, pattern) for path in absent):
                raise ValueRangeError(
                    f'unknown.{pattern} is {reason!r}; it must be the reason why a field of that '
                    f'name is null, and {", ".join(sorted(absent)) or "none"} is'
                )


def with_values(scene: Scene, **values: Any) -> Scene:
    """Returns the scene with other values, without reasons of fields that are null no longer."""
    unknown = scene.unknown
    if unknown:
        fields = {each.name: getattr(scene, each.name) for each in attrs.fields(Scene)}
        absent = list(null_fields(SimpleNamespace(**{**fields, **values})))
        unknown = {
            pattern: reason
            for pattern, reason in unknown.items()
            if any(fnmatchcase(path, pattern) for path in absent)
        }
    return attrs.evolve(scene, unknown=unknown, **values)


OPTIONAL = ('instruction', 'table', 'lights', 'cameras', 'policy_seed')


def null_fields(scene: Any) -> Iterator[str]:
    """Yields the names of fields that are null though something could stand there."""
    yield from (name for name in OPTIONAL if getattr(scene, name) is None)
    for what in ('objects', 'cameras'):
        for each in getattr(scene, what) or ():
            for name in type(each).__slots__:
                if name[0] != '_' and getattr(each, name) is None:
                    yield f'{what}.{each.name}.{name}'
