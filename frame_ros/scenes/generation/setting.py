# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The setting of scenes: a robot, a task, and the scene from which operators start."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import ValueRangeError
from frame_ros.policies.scripted.arms import ScriptedArm, jaw_length, scripted_arm
from frame_ros.robots import Robot, load_robot
from frame_ros.robots.differential_ik import tracking_preset
from frame_ros.robots.simulated import CameraMount
from frame_ros.scenes.description.convex_hull import stood
from frame_ros.scenes.description.scene import (
    Quaternion,
    Scene,
    SceneCamera,
    SceneLight,
    SceneObject,
    SceneTask,
    SensorFault,
    TableTop,
    with_values,
)
from frame_ros.scenes.description.shapes import (
    MESH,
    mesh_of,
    standing_height,
    standing_radius,
)
from frame_ros.scenes.generation.clutter import home_capsules
from frame_ros.scenes.generation.layout import BIN_SWING, COLOURS
from frame_ros.scenes.generation.limits import SceneLimits
from frame_ros.scenes.generation.object_types import (
    YCB,
    ObjectType,
    allowed_pairs,
    mesh_types,
    object_types,
    targets,
)
from frame_ros.scenes.simulation.scene_robot import SceneRobot
from frame_ros.scenes.surroundings import BIN_COLOUR, LAMPS, LIT, TABLE_COLOUR
from frame_ros.scenes.tasks.kinds import TASKS, TaskKind, task_kind

Array = NDArray[np.float64]
MOST_CONFOUNDERS = 4  # VLATest, section 5.2: 0 to 4
JOINT_STATES = 'joint_states'
POSTURES = ('upright', 'lying')


