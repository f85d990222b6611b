# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Types of objects that scenes are made of: those of the robot's own table, and unseen ones, which
are YCB's as simple shapes or meshes of a folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs
import numpy as np

from frame_ros.core.errors import SetupError
from frame_ros.robots.simulated import Worktable
from frame_ros.scenes.description.mesh_folders import FACTS, mesh_objects
from frame_ros.scenes.description.shapes import MESH, Shape, narrowest_width
from frame_ros.scenes.surroundings import OBJECT_FRICTION, SURFACE_FRICTION

# Share of the target's width that a flat top must have in each direction: the middle of what is
# put on it is then a quarter of its width or more from the edge.
LEAST_TOP = 0.5
OWN = ('cube', 'can', 'block', 'bin')  # types of a robot's table
Triple = tuple[float, float, float]


@attrs.frozen(kw_only=True)
class ObjectType:
    """A type of object.

    Attributes:
        name: in scene files.
        words: in instructions.
        shape: upright.
        mass: kg.
        friction: coefficient of sliding friction.
        is_seen: whether it is of the scenes in which policies for this robot are trained here.
        source: of its sizes and mass.
        colour: linear RGB of every object of the type; None: they differ.
    """

    name: str
    words: str
    shape: Shape
    mass: float
    friction: float = OBJECT_FRICTION[0]
    is_seen: bool = False
    source: str = 'YCB'
    colour: Triple | None = None


YCB_SOURCE = (
    'YCB object set (Calli et al., Benchmarking in Manipulation Research, RAM 2015, table 2), as '
    'the nearest simple shape; friction as of the simulated objects'
)


def _round(name: str, words: str, diameter: float, mass: float) -> ObjectType:
    return ObjectType(name=name, words=words, shape=Shape('sphere', (diameter / 2,)), mass=mass)


def _can(name: str, words: str, diameter: float, length: float, mass: float) -> ObjectType:
    shape = Shape('cylinder', (diameter / 2, length))
    return ObjectType(name=name, words=words, shape=shape, mass=mass)


def _box(name: str, words: str, edges: tuple[float, float, float], mass: float) -> ObjectType:
    return ObjectType(name=name, words=words, shape=Shape('box', edges), mass=mass)


# m and kg.
YCB = (
    _round('golf_ball', 'golf ball', 0.0427, 0.046),
    _round('racquetball', 'racquetball', 0.0553, 0.041),
    _round('plum', 'plum', 0.052, 0.025),
    _round('peach', 'peach', 0.059, 0.033),
    _round('apple', 'apple', 0.075, 0.068),
    _can('tomato_soup_can', 'tomato soup can', 0.066, 0.101, 0.349),
    _can('tuna_fish_can', 'tuna can', 0.085, 0.033, 0.171),
    _can('plate', 'plate', 0.258, 0.024, 0.279),
    _box('foam_brick', 'foam brick', (0.075, 0.05, 0.05), 0.028),
    _box('gelatin_box', 'gelatin box', (0.073, 0.085, 0.028), 0.097),
    _box('rubiks_cube', "Rubik's cube", (0.057, 0.057, 0.057), 0.094),
)


def mesh_types(folder: str | Path) -> tuple[ObjectType, ...]:
    """The types of the objects in a folder of meshes.

    Raises:
        FrameRosError: as of `mesh_objects`.
        SetupError: an object is called as one of a robot's own types.
    """
    found = mesh_objects(folder)
    if taken := [each for each in found if each.name in OWN]:
        raise SetupError(
            f'{taken[0].folder} is called {taken[0].name!r}, as an object of the simulated table '
            f'is: give it another name in its {FACTS}'
        )
    return tuple(
        ObjectType(
            name=each.name, words=each.words, mass=each.mass, friction=each.friction,
            shape=Shape(MESH, tuple(each.edges.tolist()), str(each.folder)), colour=each.colour,
            source=f'the meshes in {each.folder.name}',
        )
        for each in found
    )  # fmt: skip


def object_types(table: Worktable, unseen: Sequence[ObjectType] = YCB) -> dict[str, ObjectType]:
    """The types of objects for a robot's table: cube, can, block and bin of it, and unseen ones."""
    edge, wall = table.bin_inner + 2 * table.bin_wall, table.bin_wall
    own = (
        ('cube', Shape('box', (table.cube_size,) * 3), table.cube_mass),
        ('can', Shape('cylinder', (table.can[0], 2 * table.can[1])), table.can_mass),
        ('block', Shape('box', tuple(2 * half for half in table.block)), table.block_mass),
    )
    source = "the robot's profile"
    seen = [
        ObjectType(name=n, words=n, shape=shape, mass=mass, is_seen=True, source=source)
        for n, shape, mass in own
    ]
    # The simulated bin is moved by nothing: a mass of it would never show. That of its walls, at
    # the density of its block.
    tray = Shape('tray', (edge, edge, table.bin_height, wall))
    bin_ = ObjectType(
        name='bin', words='bin', shape=tray, mass=_tray_mass(tray, table), is_seen=True,
        friction=SURFACE_FRICTION[0], source=source,
    )  # fmt: skip
    return {each.name: each for each in (*seen, bin_, *unseen)}


def _tray_mass(tray: Shape, table: Worktable) -> float:
    block = 8 * table.block[0] * table.block[1] * table.block[2]
    return tray.volume * table.block_mass / block


def pairing_problem(task: str, target: Shape, receptacle: Shape) -> str:
    """Returns why a target cannot be moved to a receptacle as the task asks; '': it can.

    put_on needs a flat top of at least LEAST_TOP of the target's width, and a target that does not
    roll; put_in an inside that holds it in some posture; move_near allows every pair.
    """
    if target.kind == 'tray':
        return 'a tray is not picked up'
    if task == 'put_on':
        if target.rolls:
            return f'a {target.kind} rolls off'
        if not receptacle.has_flat_top:
            return f'a {receptacle.kind} has no flat top'
        if (2 * receptacle.half_edges[:2]).min() < LEAST_TOP * (2 * target.half_edges[:2]).max():
            return 'the top is too small'
    if task == 'put_in':
        inside = receptacle.cavity
        if inside is None:
            if receptacle.mesh:
                return f'the mesh in {receptacle.mesh} has no cavity that is open above'
            return f'a {receptacle.kind} has no inside'
        least, *others = sorted((2 * target.half_edges).tolist())
        fits = (least <= inside.steps[:, 2]) & (max(others) <= 2 * inside.steps[:, :2].min(axis=1))
        if not fits.any():
            return 'it does not fit inside'
    return ''


def allowed_pairs(task: str, types: Mapping[str, ObjectType]) -> tuple[tuple[str, str], ...]:
    """The pairs of target and receptacle, two different types, that a task allows."""
    return tuple(
        (a, b)
        for a in types
        for b in types
        if a != b and not pairing_problem(task, types[a].shape, types[b].shape)
    )


def targets(types: Mapping[str, ObjectType], most_width: float) -> Sequence[str]:
    """The types that a gripper which opens to a width, m, can pick up."""
    return [name for name, each in types.items() if _least_width(each.shape) < most_width]


def _least_width(shape: Shape) -> float:
    """The narrowest side, m, of a shape in any posture."""
    if shape.kind in ('box', MESH):
        return float(2 * shape.half_edges.min())
    return narrowest_width(shape, np.eye(3))
