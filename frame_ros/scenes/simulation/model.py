# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The MuJoCo model of the scene: a robot, a table, a cube, distractors, a bin, cameras."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from frame_ros.core.engine import load_mujoco
from frame_ros.core.errors import RobotError, ValueRangeError
from frame_ros.core.input_files import read_text
from frame_ros.robots.simulated import CameraMount, Triple, Worktable
from frame_ros.scenes.generation.clutter import Obstacle
from frame_ros.scenes.simulation.scene_robot import SO101, SceneRobot
from frame_ros.scenes.surroundings import (
    BIN_COLOUR,
    LAMPS,
    LARGEST_IMAGE,
    LIGHT_TINT,
    LIT,
    OBJECT_FRICTION,
    SURFACE_FRICTION,
    TABLE_COLOUR,
)

if TYPE_CHECKING:
    import mujoco

# The SO-101's, by their own names.
CAMERAS = tuple(SO101.cameras)

VISUAL_GROUP, COLLISION_GROUP = 1, 3  # groups of geoms; only the first is drawn if a robot has both


def build_model(
    urdf: Path,
    timestep: float = 0.002,
    robot: SceneRobot = SO101,
    obstacles: Sequence[Obstacle] = (),
) -> mujoco.MjModel:
    """Compiles the scene around the robot of a URDF.

    The robot stands on the table, its base at the origin.

    Args:
        timestep: s, of the physics.
        obstacles: in addition to the table's own.

    Raises:
        RobotError: the URDF is missing or cannot be read, or is not of that robot.
        MissingExtraError: mujoco is not installed.
    """
    mj = load_mujoco()
    spec = robot_at_table(urdf, timestep, robot)
    spec.modelname = f'{robot.name}_pick_and_place'
    _add_objects(mj, spec, robot.table)
    _add_bin(mj, spec, robot.table)
    _add_obstacles(mj, spec, obstacles)
    add_sensors(spec, robot)
    return spec.compile()


def robot_at_table(urdf: Path, timestep: float, robot: SceneRobot) -> Any:
    """Returns the MjSpec of the robot of a URDF at its table, with its room and standing cameras.

    Raises:
        RobotError: as `build_model`.
        MissingExtraError: mujoco is not installed.
    """
    mj = load_mujoco()
    spec = _load_robot_spec(mj, urdf, robot)
    _set_options(mj, spec, timestep)
    _add_servos(spec, robot)
    _add_surroundings(mj, spec, robot)
    return spec


def _load_robot_spec(mj: Any, urdf: Path, robot: SceneRobot) -> Any:
    try:
        text = _for_mujoco(read_text(urdf))
    except (OSError, UnicodeDecodeError, ElementTree.ParseError) as error:
        raise RobotError(f'the robot description {urdf} cannot be read: {error}') from error
    try:
        spec = mj.MjSpec.from_string(text)
    except ValueError as error:
        raise RobotError(f'MuJoCo cannot read the robot description {urdf}: {error}') from error
    if spec.body(robot.base_link) is None or spec.body(robot.tip_link) is None:
        raise RobotError(
            f'{urdf} lacks the link {robot.base_link} or {robot.tip_link}: '
            f'it is not a description of the {robot.name}'
        )
    _hide_collision_geometry(spec)
    return spec


@lru_cache(maxsize=4)
def _for_mujoco(text: str) -> str:
    """Returns a URDF by which MuJoCo keeps all geometry and every link."""
    root = ElementTree.fromstring(text)
    extension = root.find('mujoco')
    if extension is None:
        extension = ElementTree.SubElement(root, 'mujoco')
    compiler = extension.find('compiler')
    if compiler is None:
        compiler = ElementTree.SubElement(extension, 'compiler')
    compiler.attrib.update(discardvisual='false', fusestatic='false')
    return ElementTree.tostring(root, encoding='unicode')


def _hide_collision_geometry(spec: Any) -> None:
    for body in spec.bodies:
        has_visual = any(not geom.contype for geom in body.geoms)
        for geom in body.geoms:
            if not geom.contype:
                geom.group = VISUAL_GROUP
            elif has_visual:
                geom.group = COLLISION_GROUP


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
    spec.visual.global_.offwidth, spec.visual.global_.offheight = LARGEST_IMAGE


