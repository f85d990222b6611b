# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Scene files of VLATest, as they are: github.com/ma-labo/VLATest, folder data, commit 704b368.

A file is a JSON map: '0', '1', ... -> a scene, 'num' -> their number, 'seed' -> the seed of the
generator. A scene of the task grasp has model_id and obj_init_options (init_xy, orientation) of
the target, distractor_model_ids and distractor_obj_init_options (model -> init_xy, init_rot_quat)
of the others. A scene of the tasks move, put-on and put-in has model_ids, obj_init_options (model
-> init_xy, init_rot_quat), and source_obj_id and target_obj_id, indices into model_ids. Which of
the three it is stands in the file's name only. Positions are x, y in m of ManiSkill2's world,
quaternions are w, x, y, z. Runs with other light or cameras add lighting_cfgs (DEFAULT, or
direction, steps, factor) and camera_cfgs (camera -> p, q, in SAPIEN's axes: x forward, z up).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import FrameRosError, SetupError
from frame_ros.scenes.description.files import read_content
from frame_ros.scenes.description.scene import (
    UNIT,
    Origin,
    Quaternion,
    Scene,
    SceneCamera,
    SceneObject,
    SceneTask,
)
from frame_ros.scenes.description.shapes import Shape
from frame_ros.scenes.tasks.kinds import TASKS, TaskKind

GENERATOR = 'VLATest'
FRAME = 'maniskill2_world'
# By the runner of the experiments (run_fuzzer.py): grasp and move on the Google robot, the others
# on the WidowX.
ROBOTS = {'grasp': 'google_robot', 'move': 'google_robot', 'put-on': 'widowx', 'put-in': 'widowx'}
COUNTS = ('seed', 'num')
# Words of a model's name that its instruction leaves out (_get_instruction_obj_name).
SILENT = {'opened', 'light', 'generated', 'modified', 'objaverse', 'bridge', 'baked', 'v2'}
# What stands for the sink is called so (PutInCustomizableScene.get_language_instruction).
SPOKEN = {'dummy_sink_target_plane': 'yellow basket'}
# Of SAPIEN's camera axes (x forward, y left, z up) in those of an optical frame.
_OPTICAL = Rotation.from_matrix([[0, 0, 1], [-1, 0, 0], [0, -1, 0]])
NO_SHAPE = "VLATest's files name the model only; give its file of models for the bounding box"
UNKNOWN = {
    'objects.*.mass': "VLATest's files name the model only; ManiSkill2 computes its mass from a "
    'mesh and a density',
    'objects.*.friction': "ManiSkill2's default, which VLATest's files do not state",
    'objects.*.colour': "of the model's own texture",
    'objects.*.height': 'objects fall from 0.5 m above the table and come to rest',
    'table': "of ManiSkill2's scene, which VLATest's files do not state",
    'lights': "of ManiSkill2's scene, which VLATest's files do not state",
    'policy_seed': "a run's own; VLATest's files state the seed of the generator",
}
NO_CAMERAS = "ManiSkill2's own cameras, which VLATest's files do not state"
CAMERA_UNKNOWN = {
    f'cameras.*.{field}': "of ManiSkill2's camera, which VLATest's files do not state"
    for field in ('link', 'width', 'height', 'focal', 'centre')
}


def is_vlatest(content: Any) -> bool:
    """Returns whether the content of a JSON file is one of VLATest's scene files."""
    return isinstance(content, Mapping) and 'num' in content and 'format' not in content


def task_of_name(path: str | Path) -> TaskKind | None:
    """Returns the task that the name of a file of VLATest says; None: it says none."""
    found = re.search(r'(?:^|_)t-(grasp|move|put-on|put-in)(?:_|\.|$)', Path(path).name)
    return next((t for t in TASKS.values() if found and t.vlatest == found[1]), None)


def read_vlatest(
    path: str | Path, task: str | None = None, models: str | Path | None = None
) -> tuple[Scene, ...]:
    """Returns the scenes of one of VLATest's files.

    Args:
        task: one of `TASKS`; None: as the file's name says.
        models: ManiSkill2's file of models (info_pick_custom_v0.json, info_ycb.json), for the
            bounding boxes; None: shapes are not known.

    Raises:
        SetupError: a file cannot be read, is of another form, or a field is wrong.
    """
    content = read_content(path)
    if not is_vlatest(content):
        raise SetupError(f"{path} is none of VLATest's scene files: it has no field 'num'")
    kind = TASKS.get(task) if task else task_of_name(path)
    if kind is None:
        raise SetupError(
            f"{path}: the task is {task!r}; it must be one of {', '.join(TASKS)}, or the file's "
            'name must say it, as t-grasp_n-100_o-0_s-170912623.json does'
        )
    boxes = _read_models(models) if models else {}
    return tuple(_scenes(content, kind, str(path), boxes))


def _scenes(
    content: Mapping[str, Any], kind: TaskKind, where: str, boxes: Mapping[str, Shape]
) -> Iterator[Scene]:
    count, seed = content['num'], content.get('seed')
    names = [name for name in content if name not in COUNTS]
    is_right = type(count) is int and count == len(names)
    if not is_right or sorted(names) != sorted(map(str, range(count))):
        raise SetupError(
            f'{where}: num is {count!r}, and there are {len(names)} scenes; it must be their '
            'number, and their names 0, 1, ...'
        )
    if seed is not None and type(seed) is not int:
        raise SetupError(f'{where}: seed is {seed!r}; it must be a whole number')
    make = _grasp if kind.vlatest == 'grasp' else _two_objects
    for index in range(count):
        place = f'{where}: {index}'
        fields = _Fields(content[str(index)], place)
        try:
            objects, receptacle = make(fields, boxes)
            yield _scene(fields, kind, objects, receptacle, Origin(
                generator=GENERATOR, seed=seed, index=index))  # fmt: skip
        except FrameRosError as error:
            text = str(error)
            raise SetupError(text if text.startswith(place) else f'{place}: {text}') from error


def _scene(
    fields: _Fields,
    kind: TaskKind,
    objects: Sequence[SceneObject],
    receptacle: str | None,
    origin: Origin,
) -> Scene:
    factor, cameras = _light_factor(fields), _cameras(fields)
    fields.check_all_read()
    names = {'target': spoken(objects[0].type)}
    if receptacle is not None:
        words = next(spoken(each.type) for each in objects if each.name == receptacle)
        names['receptacle'] = words
    unknown = dict(UNKNOWN)
    if any(each.shape is None for each in objects):
        unknown['objects.*.shape'] = NO_SHAPE
    unknown |= CAMERA_UNKNOWN if cameras else {'cameras': NO_CAMERAS}
    return Scene(
        name=f'{kind.name}_{origin.index}', robot=ROBOTS[kind.vlatest], frame=FRAME,
        task=SceneTask(kind=kind.name, target=objects[0].name, receptacle=receptacle),
        instruction=kind.template.format(**names), objects=tuple(objects), table=None, lights=None,
        light_factor=factor, cameras=cameras, policy_seed=None, origin=origin, unknown=unknown,
    )  # fmt: skip


def spoken(model: str) -> str:
    """Returns the name of a model as VLATest's instructions have it: coke can of
    opened_coke_can.
    """
    if model in SPOKEN:
        return SPOKEN[model]
    words = model.split('_')
    return ' '.join(w for w in words if w not in SILENT and not w.endswith('cm')) or model


def _grasp(fields: _Fields, boxes: Mapping[str, Shape]) -> tuple[list[SceneObject], str | None]:
    model = fields.text('model_id')
    pose = fields.map('obj_init_options')
    objects = [_object('target', model, pose, 'orientation', boxes)]
    if fields.has('distractor_model_ids'):
        poses = fields.map('distractor_obj_init_options')
        for name in fields.texts('distractor_model_ids'):
            objects.append(_object('confounder', name, poses.map(name), 'init_rot_quat', boxes))
        poses.check_all_read()
    return _numbered(objects), None


def _two_objects(
    fields: _Fields, boxes: Mapping[str, Shape]
) -> tuple[list[SceneObject], str | None]:
    models, poses = fields.texts('model_ids'), fields.map('obj_init_options')
    source = fields.index('source_obj_id', len(models))
    target = fields.index('target_obj_id', len(models))
    if source == target:
        raise SetupError(f'source_obj_id and target_obj_id are both {source}; they must differ')
    roles = {source: 'target', target: 'receptacle'}
    order = [source, target, *(i for i in range(len(models)) if i not in roles)]
    objects = [
        _object(roles.get(i, 'confounder'), models[i], poses.map(models[i]), 'init_rot_quat', boxes)
        for i in order
    ]
    poses.check_all_read()
    return _numbered(objects), 'receptacle'


def _numbered(objects: Sequence[SceneObject]) -> list[SceneObject]:
    """Returns the objects; confounders, which come last, have numbers in their names."""
    first = sum(each.role != 'confounder' for each in objects)
    others = objects[first:]
    return [
        *objects[:first],
        *(attrs.evolve(each, name=f'confounder_{i}') for i, each in enumerate(others)),
    ]


def _object(
    role: str, model: str, pose: _Fields, orientation: str, boxes: Mapping[str, Shape]
) -> SceneObject:
    x, y = pose.numbers('init_xy', 2)
    w, qx, qy, qz = pose.quaternion(orientation)
    pose.check_all_read()
    return SceneObject(
        name=role, type=model, role=role, shape=boxes.get(model), mass=None, friction=None,
        colour=None, position=(x, y), height=None, orientation=(qx, qy, qz, w),
    )  # fmt: skip


def _light_factor(fields: _Fields) -> float:
    if not fields.has('lighting_cfgs'):
        return 1.0
    given = fields.any('lighting_cfgs')
    if given == 'DEFAULT':
        return 1.0
    if isinstance(given, list) and len(given) == 3 and given[0] in ('BRIGHT', 'DARK'):
        _, step, factor = given
        if type(step) is int and _is_finite(factor) and factor > 0:
            try:
                found = float(factor) ** (step if given[0] == 'BRIGHT' else -step)
            except OverflowError:
                found = math.inf
            if 0 < found < math.inf:
                return found
    raise SetupError(
        f'{fields.where}.lighting_cfgs is {given!r}; it must be DEFAULT, or BRIGHT or DARK, a '
        'number of steps and a factor, whose power is finite and above 0'
    )


def _cameras(fields: _Fields) -> tuple[SceneCamera, ...] | None:
    if not fields.has('camera_cfgs'):
        return None
    found, given = [], fields.map('camera_cfgs')
    for name in given.names:
        pose = given.map(name)
        x, y, z = pose.numbers('p', 3)
        w, *vector = pose.quaternion('q')
        pose.check_all_read()
        turned: Quaternion = tuple((Rotation.from_quat((*vector, w)) * _OPTICAL).as_quat().tolist())
        found.append(
            SceneCamera(
                name=name, link=None, position=(x, y, z), orientation=turned, width=None,
                height=None, focal=None, centre=None,
            )
        )  # fmt: skip
    return tuple(found)


def _read_models(path: str | Path) -> dict[str, Shape]:
    """Model -> the box about it, at its first scale, of ManiSkill2's file of models."""
    content = read_content(path)
    boxes = {}
    for name in _Fields(content, str(path)).names:
        model = _Fields(content[name], f'{path}: {name}')
        ends = model.map('bbox')
        edges = [b - a for a, b in zip(ends.numbers('min', 3), ends.numbers('max', 3), strict=True)]
        scales = model.any('scales') if model.has('scales') else [1.0]
        if not isinstance(scales, list) or not scales or not _is_finite(scales[0]):
            raise SetupError(
                f'{model.where}.scales is {scales!r}; it must be a list of finite numbers'
            )
        try:
            boxes[name] = Shape('box', tuple(edge * scales[0] for edge in edges))
        except FrameRosError as error:
            raise SetupError(f'{model.where}.bbox: {error}') from error
    return boxes


class _Fields:
    """A map of VLATest's, whose every field must be known."""

    def __init__(self, content: Any, where: str) -> None:
        if not isinstance(content, Mapping):
            raise SetupError(f'{where} is {content!r}; it must be a map of names to values')
        self._content, self._read, self.where = content, set[str](), where

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._content)

    def has(self, name: str) -> bool:
        return name in self._content

    def any(self, name: str) -> Any:
        self._read.add(name)
        if name not in self._content:
            raise SetupError(f'{self.where}.{name} is missing')
        return self._content[name]

    def map(self, name: str) -> _Fields:
        return _Fields(self.any(name), f'{self.where}.{name}')

    def text(self, name: str) -> str:
        return str(self._typed(name, 'a text', lambda value: isinstance(value, str)))

    def texts(self, name: str) -> list[str]:
        found = self._typed(name, 'a list of different texts', _are_texts)
        return list(found)

    def numbers(self, name: str, count: int) -> list[float]:
        """Returns a field of so many finite numbers; raises SetupError for anything else."""

        def are_numbers(value: Any) -> bool:
            is_long = isinstance(value, list) and len(value) == count
            return is_long and all(map(_is_finite, value))

        expected = f'a list of {count} finite numbers'
        return [float(v) for v in self._typed(name, expected, are_numbers)]

    def quaternion(self, name: str) -> list[float]:
        """Returns a field that is a unit quaternion; raises SetupError for anything else."""
        found = self.numbers(name, 4)
        if not abs(math.hypot(*found) - 1.0) <= UNIT:
            raise SetupError(
                f'{self.where}.{name} is {found}; it must be a quaternion w, x, y, z of length 1'
            )
        return found

    def index(self, name: str, count: int) -> int:
        def is_index(value: Any) -> bool:
            return type(value) is int and 0 <= value < count

        return int(self._typed(name, f'a whole number from 0 to {count - 1}', is_index))

    def check_all_read(self) -> None:
        """Raises SetupError for a field that means nothing here."""
        if odd := [name for name in self._content if name not in self._read]:
            raise SetupError(
                f"{self.where}.{odd[0]} is not known; VLATest's files have here "
                f'{", ".join(sorted(self._read))}'
            )

    def _typed(self, name: str, expected: str, holds: Callable[[Any], bool]) -> Any:
        value = self.any(name)
        if not holds(value):
            raise SetupError(f'{self.where}.{name} is {value!r}; it must be {expected}')
        return value


def _are_texts(value: Any) -> bool:
    is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return is_list and len(set(value)) == len(value)


def _is_finite(value: Any) -> bool:
    try:
        return type(value) in (int, float) and math.isfinite(value)
    except OverflowError:  # a whole number beyond all floating-point ones
        return False
