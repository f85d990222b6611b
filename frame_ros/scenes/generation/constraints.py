# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Constraints that every scene keeps, whatever the operators do."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import FrameRosError
from frame_ros.policies.scripted.reaching import solve_reach
from frame_ros.scenes.description.mesh_folders import LEAST_EDGE, THINNEST
from frame_ros.scenes.description.scene import BASE, Scene, SceneObject
from frame_ros.scenes.description.shapes import (
    MESH,
    Shape,
    extents,
    mesh_of,
    narrowest_width,
    standing_radius,
)
from frame_ros.scenes.generation.clutter import MARGIN, distance_to_capsules
from frame_ros.scenes.generation.object_types import pairing_problem
from frame_ros.scenes.generation.plausibility import (
    LEAST_DENSITY,
    LEAST_FRICTION,
    MOST_DENSITY,
    MOST_LATENCY,
    Blame,
    matter_problem,
    sensor_problem,
    standing_problem,
)
from frame_ros.scenes.generation.setting import JOINT_STATES, Setting, words_of
from frame_ros.scenes.generation.sight import middle_of, visible_share
from frame_ros.scenes.simulation.scene_simulation import LARGEST_SHIFT
from frame_ros.scenes.surroundings import LARGEST_IMAGE, LEAST_IMAGE, TAKEN_NAMES
from frame_ros.scenes.tasks.rules import CODE_MOVE, NEAR, start_gap

Array = NDArray[np.float64]


# Least gap, m, between target and receptacle of move_near, as the rules measure it: the target must
# move as far as their step 'move' asks before it is near, so that settling does not make it so.
LEAST_WAY = NEAR + CODE_MOVE


@attrs.frozen
class Constraint:
    """A condition on scenes.

    Attributes:
        name: in reports.
        text: what must hold.
        problem: of a scene and a setting: what does not hold, and the objects to blame; None: all
            holds.
    """

    name: str
    text: str
    problem: Callable[[Scene, Setting], Blame | None]


class Broken(NamedTuple):
    """A constraint that a scene breaks.

    Attributes:
        constraint: its name.
        problem: what is wrong.
        objects: names of the objects to blame; empty: none in particular.
    """

    constraint: str
    problem: str
    objects: tuple[str, ...] = ()


def check_scene(scene: Scene, setting: Setting) -> Broken | None:
    """Returns the first constraint that a scene breaks; None: it keeps all.

    A scene in another frame, or with shapes or heights that are not known, breaks 'known'.
    """
    for constraint in CONSTRAINTS:
        if blame := constraint.problem(scene, setting):
            return Broken(constraint.name, *blame)
    return None


def _known(scene: Scene, setting: Setting) -> Blame | None:
    if scene.frame != BASE:
        return f'its positions are in {scene.frame}, not in {BASE}', ()
    for each in scene.objects:
        if each.shape is None or each.height is None:
            return f'shape or height of {each.name} is not known', (each.name,)
        if each.shape.kind == MESH:
            try:
                mesh_of(each.shape)
            except FrameRosError as error:
                return f'the mesh of {each.name} is not known: {error}', (each.name,)
    for camera in scene.cameras or ():
        if camera.link is None:
            return f'the link of the camera {camera.name} is not known', ()
        if camera.link == '' and None in (
            camera.position, camera.orientation, camera.width, camera.height, camera.focal,
            camera.centre,
        ):  # fmt: skip
            return f'pose or intrinsics of the camera {camera.name} are not known', ()
    return None


def _names(scene: Scene, setting: Setting) -> Blame | None:
    links = setting.model.description.links
    for each in scene.objects:
        if each.name in links or each.name in TAKEN_NAMES:
            what = 'a link of the robot' if each.name in links else 'a part of the room'
            return f'an object is called {each.name}, as is {what}', (each.name,)
    for camera in scene.cameras or ():
        if camera.link and camera.link not in links:
            text = f'the camera {camera.name} is at the link {camera.link}; the robot has'
            return f'{text} {", ".join(links)}', ()
    return None


def _semantics(scene: Scene, setting: Setting) -> Blame | None:
    if scene.instruction is not None and not scene.instruction.strip():
        return 'the instruction is empty', ()
    receptacle = scene.receptacle
    if receptacle is not None:
        problem = pairing_problem(scene.task.kind, _shape(scene.target), _shape(receptacle))
        if problem:
            text = f'{scene.target.type} {scene.task.kind} {receptacle.type}: {problem}'
            return text, (scene.target.name, receptacle.name)
    asked: dict[str, str] = {}
    for each in (scene.target, *([receptacle] if receptacle else ()), *scene.confounders):
        words = words_of(each, setting)
        if words in asked and not each.role == asked[words] == 'confounder':
            return f'two things are a {words}: {asked[words]} and {each.name}', (each.name,)
        asked.setdefault(words, each.role)
    return None


def _grasp(scene: Scene, setting: Setting) -> Blame | None:
    width = narrowest_width(_shape(scene.target), scene.target.rotation)
    if width < setting.gripper_width:
        return None
    text = f'{scene.target.type} is {width:.3f} m wide; the gripper opens'
    return f'{text} {setting.gripper_width:.3f} m', (scene.target.name,)


