# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The MuJoCo model of the scene: our SO-101, a table, a cube, distractors, a bin, cameras."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from frame_ros.errors import RobotError
from frame_ros.scenes.engine import load_mujoco
from frame_ros.scenes.layout import (
    BIN_HEIGHT,
    BIN_INNER,
    BIN_WALL,
    CUBE_SIZE,
    TABLE_CENTRE,
    TABLE_SIZE,
)

if TYPE_CHECKING:
    import mujoco

BASE_LINK = 'base_link'
TIP_LINK = 'gripper_frame_link'
WRENCH_LINK = 'gripper_link'  # the force-torque sensor sits where this link meets the wrist
CAMERAS = ('front', 'wrist')

# The STS3215 servo as a position actuator. Stiffness and damping are such that the closed loop
# follows a moving target by about 30 ms and sags by about a degree under the arm's weight, as the
# real one does; the torque limit is that of the 12 V version, the armature its rotor and gears seen
# at the output.
STIFFNESS, DAMPING, MAX_TORQUE = 90.0, 2.6, 2.94  # N m/rad, N m s/rad, N m
ARMATURE, JOINT_DAMPING, FRICTION = 0.028, 0.3, 0.04  # kg m2, N m s/rad, N m
GRIPPER_STIFFNESS, GRIPPER_TORQUE = (
    20.0,
    0.8,
)  # N m/rad, N m: the grip is limited, as by the servo's torque setting

_VISUAL, _COLLISION = 1, 3  # groups of geoms; only the first is drawn where a robot has both
_FLOOR_DEPTH = 0.42  # m, the floor lies this far below the table top
_ROOM = 1.8  # m from the base to each wall
_FRONT_EYE, _FRONT_TARGET, _FRONT_FOVY = (
    (0.62, -0.40, 0.42),
    (0.15, 0.03, 0.07),
    42.0,
)  # m, m, degrees
_WRIST_FOVY = 70.0  # degrees


def build_model(urdf: Path, timestep: float = 0.002) -> mujoco.MjModel:
    """Compiles the scene around the robot of a URDF.

    The robot stands on the table, its base at the origin. timestep: s, of the physics.

    Raises:
        RobotError: the URDF is missing or cannot be read.
        MissingExtraError: mujoco is not installed.
    """
    mj = load_mujoco()
    spec = _load_robot_spec(mj, urdf)
    spec.modelname = 'so101_pick_and_place'
    _set_options(mj, spec, timestep)
    _add_servos(spec)
    _add_surroundings(mj, spec)
    _add_objects(mj, spec)
    _add_bin(mj, spec)
    _add_sensors(mj, spec)
    return spec.compile()


def _load_robot_spec(mj: Any, urdf: Path) -> Any:
    try:
        root = ElementTree.parse(urdf).getroot()
    except (OSError, ElementTree.ParseError) as error:
        raise RobotError(f'the robot description {urdf} cannot be read: {error}') from error
    extension = root.find('mujoco')
    if extension is None:
        extension = ElementTree.SubElement(root, 'mujoco')
    compiler = extension.find('compiler')
    if compiler is None:
        compiler = ElementTree.SubElement(extension, 'compiler')
    compiler.attrib.update(discardvisual='false', fusestatic='false')
    try:
        spec = mj.MjSpec.from_string(ElementTree.tostring(root, encoding='unicode'))
    except ValueError as error:
        raise RobotError(f'MuJoCo cannot read the robot description {urdf}: {error}') from error
    if spec.body(BASE_LINK) is None or spec.body(TIP_LINK) is None:
        raise RobotError(
            f'{urdf} lacks the link {BASE_LINK} or {TIP_LINK}: the scene is made for the SO-101'
        )
    _hide_collision_geometry(spec)
    return spec


def _hide_collision_geometry(spec: Any) -> None:
    for body in spec.bodies:
        has_visual = any(not geom.contype for geom in body.geoms)
        for geom in body.geoms:
            if not geom.contype:
                geom.group = _VISUAL
            elif has_visual:
                geom.group = _COLLISION