@attrs.frozen
class Setting:
    """A robot with a task, and limits.

    Attributes:
        robot: with its table, cameras and home posture.
        kind: the task.
        limits: that scenes must keep.
        unseen: types that are not of the robot's table.
    """

    robot: SceneRobot
    kind: TaskKind
    limits: SceneLimits = SceneLimits()
    unseen: tuple[ObjectType, ...] = YCB

    @cached_property
    def arm(self) -> ScriptedArm:
        """The arm as it picks things up; raises RobotError if its profile does not say."""
        return scripted_arm(self.robot.source)

    @cached_property
    def model(self) -> Robot:
        """The robot to the tip with which it picks things up."""
        return load_robot(self.robot.source, self.arm.tip)

    @cached_property
    def home(self) -> Array:
        """(K, 7) start, end, radius, m, of the capsules of the robot at home."""
        return home_capsules(self.robot)

    @cached_property
    def reach_tolerance(self) -> float:
        """Distance, m, from a place at which the tip has reached it."""
        return tracking_preset(self.model).position_tolerance

    @cached_property
    def types(self) -> dict[str, ObjectType]:
        """The types of objects, by name."""
        return object_types(self.robot.table, self.unseen)

    @cached_property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs of target and receptacle that the task allows, by their types."""
        return allowed_pairs(self.kind.name, self.types)

    @cached_property
    def gripper_width(self) -> float:
        """The widest thing, m, that the gripper can close on."""
        return gripper_width(self.robot, self.model)

    def names(self, is_seen: bool | None, is_target: bool = False) -> tuple[str, ...]:
        """Names of types, seen or unseen ones or all, only those that can be targets or all."""
        able = targets(self.types, self.gripper_width)
        return tuple(
            name
            for name, each in self.types.items()
            if is_seen in (None, each.is_seen) and (name in able or not is_target)
        )

    @cached_property
    def gap(self) -> float:
        """Least distance, m, of the circles in which two objects stand: what the robot's table
        leaves between its own cube, can and block when these are as near as they may be.
        """
        radii = sorted(
            standing_radius(self.types[name].shape, np.eye(3)) for name in ('cube', 'can', 'block')
        )
        return self.robot.table.clearance - radii[-1] - radii[-2]


def setting(
    robot: SceneRobot, task: str, limits: SceneLimits | None = None, meshes: str = ''
) -> Setting:
    """Returns the setting of a robot and a task by its name.

    Args:
        meshes: folder of the unseen objects; '': YCB's as simple shapes.

    Raises:
        RobotError: the robot's profile does not say where it picks things up.
        ValueRangeError: there is no such task, or the gripper can hold none of the meshes.
        FrameRosError: as of `mesh_types`.
    """
    kind = task_kind(task)
    unseen = mesh_types(meshes) if meshes else YCB
    found = Setting(robot, kind, limits or SceneLimits(), unseen)
    assert found.arm  # raises
    if not found.names(False, is_target=True):
        raise ValueRangeError(
            f'none of the {len(unseen)} objects in {meshes} has an edge below the '
            f'{found.gripper_width:.3f} m that the gripper opens'
        )
    return found


def mesh_library(scenes: Iterable[Scene]) -> str:
    """Returns the folder of the folders of the meshes in scenes; '': there are none.

    Raises:
        ValueRangeError: they are of several folders.
    """
    meshes = [o.shape.mesh for each in scenes for o in each.objects if o.shape and o.shape.mesh]
    found = sorted({str(Path(mesh).parent) for mesh in meshes})
    if len(found) > 1:
        raise ValueRangeError(f'the meshes are of {", ".join(found)}; it must be one folder')
    return found[0] if found else ''


def gripper_width(robot: SceneRobot, model: Robot) -> float:
    """Returns how far, m, a gripper opens at its tip: twice the stroke of a finger that slides, and
    the chord of a jaw that turns, from its axis to the tip.
    """
    joint, (closed, opened) = robot.joint_names[-1], robot.gripper_ends
    home = dict(zip(robot.joint_names, robot.home, strict=True))
    length = jaw_length(model, joint, home)
    if length is None:
        return 2 * abs(opened - closed)
    return 2 * length * math.sin(abs(opened - closed) / 2)


def nominal_scene(setting: Setting) -> Scene:
    """The scene from which operators start: the cube in the middle of where things are picked, the
    task's usual receptacle, no confounders, the simulator's own light and cameras, no faults.
    """
    table, kind = setting.robot.table, setting.kind
    objects = [
        standing(setting.types['cube'], 'target', _colour(0),
                 polar(setting, _middle(table.object_radii), _middle(table.object_azimuths))),
    ]  # fmt: skip
    if kind.has_receptacle:
        name = {'put_in': 'bin', 'put_on': 'block', 'move_near': 'can'}[kind.name]
        place = polar(setting, table.bin_radius, table.bin_azimuth)
        objects.append(standing(setting.types[name], 'receptacle', _colour(1), place))
    limits = setting.limits
    cameras = tuple(
        camera_of(name, mount, limits.width, limits.height)
        for name, mount in setting.robot.cameras.items()
    )
    scene = Scene(
        name='nominal', robot=setting.robot.source,
        task=SceneTask(kind=kind.name, target='target',
                       receptacle='receptacle' if kind.has_receptacle else None),
        instruction='none yet', objects=tuple(objects),
        table=TableTop(texture='plain', colour=TABLE_COLOUR), lights=lights_of(len(LAMPS)),
        cameras=cameras,
        sensors={name: SensorFault() for name in (*(c.name for c in cameras), JOINT_STATES)},
    )  # fmt: skip
    return with_instruction(scene, setting)


def with_instruction(scene: Scene, setting: Setting) -> Scene:
    """The scene with the task's standard instruction (VLATest, section 4.4)."""
    words = {'target': words_of(scene.target, setting)}
    if scene.receptacle is not None:
        words['receptacle'] = words_of(scene.receptacle, setting)
    return with_values(scene, instruction=TASKS[scene.task.kind].template.format(**words))


def words_of(each: SceneObject, setting: Setting) -> str:
    """Words for an object: its colour too, if its type comes in several; of a type that is not of
    the setting, the type, or what its mesh is called.
    """
    found = setting.types.get(each.type)
    if found is None:
        return mesh_of(each.shape).words if each.shape and each.shape.mesh else each.type
    colour = next((name for name, value in COLOURS.items() if value == each.colour), '')
    return f'{colour} {found.words}'.strip() if found.is_seen else found.words


def standing(
    kind: ObjectType, role: str, colour: tuple[float, float, float], place: tuple[float, float],
    yaw: float = 0.0, posture: str = 'upright', name: str = '',
) -> SceneObject:  # fmt: skip
    """Returns an object of a type on the table, at x, y in m, turned by a yaw in rad."""
    return settled(
        SceneObject(
            name=name or role, type=kind.name, role=role, shape=kind.shape, mass=kind.mass,
            friction=kind.friction,
            colour=BIN_COLOUR if kind.name == 'bin' else kind.colour or colour,
            position=place, height=0.0, orientation=orientation_of(yaw, posture),
        )
    )  # fmt: skip


