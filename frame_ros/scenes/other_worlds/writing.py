# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A Scene written into the other world's own model; what that model cannot hold is refused."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from frame_ros.core.engine import load_mujoco
from frame_ros.core.errors import ValueRangeError
from frame_ros.robots import load_robot
from frame_ros.scenes.description.scene import BASE, Scene, SceneObject, TableTop
from frame_ros.scenes.description.shapes import MESH, mesh_of
from frame_ros.scenes.other_worlds.environment import ROBOT, TARGET, model_file
from frame_ros.scenes.other_worlds.nominal import FLOOR, TASK, light_name, own_world
from frame_ros.scenes.simulation.mesh_geoms import add_mesh_geoms
from frame_ros.scenes.simulation.scene_model import set_table, shape_parts
from frame_ros.scenes.simulation.scene_robot import scene_robot
from frame_ros.scenes.world_names import SO101_LIFT

# Attributes of a geom by which it touches others.
TOUCHING = (
    'contype', 'conaffinity', 'condim', 'priority', 'friction', 'solmix', 'solref', 'solimp',
    'margin', 'gap',
)  # fmt: skip
TABLE = 'table'  # body of the floor, as the simulator calls what objects stand on


def problems_of(scene: Scene) -> Iterator[str]:
    """Yields what the world cannot hold of a scene."""
    own = own_world().scene
    if (scene.robot, scene.frame) != (ROBOT, BASE):
        yield f'its robot is {scene.robot} in {scene.frame}; there it is {ROBOT} in {BASE}'
    if (scene.task.kind, scene.task.target) != (TASK, TARGET):
        yield f'its task is {scene.task.kind} {scene.task.target}; there it is {TASK} {TARGET}'
    for each in scene.objects:
        fields = ('shape', 'mass', 'friction', 'colour', 'height')
        yield from (f'{f} of {each.name} is not known' for f in fields if getattr(each, f) is None)
        if each.shape is not None and each.shape.kind == 'tray':
            yield f'{each.name} is a tray; there are none'
    for what in ('lights', 'cameras'):
        names, others = ([each.name for each in getattr(s, what) or ()] for s in (own, scene))
        if names != others:
            yield f'its {what} are {", ".join(others)}; there they are {", ".join(names)}'
    if unknown := set(scene.sensors) - set(own.sensors):
        yield f'it has faults of {", ".join(sorted(unknown))}; there are {", ".join(own.sensors)}'


def write_model(scene: Scene, folder: Path) -> Path:
    """Writes the world's model as the scene changes it; returns its file, in the folder.

    What the scene leaves as it is in `own_world` stays as the package has it, to the six digits
    that MuJoCo writes. The floor becomes the body 'table' and the links are called as in the
    robot's profile, which changes no physics.

    Raises:
        MissingExtraError: the package is not installed.
        ValueRangeError: the world cannot hold the scene.
    """
    if problems := list(problems_of(scene)):
        raise ValueRangeError(
            f'{SO101_LIFT} cannot hold the scene {scene.name}: {"; ".join(problems)}'
        )
    mj = load_mujoco()
    spec = mj.MjSpec.from_file(str(model_file()))
    spec.meshdir = str(model_file().parent / spec.meshdir)
    _name_links(spec)
    floor = _as_body(spec)
    own = own_world().scene
    if scene.table is not None and scene.table != own.table:
        _set_floor(mj, spec, scene.table, floor)
    _set_lights(spec, scene)
    _set_cameras(spec, scene)
    if scene.target != own.target:
        _set_target(mj, spec, scene.target, folder)
    for each in scene.confounders:
        _add_object(mj, spec, each, folder)
    try:
        spec.compile()
    except ValueError as error:
        raise ValueRangeError(f'MuJoCo cannot compile the scene {scene.name}: {error}') from error
    file = folder / 'scene.xml'
    file.write_text(spec.to_xml())
    return file


def _name_links(spec: Any) -> None:
    """Calls bodies as the profile calls the links at the same joints."""
    declared = {each.name: each for each in load_robot(ROBOT).description.joints}
    first = True
    for joint in list(spec.joints):
        if joint.name not in declared:
            continue
        if first:
            joint.parent.parent.name = scene_robot(ROBOT).base_link
            first = False
        joint.parent.name = declared[joint.name].child


def _as_body(spec: Any) -> Any:
    """The floor as a geom of a body of its own."""
    old = spec.geom(FLOOR)
    names = ('type', 'size', 'pos', 'quat', *TOUCHING, 'material', 'rgba', 'group')
    made = {name: _copied(getattr(old, name)) for name in names}
    spec.delete(old)
    return spec.worldbody.add_body(name=TABLE).add_geom(name=FLOOR, **made)


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def _set_floor(mj: Any, spec: Any, table: TableTop, floor: Any) -> None:
    """The floor's look, with squares as large as its own."""
    own = spec.material(floor.material)
    floor.material = ''
    set_table(mj, spec, table, floor)
    if floor.material:
        made = spec.material(floor.material)
        made.texuniform, made.texrepeat = own.texuniform, own.texrepeat.copy()