def _distance(scene: Scene, setting: Setting) -> Blame | None:
    table = setting.robot.table
    radii = [standing_radius(_shape(each), each.rotation) for each in scene.objects]
    for i, (each, radius) in enumerate(zip(scene.objects, radii, strict=True)):
        for other, beyond in zip(scene.objects[:i], radii, strict=False):
            gap = math.dist(each.position, other.position) - radius - beyond
            if gap < setting.gap:
                text = f'{other.name} and {each.name} are {gap:.3f} m apart'
                return f'{text}, not {setting.gap:.3f} m', (each.name,)
        for axis in (0, 1):
            off = abs(each.position[axis] - table.centre[axis]) + radius - table.size[axis] / 2
            if off > 0:
                return f'{each.name} stands {off:.3f} m over the edge of the table', (each.name,)
    for each in scene.objects:
        ball = float(np.linalg.norm(extents(_shape(each), each.rotation)))
        place = middle_of(each)
        if distance_to_capsules((place[0], place[1], place[2]), setting.home) < ball + MARGIN:
            return f'{each.name} is less than {MARGIN} m from the robot at home', (each.name,)
    return None


def _undone(scene: Scene, setting: Setting) -> Blame | None:
    if scene.task.kind != 'move_near' or scene.receptacle is None:
        return None
    gap = start_gap(scene)
    if gap >= LEAST_WAY:
        return None
    names = scene.target.name, scene.receptacle.name
    return f'{names[0]} is near {names[1]} already: {gap:.3f} m, not {LEAST_WAY:.3f} m', names


def _reach(scene: Scene, setting: Setting) -> Blame | None:
    target = scene.target
    height = 2 * float(extents(_shape(target), target.rotation)[2])
    # As far above things as the scripted motion goes above the cube.
    above = setting.arm.above - setting.robot.table.cube_size
    points = [(target, h) for h in (middle_of(target)[2], height + above)]
    if (receptacle := scene.receptacle) is not None:
        top = 2 * float(extents(_shape(receptacle), receptacle.rotation)[2])
        points.append((receptacle, top + height / 2 + above))
    for each, z in points:
        left = distance_left(setting, np.array((*each.position, z)))
        if left > setting.reach_tolerance:
            return f'{each.name} is out of reach at a height of {z:.3f} m', (each.name,)
    return None


def distance_left(setting: Setting, place: Array) -> float:
    """Returns how far, m, the tip stays from a place (3,) m when it points down as well as the
    joints allow; infinite outside of where the robot picks things up.
    """
    if not setting.arm.is_reachable(place):
        return math.inf
    start = setting.arm.turned_home(place)
    order = [setting.arm.joint_names.index(name) for name in setting.model.joint_names]
    return solve_reach(setting.model, start[order], place, setting.arm.natural_rotation(place))[1]


def _visibility(scene: Scene, setting: Setting) -> Blame | None:
    wanted = [scene.target, *([scene.receptacle] if scene.receptacle else ())]
    for camera in scene.cameras or ():
        if camera.link != '':
            continue  # it moves with the robot
        for each in wanted:
            share = visible_share(each, scene.objects, setting.home, camera)
            if share < setting.limits.visible:
                text = f'{camera.name} sees {share:.2f} of {each.name}'
                return f'{text}, not {setting.limits.visible:.2f}', ()
    return None


CONSTRAINTS = (
    Constraint('known', 'frame, shapes, heights and cameras are known', _known),
    Constraint(
        'names',
        'cameras are at links of the robot or stand; no object is called as one of these links, or '
        f'{", ".join(TAKEN_NAMES)}', _names,
    ),
    Constraint(
        'sensors',
        f'streams with faults are {JOINT_STATES} or cameras of the scene, with a latency below '
        f'{MOST_LATENCY:g} s, after which a trial ends, and dropouts below 1; pictures have '
        f'{LEAST_IMAGE}x{LEAST_IMAGE} to {LARGEST_IMAGE[0]}x{LARGEST_IMAGE[1]} pixels',
        sensor_problem,
    ),
    Constraint(
        'semantics', 'the task allows target and receptacle, and the instruction means one thing',
        _semantics,
    ),
    Constraint('grasp', 'the gripper opens wider than the target', _grasp),
    Constraint(
        'matter',
        f'objects are {1e3 * LEAST_EDGE:g} mm long and {1e3 * THINNEST:g} mm thick at least, and '
        f'have {LEAST_DENSITY:g} to {MOST_DENSITY:g} kg/m3; the friction of the target is '
        f'{LEAST_FRICTION:g} at least', matter_problem,
    ),
    Constraint(
        'standing',
        f'every object stands on the table, or falls {1e3 * LARGEST_SHIFT:g} mm at most',
        standing_problem,
    ),
    Constraint(
        'distance',
        'between the circles in which two objects stand is the gap that the table of the robot '
        'keeps between its own; all stand on the table, clear of the robot at home',
        _distance,
    ),
    Constraint(
        'undone',
        f'of move_near, target and receptacle are {LEAST_WAY:.2f} m apart or more as the rules '
        "measure it: 'near', and what the step 'move' asks beyond it; else doing nothing succeeds",
        _undone,
    ),
    Constraint(
        'reach', 'the tip reaches target and receptacle, and above them, pointing down as well as '
        'its joints allow', _reach,
    ),
    Constraint(
        'visibility',
        'every camera that stands sees --visible of the near sides of target and receptacle: in '
        'the picture, with nothing before them',
        _visibility,
    ),
)  # fmt: skip
DUPLICATES = 'duplicates'  # checked by the generator, which knows the scenes before


def _shape(each: SceneObject) -> Shape:
    assert each.shape is not None
    return each.shape