def settled(each: SceneObject) -> SceneObject:
    """Returns the object lowered or raised until it stands on the table; a mesh turned as little as
    it takes to stay there.

    Raises:
        ValueRangeError: its shape is not known.
    """
    shape = each.shape
    if shape is None:
        raise ValueRangeError(
            f'the shape of {each.name} is null, so it cannot be put on the table; give it'
        )
    if shape.kind == MESH:
        rotation = each.rotation
        turned = stood(mesh_of(shape).rests, rotation)
        if turned is not rotation:
            found: Quaternion = tuple(Rotation.from_matrix(turned).as_quat(canonical=True).tolist())
            each = attrs.evolve(each, orientation=found)
    return attrs.evolve(each, height=standing_height(shape, each.rotation))


def orientation_of(yaw: float, posture: str) -> Quaternion:
    """The quaternion of a posture, turned about the vertical by a yaw, rad."""
    c, s = math.cos(yaw / 2), math.sin(yaw / 2)
    if posture == 'upright':
        return (0.0, 0.0, s, c)
    half = math.sqrt(0.5)  # a quarter of a turn about x first
    return (half * c, half * s, half * s, half * c)


def polar(setting: Setting, radius: float, azimuth: float) -> tuple[float, float]:
    """x, y in m of a place at a distance and a direction from the table's axis."""
    x, y = setting.robot.table.axis
    return x + radius * math.cos(azimuth), y + radius * math.sin(azimuth)


def receptacle_azimuths(setting: Setting) -> tuple[float, float]:
    """From where to where, rad, receptacles stand: where distractors and the bin do."""
    table = setting.robot.table
    return table.distractor_azimuths[0], table.bin_azimuth + BIN_SWING


def lights_of(count: int) -> tuple[SceneLight, ...]:
    """The simulator's lights, one more on the other side of the first, or fewer, as bright in sum
    as its own.
    """
    key = LAMPS[0]
    x, y, z = key.position
    places = [(lamp.name, lamp.position, lamp.strength) for lamp in LAMPS]
    places.append(('side_light', (x, -y, z), LAMPS[-1].strength))
    chosen = places[:count]
    share = sum(lamp.strength for lamp in LAMPS) / sum(strength for *_, strength in chosen)
    lights = []
    for name, position, strength in chosen:
        ray = np.subtract(LIT, position)
        direction: tuple[float, float, float] = tuple((ray / np.linalg.norm(ray)).tolist())
        intensity = strength if count == len(LAMPS) else strength * share
        lights.append(
            SceneLight(name=name, position=position, direction=direction, intensity=intensity)
        )
    return tuple(lights)


def camera_of(name: str, mount: CameraMount, width: int, height: int) -> SceneCamera:
    """Returns a camera of a profile, of so many pixels."""
    if mount.target is None:
        # Along -z with y up, tilted about x.
        turned = Rotation.from_euler('x', mount.tilt).as_matrix() * (1.0, -1.0, -1.0)
    else:
        forward = np.subtract(mount.target, mount.eye)
        forward = forward / np.linalg.norm(forward)
        right = np.cross(forward, mount.up)
        right = right / np.linalg.norm(right)
        turned = np.column_stack((right, np.cross(forward, right), forward))
    quaternion: Quaternion = tuple(Rotation.from_matrix(turned).as_quat(canonical=True).tolist())
    focal = height / 2 / math.tan(math.radians(mount.fovy) / 2)
    return SceneCamera(
        name=name, link=mount.link, position=mount.eye, orientation=quaternion, width=width,
        height=height, focal=(focal, focal), centre=((width - 1) / 2, (height - 1) / 2),
    )  # fmt: skip


def colour_names() -> Sequence[str]:
    """The names of the colours that objects come in."""
    return tuple(COLOURS)


def _colour(index: int) -> tuple[float, float, float]:
    return list(COLOURS.values())[index % len(COLOURS)]


def confounder_colour(index: int) -> tuple[float, float, float]:
    """Linear RGB of a confounder by its number: not that of target or receptacle, while there are
    others.
    """
    return _colour(2 + index)


def _middle(ends: tuple[float, float]) -> float:
    return (ends[0] + ends[1]) / 2