def _set_lights(spec: Any, scene: Scene) -> None:
    """The world's lamps, each as bright as the scene has it, and the light of the viewer."""
    factor = scene.light_factor
    own = {each.name: each for each in own_world().scene.lights or ()}
    for index, light in enumerate(spec.lights):
        wanted = next(each for each in scene.lights or () if each.name == light_name(index))
        former = own[wanted.name]
        if (wanted.position, wanted.direction) != (former.position, former.direction):
            light.pos, light.dir = wanted.position, wanted.direction
        light.diffuse = light.diffuse * factor * (wanted.intensity / former.intensity)
    head = spec.visual.headlight
    head.diffuse, head.ambient = head.diffuse * factor, head.ambient * factor


def _set_cameras(spec: Any, scene: Scene) -> None:
    own = {each.name: each for each in own_world().scene.cameras or ()}
    for wanted in scene.cameras or ():
        camera = spec.camera(wanted.name)
        assert wanted.orientation and wanted.position and wanted.focal and wanted.height
        if wanted.link != '':
            raise ValueRangeError(f'the camera {wanted.name} is at {wanted.link}; there it stands')
        if wanted == own[wanted.name]:
            continue
        turn = Rotation.from_quat(wanted.orientation).as_matrix() * (1.0, -1.0, -1.0)
        camera.pos = wanted.position
        camera.quat = np.roll(Rotation.from_matrix(turn).as_quat(), 1)
        camera.fovy = math.degrees(2 * math.atan(wanted.height / 2 / wanted.focal[1]))


def _set_target(mj: Any, spec: Any, each: SceneObject, folder: Path) -> None:
    """The cube's geom in the shape, mass, friction and colour of the target; its pose is set when
    an episode begins. Pieces of a mesh touch as the cube does.
    """
    assert each.shape is not None and each.colour is not None
    if each.shape.kind == MESH:
        old = spec.geom(TARGET)
        touching = {name: _copied(getattr(old, name)) for name in TOUCHING}
        spec.delete(old)
        _add_mesh(mj, spec, spec.body(TARGET), each, touching, folder)
        for sensor in spec.sensors:  # its pose is that of the body, not of a piece
            if sensor.objname == TARGET and sensor.objtype == mj.mjtObj.mjOBJ_GEOM:
                sensor.objtype = mj.mjtObj.mjOBJ_XBODY
        return
    ((kind, size, _),) = shape_parts(mj, each.shape)
    geom = spec.geom(TARGET)
    geom.type, geom.size, geom.mass, geom.rgba = kind, size, each.mass, (*each.colour, 1.0)
    _set_friction(geom, each)


def _add_object(mj: Any, spec: Any, each: SceneObject, folder: Path) -> None:
    for what, taken in (('body', spec.body(each.name)), ('geom', spec.geom(each.name))):
        if taken is not None:
            raise ValueRangeError(
                f'objects.{each.name}: the model has a {what} of that name already'
            )
    assert each.shape is not None and each.colour is not None and each.height is not None
    body = spec.worldbody.add_body(
        name=each.name, pos=(*each.position, each.height), quat=np.roll(each.orientation, 1)
    )
    body.add_freejoint(name=f'{each.name}_free')
    if each.shape.kind == MESH:
        _add_mesh(mj, spec, body, each, {}, folder)
        return
    ((kind, size, _),) = shape_parts(mj, each.shape)
    geom = body.add_geom(
        name=each.name, type=kind, size=size, mass=each.mass, rgba=(*each.colour, 1.0)
    )
    _set_friction(geom, each)


def _add_mesh(
    mj: Any, spec: Any, body: Any, each: SceneObject, touching: dict[str, Any], folder: Path
) -> None:
    """The mesh that is drawn and the pieces that touch, with pictures as files of the folder."""
    assert each.shape is not None and each.mass is not None and each.colour is not None
    found = mesh_of(each.shape)
    add_mesh_geoms(
        mj, spec, body, body.name, found, each.mass, (*each.colour, 1.0), touching, '', folder
    )
    for geom in body.geoms:
        if geom.contype or geom.conaffinity:
            _set_friction(geom, each)


def _set_friction(geom: Any, each: SceneObject) -> None:
    """An object's friction, where it is another than that of all else: by a priority, as MuJoCo
    takes the larger one of two geoms of the same priority.
    """
    if each.friction != own_world().scene.target.friction:
        geom.friction = (each.friction, *geom.friction[1:])
        geom.priority = 1
