# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The other world's own scene as a Scene, read from its model, and the setting for operators."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import attrs
import numpy as np
from scipy.spatial.transform import Rotation

from frame_ros.core.engine import load_mujoco
from frame_ros.core.errors import SetupError
from frame_ros.scenes.description.scene import (
    Scene,
    SceneCamera,
    SceneLight,
    SceneObject,
    SceneTask,
    SensorFault,
    TableTop,
)
from frame_ros.scenes.description.shapes import Shape
from frame_ros.scenes.generation.limits import SceneLimits
from frame_ros.scenes.generation.setting import JOINT_STATES, Setting, with_instruction
from frame_ros.scenes.generation.setting import setting as robot_setting
from frame_ros.scenes.other_worlds.environment import ROBOT, TARGET, make_environment, model_file
from frame_ros.scenes.simulation.scene_robot import SceneRobot, scene_robot
from frame_ros.scenes.world_names import SO101_LIFT

FLOOR = 'floor'
TASK = 'pick_up'


@attrs.frozen
class OwnWorld:
    """The world as it is published.

    Attributes:
        scene: its own.
        robot: ours, with this world's cube and its start of the arm.
    """

    scene: Scene
    robot: SceneRobot


@lru_cache(maxsize=1)
def own_world() -> OwnWorld:
    """Returns the world, read from its model.

    Raises:
        MissingExtraError: the package is not installed.
        SetupError: its model has what cannot be described.
    """
    mj = load_mujoco()
    environment = make_environment(model_file(), 0.002)
    spec = mj.MjSpec.from_file(str(model_file()))
    environment.reset(seed=0)
    model, data = environment.model, environment.data
    cube = _target(mj, model, data)
    robot = scene_robot(ROBOT)
    assert cube.shape is not None and cube.mass is not None
    home = tuple(float(data.joint(name).qpos[0]) for name in robot.joint_names)
    table = attrs.evolve(robot.table, cube_size=cube.shape.size[0], cube_mass=cube.mass)
    robot = attrs.evolve(robot, home=home, table=table)
    size = model.vis.global_.offwidth, model.vis.global_.offheight
    cameras = tuple(_camera(model, data, i, size) for i in range(model.ncam))
    scene = Scene(
        name='nominal', robot=ROBOT, world=SO101_LIFT, task=SceneTask(kind=TASK, target=TARGET),
        instruction=f'pick up {TARGET}', objects=(cube,), table=_table(mj, spec),
        lights=tuple(_light(model, data, i) for i in range(model.nlight)), cameras=cameras,
        sensors={name: SensorFault() for name in (*(c.name for c in cameras), JOINT_STATES)},
    )  # fmt: skip
    place = robot_setting(robot, TASK)
    return OwnWorld(with_instruction(scene, place), robot)


def world_setting(limits: SceneLimits | None = None) -> Setting:
    """Returns the setting of the world's task; raises as `own_world`."""
    return robot_setting(own_world().robot, TASK, limits)


def light_name(index: int) -> str:
    """The name of a light, which has none in the model."""
    return f'light_{index}'


def _target(mj: Any, model: Any, data: Any) -> SceneObject:
    geom, body = model.geom(TARGET), data.body(TARGET)
    if geom.type[0] != mj.mjtGeom.mjGEOM_BOX:
        raise SetupError(f'{TARGET} is of MuJoCo type {geom.type[0]}; a box is expected')
    x, y, z = body.xpos.tolist()
    size: tuple[float, ...] = tuple((2 * geom.size).tolist())
    red, green, blue = _share(geom.rgba[:3])
    # Its name is the model's; its type is what the instruction calls it.
    return SceneObject(
        name=TARGET, type='cube', role='target', shape=Shape('box', size),
        mass=float(model.body(TARGET).mass[0]), friction=float(geom.friction[0]),
        colour=(red, green, blue), position=(x, y), height=z,
        orientation=_unit(np.roll(body.xquat, -1)),
    )  # fmt: skip


def _table(mj: Any, spec: Any) -> TableTop:
    names = {
        mj.mjtBuiltin.mjBUILTIN_CHECKER: 'checker', mj.mjtBuiltin.mjBUILTIN_GRADIENT: 'gradient',
        mj.mjtBuiltin.mjBUILTIN_FLAT: 'plain',
    }  # fmt: skip
    material = spec.material(spec.geom(FLOOR).material)
    role = int(mj.mjtTextureRole.mjTEXROLE_RGB)
    texture = spec.texture(material.textures[role])
    if texture is None or texture.builtin not in names:
        raise SetupError(f'the floor has no texture of {", ".join(names.values())}')
    red, green, blue = _share(texture.rgb1)
    return TableTop(texture=names[texture.builtin], colour=(red, green, blue))


def _light(model: Any, data: Any, index: int) -> SceneLight:
    ray = data.light_xdir[index] / np.linalg.norm(data.light_xdir[index])
    x, y, z = data.light_xpos[index].tolist()
    a, b, c = ray.tolist()
    return SceneLight(
        name=light_name(index), position=(x, y, z), direction=(a, b, c),
        intensity=float(np.mean(_share(model.light_diffuse[index]))),
    )  # fmt: skip


def _camera(model: Any, data: Any, index: int, size: tuple[int, int]) -> SceneCamera:
    width, height = map(int, size)
    focal = height / 2 / math.tan(math.radians(float(model.cam_fovy[index])) / 2)
    turned = data.cam_xmat[index].reshape(3, 3) * (1.0, -1.0, -1.0)
    x, y, z = data.cam_xpos[index].tolist()
    return SceneCamera(
        name=model.cam(index).name, link='', position=(x, y, z),
        orientation=_unit(Rotation.from_matrix(turned).as_quat(canonical=True)), width=width,
        height=height, focal=(focal, focal), centre=((width - 1) / 2, (height - 1) / 2),
    )  # fmt: skip


def _unit(values: Any) -> tuple[float, float, float, float]:
    x, y, z, w = (np.asarray(values) / np.linalg.norm(values)).tolist()
    return x, y, z, w


def _share(values: Any) -> list[float]:
    """MuJoCo keeps colours in single precision; the digits that its file has."""
    return [round(float(value), 6) for value in values]
