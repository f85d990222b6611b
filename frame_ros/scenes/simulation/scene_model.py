# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The MuJoCo model of a scene file: its objects, lights, cameras and table with the robot."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.transform import Rotation

from frame_ros.core.engine import load_mujoco
from frame_ros.core.errors import ValueRangeError
from frame_ros.robots import find_urdf
from frame_ros.scenes.description.scene import BASE, Scene, SceneCamera, SceneObject, TableTop
from frame_ros.scenes.description.shapes import MESH, Shape, mesh_of
from frame_ros.scenes.simulation.mesh_geoms import add_mesh_geoms
from frame_ros.scenes.simulation.model import add_sensors, robot_at_table
from frame_ros.scenes.simulation.scene_robot import SceneRobot, scene_robot
from frame_ros.scenes.surroundings import LAMPS, LIGHT_TINT, OBJECT_FRICTION

if TYPE_CHECKING:
    import mujoco

Triple = tuple[float, float, float]
# What MuJoCo makes of the simulated cube's 0.005 s and the 0.02 s of the table and the fingers.
LOOSE_SOLREF = (0.0125, 1.0)
_TEXELS = 256
_OFF_CENTRE = 1e-6  # pixels, by which a camera's centre may be off and be drawn in the middle
_CHECKS = 10  # squares along the shorter edge of the table


def build_scene_model(
    scene: Scene, robot: SceneRobot | None = None, is_drawn: bool = True
) -> mujoco.MjModel:
    """Compiles a scene. Objects are free bodies by their names; all but the target sleep while they
    rest and nothing that moves touches them. Trays stand fixed, as the simulator's bin does.
    Cameras are the scene's, none of the profile's. Latency and dropouts are none of the model's.

    Args:
        robot: None: the scene's.
        is_drawn: False: without the geoms that are only drawn; it moves the same to the bit, in
            less time.

    Raises:
        MissingExtraError: mujoco is not installed.
        RobotError: there is no such robot, or its URDF cannot be used.
        ValueRangeError: something that the model needs is not known, a name is taken, or the robot
            lacks the link of a camera.
    """
    mj = load_mujoco()
    robot = robot or scene_robot(scene.robot)
    _check(scene)
    spec = robot_at_table(find_urdf(robot.source), robot.timestep, robot)
    spec.modelname = scene.name
    spec.option.enableflags |= int(mj.mjtEnableBit.mjENBL_SLEEP)
    add_sensors(spec, robot)
    _set_lights(mj, spec, scene)
    assert scene.table is not None
    set_table(mj, spec, scene.table, spec.geom('table'))
    for found in list(spec.cameras):
        spec.delete(found)
    for camera in scene.cameras or ():
        _add_camera(spec, camera)
    for each in scene.objects:
        _add_object(mj, spec, each, each.name == scene.task.target, is_drawn)
    if not is_drawn:
        _leave_out_looks(spec)
    try:
        return spec.compile()
    except ValueError as error:
        raise ValueRangeError(f'MuJoCo cannot compile the scene {scene.name}: {error}') from error


def _check(scene: Scene) -> None:
    if scene.frame != BASE:
        raise ValueRangeError(
            f'the scene is in {scene.frame}; to be simulated it must be in {BASE}'
        )
    needed = ('table', 'lights', 'cameras')
    lacking = [name for name in needed if getattr(scene, name) is None]
    for each in scene.objects:
        fields = ('shape', 'mass', 'friction', 'colour', 'height')
        lacking += [f'objects.{each.name}.{f}' for f in fields if getattr(each, f) is None]
    for camera in scene.cameras or ():
        names = ('link', 'position', 'orientation', 'width', 'height', 'focal', 'centre')
        lacking += [f'cameras.{camera.name}.{f}' for f in names if getattr(camera, f) is None]
    if lacking:
        raise ValueRangeError(f'{", ".join(lacking)} of the scene must be known to simulate it')


def _leave_out_looks(spec: Any) -> None:
    for geom in list(spec.geoms):
        touches = geom.contype or geom.conaffinity
        if not touches and (geom.mass == 0.0 or not _weighs_by_geoms(geom.parent)):
            spec.delete(geom)


def _weighs_by_geoms(body: Any) -> bool:
    """Returns whether the inertia of a body counts, and is taken from its geoms."""
    if body.explicitinertial:
        return False
    while body is not None and not list(body.joints):
        body = body.parent
    return body is not None


def _set_lights(mj: Any, spec: Any, scene: Scene) -> None:
    for lamp in LAMPS:
        spec.delete(spec.light(lamp.name))
    for light in scene.lights or ():
        strength = light.intensity * scene.light_factor
        spec.worldbody.add_light(
            name=light.name, pos=light.position, dir=light.direction, castshadow=False,
            type=mj.mjtLightType.mjLIGHT_DIRECTIONAL,
            diffuse=[strength * share for share in LIGHT_TINT],
            specular=(0.15, 0.15, 0.15), ambient=(0, 0, 0),
        )  # fmt: skip