def _set_options(mj: Any, spec: Any, timestep: float) -> None:
    spec.option.timestep = timestep
    spec.option.integrator = mj.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mj.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = (
        10.0  # friction as stiff as this keeps a grasped object from creeping out
    )
    spec.visual.quality.shadowsize = 0
    spec.visual.quality.offsamples = 0
    spec.visual.quality.numslices, spec.visual.quality.numstacks = 16, 8
    spec.visual.map.znear, spec.visual.map.zfar = 0.01, 6.0
    spec.stat.extent = 1.0  # znear and zfar are multiples of it
    spec.stat.center = (0.2, 0.0, 0.1)
    spec.visual.headlight.ambient = (0.36, 0.36, 0.38)
    spec.visual.headlight.diffuse = (0.14, 0.14, 0.14)
    spec.visual.headlight.specular = (0.0, 0.0, 0.0)
    spec.visual.global_.offwidth, spec.visual.global_.offheight = 1280, 960


def _add_servos(spec: Any) -> None:
    for joint in spec.joints:
        is_gripper = joint.name == 'gripper'
        joint.armature, joint.frictionloss = ARMATURE, FRICTION
        joint.damping = _like(joint.damping, JOINT_DAMPING)
        torque = GRIPPER_TORQUE if is_gripper else MAX_TORQUE
        actuator = spec.add_actuator(name=joint.name, target=joint.name)
        actuator.trntype = load_mujoco().mjtTrn.mjTRN_JOINT
        actuator.set_to_position(kp=GRIPPER_STIFFNESS if is_gripper else STIFFNESS, kv=DAMPING)
        actuator.forcelimited = True
        actuator.forcerange = (-torque, torque)
        actuator.ctrllimited = True
        actuator.ctrlrange = joint.range


def _like(template: Any, value: float) -> Any:
    """The value as a scalar or a polynomial's first coefficient, whichever this MuJoCo has."""
    if np.ndim(template) == 0:
        return value
    array = np.zeros(np.shape(template))
    array[0] = value
    return array


def _add_surroundings(mj: Any, spec: Any) -> None:
    world = spec.worldbody
    spec.add_material(name='matte', specular=0.05, shininess=0.1)
    spec.add_material(name='wall', specular=0.0, shininess=0.0, emission=0.38)
    table = world.add_body(name='table', pos=(*TABLE_CENTRE, -TABLE_SIZE[2] / 2))
    table.add_geom(
        name='table', type=mj.mjtGeom.mjGEOM_BOX, size=[s / 2 for s in TABLE_SIZE],
        material='matte', rgba=(0.80, 0.70, 0.57, 1), friction=(0.8, 0.01, 0.0002),
    )  # fmt: skip
    leg = _FLOOR_DEPTH - TABLE_SIZE[2]
    reach_x, reach_y = TABLE_SIZE[0] / 2 - 0.03, TABLE_SIZE[1] / 2 - 0.03
    for x in (-1, 1):
        for y in (-1, 1):
            table.add_geom(
                type=mj.mjtGeom.mjGEOM_BOX, contype=0, conaffinity=0,
                size=(0.02, 0.02, leg / 2), pos=(x * reach_x, y * reach_y, -_FLOOR_DEPTH / 2),
                rgba=(0.55, 0.46, 0.36, 1),
            )  # fmt: skip
    world.add_geom(
        name='floor', type=mj.mjtGeom.mjGEOM_PLANE, size=(4, 4, 0.1), pos=(0, 0, -_FLOOR_DEPTH),
        material='matte',
        rgba=(0.56, 0.60, 0.64, 1),
    )  # fmt: skip
    _add_room(mj, world)
    for name, position, strength in (
        ('key_light', (0.9, -0.8, 1.6), 0.52),
        ('fill_light', (-0.4, 1.2, 1.2), 0.26),
    ):
        direction = np.array((0.15, 0.0, 0.0)) - position
        world.add_light(
            name=name, pos=position, dir=direction / np.linalg.norm(direction), castshadow=False,
            type=mj.mjtLightType.mjLIGHT_DIRECTIONAL, diffuse=(strength, strength, strength * 0.96),
            specular=(0.15, 0.15, 0.15), ambient=(0, 0, 0),
        )  # fmt: skip
    world.add_camera(
        name='front',
        pos=_FRONT_EYE,
        quat=_looking_at(mj, _FRONT_EYE, _FRONT_TARGET),
        fovy=_FRONT_FOVY,
    )