def _add_servos(spec: Any, robot: SceneRobot) -> None:
    mimics = {equality.name1: equality.name2 for equality in spec.equalities}
    for joint in spec.joints:
        servo = robot.servos[robot.joint_names.index(mimics.get(joint.name, joint.name))]
        joint.armature, joint.frictionloss = servo.armature, servo.friction
        joint.damping = _like(joint.damping, servo.joint_damping)
        joint.actgravcomp = robot.has_torque_sensors
        if joint.name in mimics:
            continue
        actuator = spec.add_actuator(name=joint.name, target=joint.name)
        actuator.trntype = load_mujoco().mjtTrn.mjTRN_JOINT
        actuator.set_to_position(
            kp=servo.stiffness, kv=servo.damping, timeconst=servo.delay if servo.delay else -1
        )
        actuator.forcelimited = True
        actuator.forcerange = (-servo.torque, servo.torque)
        actuator.ctrllimited = True
        actuator.ctrlrange = joint.range
    for equality in spec.equalities:
        equality.solref = (0.004, 1.0)  # the fingers are on one drive
    for body in spec.bodies[1:]:
        body.gravcomp = float(robot.has_torque_sensors)


def _like(template: Any, value: float) -> Any:
    """The value as a scalar or a polynomial's first coefficient, whichever this MuJoCo has."""
    if np.ndim(template) == 0:
        return value
    array = np.zeros(np.shape(template))
    array[0] = value
    return array


def _add_surroundings(mj: Any, spec: Any, robot: SceneRobot) -> None:
    world, top = spec.worldbody, robot.table
    spec.add_material(name='matte', specular=0.05, shininess=0.1)
    spec.add_material(name='wall', specular=0.0, shininess=0.0, emission=0.38)
    table = world.add_body(name='table', pos=(*top.centre, -top.size[2] / 2))
    table.add_geom(
        name='table', type=mj.mjtGeom.mjGEOM_BOX, size=[s / 2 for s in top.size],
        material='matte', rgba=(*TABLE_COLOUR, 1), friction=SURFACE_FRICTION,
    )  # fmt: skip
    leg = top.floor_depth - top.size[2]
    reach_x, reach_y = top.size[0] / 2 - 0.03, top.size[1] / 2 - 0.03
    for x in (-1, 1):
        for y in (-1, 1):
            table.add_geom(
                type=mj.mjtGeom.mjGEOM_BOX, contype=0, conaffinity=0,
                size=(0.02, 0.02, leg / 2), pos=(x * reach_x, y * reach_y, -top.floor_depth / 2),
                rgba=(0.55, 0.46, 0.36, 1),
            )  # fmt: skip
    world.add_geom(
        name='floor', type=mj.mjtGeom.mjGEOM_PLANE, size=(4, 4, 0.1), pos=(0, 0, -top.floor_depth),
        material='matte',
        rgba=(0.56, 0.60, 0.64, 1),
    )  # fmt: skip
    _add_room(mj, world, top)
    for lamp in LAMPS:
        direction = np.subtract(LIT, lamp.position)
        world.add_light(
            name=lamp.name, pos=lamp.position, dir=direction / np.linalg.norm(direction),
            castshadow=False, type=mj.mjtLightType.mjLIGHT_DIRECTIONAL,
            diffuse=[lamp.strength * share for share in LIGHT_TINT],
            specular=(0.15, 0.15, 0.15), ambient=(0, 0, 0),
        )  # fmt: skip
    for name, mount in robot.cameras.items():
        if not mount.link:
            _add_camera(mj, world, name, mount)


def _add_room(mj: Any, world: Any, top: Worktable) -> None:
    """Adds walls all around, for images only: drawing them takes a third of the time of a sky."""
    for x, y in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        world.add_geom(
            type=mj.mjtGeom.mjGEOM_BOX, contype=0, conaffinity=0, material='wall',
            size=(0.02 if x else top.room, 0.02 if y else top.room, 1.2),
            pos=(x * top.room, y * top.room, 1.2 - top.floor_depth), rgba=(0.84, 0.88, 0.91, 1),
        )  # fmt: skip