def set_table(mj: Any, spec: Any, table: TableTop, geom: Any) -> None:
    """Gives the geom of the table top its texture and colour."""
    if table.texture == 'plain':
        geom.rgba = (*table.colour, 1.0)
        return
    builtin = {
        'checker': mj.mjtBuiltin.mjBUILTIN_CHECKER,
        'gradient': mj.mjtBuiltin.mjBUILTIN_GRADIENT,
        'speckled': mj.mjtBuiltin.mjBUILTIN_FLAT,
    }[table.texture]
    darker = [0.5 * share for share in table.colour]
    texture = spec.add_texture(
        name='table', type=mj.mjtTexture.mjTEXTURE_2D, builtin=builtin, rgb1=table.colour,
        rgb2=darker, width=_TEXELS, height=_TEXELS,
    )  # fmt: skip
    if table.texture == 'speckled':
        texture.mark, texture.markrgb = mj.mjtMark.mjMARK_RANDOM, darker
        texture.random = 0.05
    material = spec.add_material(name='table', specular=0.05, shininess=0.1)
    material.textures[mj.mjtTextureRole.mjTEXROLE_RGB] = 'table'
    if table.texture == 'checker':
        material.texrepeat = (_CHECKS / 2, _CHECKS / 2)
    geom.material, geom.rgba = 'table', (1.0, 1.0, 1.0, 1.0)


def _add_camera(spec: Any, camera: SceneCamera) -> None:
    """Adds a camera. Its pixels are square: the focal length is that in y."""
    assert camera.position and camera.orientation and camera.focal and camera.height
    assert camera.width and camera.centre
    turn = Rotation.from_quat(camera.orientation).as_matrix() * (1.0, -1.0, -1.0)
    x, y, z, w = Rotation.from_matrix(turn).as_quat().tolist()
    body = spec.body(camera.link) if camera.link else spec.worldbody
    if body is None:
        raise ValueRangeError(f'cameras.{camera.name}.link is {camera.link!r}, no link')
    added = body.add_camera(
        name=camera.name, pos=camera.position, quat=(w, x, y, z),
        fovy=math.degrees(2 * math.atan(camera.height / 2 / camera.focal[1])),
    )  # fmt: skip
    size = np.array((camera.width, camera.height))
    off = np.array(camera.centre) - (size - 1) / 2
    if np.abs(off).max() > _OFF_CENTRE:
        added.resolution, added.sensor_size = size, size / camera.focal[1]
        added.focal_length, added.principal_length = (1.0, 1.0), -off / camera.focal[1]


def _add_object(
    mj: Any, spec: Any, each: SceneObject, is_target: bool, is_drawn: bool = True
) -> None:
    for what, taken in (('body', spec.body(each.name)), ('geom', spec.geom(each.name))):
        if taken is not None:
            raise ValueRangeError(
                f'objects.{each.name}: the model has a {what} of that name already'
            )
    assert each.shape and each.mass and each.colour and each.friction is not None
    x, y, z, w = each.orientation
    body = spec.worldbody.add_body(
        name=each.name, pos=(*each.position, each.height), quat=(w, x, y, z)
    )
    # MuJoCo takes the larger friction of two geoms of one priority, the fingers' and the table's
    # then: an object's own holds by its priority, and with it its stiffness.
    is_loose = each.shape.kind != 'tray'
    if is_loose:
        body.add_freejoint(name=f'{each.name}_free')
        # Contacts between two that sleep are not computed; those of the target are judged.
        sleep = mj.mjtSleepPolicy
        body.sleep = sleep.mjSLEEP_NEVER if is_target else sleep.mjSLEEP_ALLOWED
    contact = {
        'condim': 4,
        'friction': (each.friction, *OBJECT_FRICTION[1:]),
        'solref': LOOSE_SOLREF if is_loose else (0.005, 1.0),
        'priority': int(is_loose),
    }
    rgba = (*each.colour, 1.0)
    if each.shape.kind == MESH:
        add_mesh_geoms(
            mj, spec, body, each.name, mesh_of(each.shape), each.mass, rgba, contact,
            is_drawn=is_drawn,
        )  # fmt: skip
        return
    parts = shape_parts(mj, each.shape)
    volumes = [float(np.prod(size)) for _, size, _ in parts]
    for index, (kind, size, place) in enumerate(parts):  # only the first has a name
        body.add_geom(
            name='' if index else each.name, type=kind, size=size, pos=place,
            mass=each.mass * volumes[index] / sum(volumes), material='matte', rgba=rgba, **contact,
        )  # fmt: skip


def shape_parts(mj: Any, shape: Shape) -> list[tuple[Any, Triple, Triple]]:
    """Returns the geoms of a simple shape: type, sizes as of MuJoCo, and place in its axes."""
    middle = (0.0, 0.0, 0.0)
    if shape.kind == 'sphere':
        return [(mj.mjtGeom.mjGEOM_SPHERE, (shape.size[0],) * 3, middle)]
    if shape.kind == 'cylinder':
        radius, length = shape.size
        return [(mj.mjtGeom.mjGEOM_CYLINDER, (radius, length / 2, length / 2), middle)]
    box = mj.mjtGeom.mjGEOM_BOX
    x, y, z = shape.half_edges.tolist()
    if shape.kind == 'box':
        return [(box, (x, y, z), middle)]
    half = shape.size[3] / 2
    parts: list[tuple[Any, Triple, Triple]] = [(box, (x, y, half), (0.0, 0.0, half - z))]
    for side in (-1.0, 1.0):
        parts.append((box, (half, y, z - half), (side * (x - half), 0.0, half)))
        parts.append((box, (x - 2 * half, half, z - half), (0.0, side * (y - half), half)))
    return parts