def _add_room(mj: Any, world: Any) -> None:
    """Walls all around, to look at only: drawing them takes a third of what a sky does."""
    for x, y in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        world.add_geom(
            type=mj.mjtGeom.mjGEOM_BOX, contype=0, conaffinity=0, material='wall',
            size=(0.02 if x else _ROOM, 0.02 if y else _ROOM, 1.2),
            pos=(x * _ROOM, y * _ROOM, 1.2 - _FLOOR_DEPTH), rgba=(0.84, 0.88, 0.91, 1),
        )  # fmt: skip


def _looking_at(
    mj: Any, eye: tuple[float, float, float], target: tuple[float, float, float]
) -> np.ndarray:
    """Quaternion wxyz of a camera at `eye` that looks (along -z) at `target`, its x axis level."""
    backward = np.subtract(eye, target)
    backward = backward / np.linalg.norm(backward)
    right = np.cross((0.0, 0.0, 1.0), backward)
    right = right / np.linalg.norm(right)
    rotation = np.column_stack((right, np.cross(backward, right), backward))
    quaternion = np.zeros(4)
    mj.mju_mat2Quat(quaternion, np.ascontiguousarray(rotation).ravel())
    return quaternion


def _add_objects(mj: Any, spec: Any) -> None:
    shapes = {
        'cube': (mj.mjtGeom.mjGEOM_BOX, (CUBE_SIZE / 2,) * 3, 0.025),
        'can': (mj.mjtGeom.mjGEOM_CYLINDER, (0.017, 0.03, 0), 0.09),
        'block': (mj.mjtGeom.mjGEOM_BOX, (0.02, 0.0125, 0.0175), 0.05),
    }
    for name, (shape, size, mass) in shapes.items():
        body = spec.worldbody.add_body(name=name)
        body.add_freejoint(name=f'{name}_free')
        body.add_geom(
            name=name, type=shape, size=size, mass=mass, condim=4, friction=(1.0, 0.02, 0.0005),
            material='matte', solref=(0.005, 1.0),
        )  # fmt: skip


def _add_bin(mj: Any, spec: Any) -> None:
    """The bin is a mocap body: it stands where a scene puts it, and nothing moves it."""
    body = spec.worldbody.add_body(name='bin', mocap=True)
    half, wall = BIN_INNER / 2, BIN_WALL / 2
    parts: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {}
    parts['bin_floor'] = ((half + BIN_WALL, half + BIN_WALL, wall), (0, 0, wall))
    for name, x, y in (('left', 0, 1), ('right', 0, -1), ('front', 1, 0), ('back', -1, 0)):
        size = (half + BIN_WALL if y else wall, half + BIN_WALL if x else wall, BIN_HEIGHT / 2)
        parts[f'bin_{name}'] = (size, (x * (half + wall), y * (half + wall), BIN_HEIGHT / 2))
    for name, (extents, position) in parts.items():
        body.add_geom(
            name=name, type=mj.mjtGeom.mjGEOM_BOX, size=extents, pos=position, material='matte',
            rgba=(0.30, 0.36, 0.42, 1), friction=(0.8, 0.01, 0.0002),
        )  # fmt: skip


def _add_sensors(mj: Any, spec: Any) -> None:
    hand = spec.body(WRENCH_LINK)
    hand.add_site(name='wrench', pos=(0, 0, 0), size=(0.004,) * 3, group=4)
    for name, kind in (
        ('force', mj.mjtSensor.mjSENS_FORCE),
        ('torque', mj.mjtSensor.mjSENS_TORQUE),
    ):
        spec.add_sensor(
            name=f'wrench_{name}', type=kind, objtype=mj.mjtObj.mjOBJ_SITE, objname='wrench'
        )
    # Above the fingers, looking along them and a little towards the fixed one.
    tilt = math.radians(22.0)
    quaternion = np.zeros(4)
    mj.mju_euler2Quat(quaternion, np.array((-tilt, 0.0, 0.0)), 'xyz')
    hand.add_camera(name='wrist', pos=(0.0, 0.055, -0.005), quat=quaternion, fovy=_WRIST_FOVY)