def _add_camera(mj: Any, body: Any, name: str, mount: CameraMount) -> None:
    if mount.target is None:
        quaternion = np.zeros(4)
        mj.mju_euler2Quat(quaternion, np.array((mount.tilt, 0.0, 0.0)), 'xyz')
    else:
        quaternion = _looking_at(mj, mount.eye, mount.target, mount.up)
    body.add_camera(name=name, pos=mount.eye, quat=quaternion, fovy=mount.fovy)


def _looking_at(mj: Any, eye: Triple, target: Triple, up: Triple) -> np.ndarray:
    """Returns the quaternion wxyz of a level camera at `eye` that looks (along -z) at `target`."""
    backward = np.subtract(eye, target)
    backward = backward / np.linalg.norm(backward)
    right = np.cross(up, backward)
    right = right / np.linalg.norm(right)
    rotation = np.column_stack((right, np.cross(backward, right), backward))
    quaternion = np.zeros(4)
    mj.mju_mat2Quat(quaternion, np.ascontiguousarray(rotation).ravel())
    return quaternion


def _add_objects(mj: Any, spec: Any, table: Worktable) -> None:
    shapes = {
        'cube': (mj.mjtGeom.mjGEOM_BOX, (table.cube_size / 2,) * 3, table.cube_mass),
        'can': (mj.mjtGeom.mjGEOM_CYLINDER, (*table.can, 0), table.can_mass),
        'block': (mj.mjtGeom.mjGEOM_BOX, table.block, table.block_mass),
    }
    for name, (shape, size, mass) in shapes.items():
        body = spec.worldbody.add_body(name=name)
        body.add_freejoint(name=f'{name}_free')
        body.add_geom(
            name=name, type=shape, size=size, mass=mass, condim=4, friction=OBJECT_FRICTION,
            material='matte', solref=(0.005, 1.0),
        )  # fmt: skip


def _add_bin(mj: Any, spec: Any, table: Worktable) -> None:
    """The bin is a mocap body: it stands where a scene puts it, and nothing moves it."""
    body = spec.worldbody.add_body(name='bin', mocap=True)
    for name, (extents, position) in table.bin_parts().items():
        body.add_geom(
            name=name, type=mj.mjtGeom.mjGEOM_BOX, size=extents, pos=position, material='matte',
            rgba=(*BIN_COLOUR, 1), friction=SURFACE_FRICTION,
        )  # fmt: skip


def _add_obstacles(mj: Any, spec: Any, obstacles: Sequence[Obstacle]) -> None:
    """Adds mocap bodies, which stay in place and are moved only by name."""
    kinds = {
        'box': mj.mjtGeom.mjGEOM_BOX,
        'cylinder': mj.mjtGeom.mjGEOM_CYLINDER,
        'sphere': mj.mjtGeom.mjGEOM_SPHERE,
    }
    for obstacle in obstacles:
        if spec.body(obstacle.name) is not None:
            raise ValueRangeError(f'the scene has a {obstacle.name!r} already')
        body = spec.worldbody.add_body(
            name=obstacle.name, mocap=True, pos=obstacle.position, quat=obstacle.quaternion_wxyz
        )
        body.add_geom(
            name=obstacle.name, type=kinds[obstacle.kind], size=obstacle.half_sizes,
            material='matte', rgba=(*obstacle.colour, 1.0), friction=SURFACE_FRICTION,
        )  # fmt: skip


def add_sensors(spec: Any, robot: SceneRobot) -> None:
    """Adds the force-torque sensor and the cameras on links to an MjSpec."""
    mj = load_mujoco()
    hand = spec.body(robot.wrench_link)
    hand.add_site(name='wrench', pos=(0, 0, 0), size=(0.004,) * 3, group=4)
    for name, kind in (
        ('force', mj.mjtSensor.mjSENS_FORCE),
        ('torque', mj.mjtSensor.mjSENS_TORQUE),
    ):
        spec.add_sensor(
            name=f'wrench_{name}', type=kind, objtype=mj.mjtObj.mjOBJ_SITE, objname='wrench'
        )
    for name, mount in robot.cameras.items():
        if mount.link:
            _add_camera(mj, spec.body(mount.link), name, mount)
