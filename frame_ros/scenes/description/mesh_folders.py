# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Objects from folders of meshes, one folder each. See docs/scenes.md for the layout."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import yaml
from numpy.typing import NDArray

from frame_ros.core.errors import FrameRosError, SetupError, ValueRangeError
from frame_ros.core.input_files import read_text
from frame_ros.core.strict_yaml import load_yaml, yaml_problem
from frame_ros.core.structuring import structured
from frame_ros.robots.shapes.mesh_files import MESH_KINDS
from frame_ros.scenes.description.cavities import Cavity, cavity_of, hollow_pieces
from frame_ros.scenes.description.convex_hull import Hull, Rests, fills_hull, hull_of, rests_of
from frame_ros.scenes.description.described_objects import (
    described_parts,
    description_of,
    descriptions,
)
from frame_ros.scenes.description.mesh_pieces import (
    MOST_PIECES,
    open_edges,
    parts_of,
    read_mesh,
    solid_hull,
)
from frame_ros.scenes.description.mesh_textures import Texture, texture_of
from frame_ros.scenes.description.object_parts import ObjectParts, hull_mesh, joined

Array = NDArray[np.float64]
Faces = NDArray[np.int64]
Triple = tuple[float, float, float]
FACTS = 'object.yaml'
# What is drawn; the second name is of ManiSkill2's objects, the last of the YCB data set.
VISUAL = ('visual', 'textured', 'nontextured')
COLLISION = 'collision'
PIECE_WORDS = ('collision', 'coacd', 'vhacd', 'convex')  # in names that decomposers give pieces
INSIDE = 'google_16k'  # folder of a YCB object in which its meshes are
DENSITY = 1000.0  # kg/m3, ManiSkill2's default
FRICTION = 1.0  # as of the simulated objects
LEAST_EDGE, THINNEST, MOST_EDGE = 0.005, 5e-4, 1.0  # m
MM = 1e-3
FEW_PIECES = 3  # so many stay as they are, even if they fill their common hull
HOLLOW = 0.9  # share of its hull's volume, above which a closed mesh is no container
SAME_PLACE = 0.2  # share of the longest edge, by which visual and collision meshes may differ
_NUMBER = re.compile(r'^\d+(-[a-z])?_')  # before the names of YCB objects


def _positive(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
    if value is not None and not 0 < value < np.inf:
        raise ValueRangeError(f'{field.name} is {value}; it must be above 0')


def _shares(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
    if value is not None and not all(0 <= share <= 1 for share in value):
        raise ValueRangeError(f'{field.name} is {list(value)}; it must be 0 to 1')


@attrs.frozen(kw_only=True)
class MeshFacts:
    """The file FACTS of an object's folder. All of it is optional.

    Attributes:
        name: its type in scenes; '': the folder's name.
        words: in instructions; '': the name, '_' as spaces and without a number before it.
        mass: kg; None: by density.
        density: kg/m3, of the volume of the collision pieces; None: the mass of the description,
            else DENSITY.
        friction: coefficient of sliding friction; None: that of the description, else FRICTION.
        scale: factor on the lengths of the files, which are in m else; 0.001 of files in mm.
        colour: linear RGB; None: as the scene has it.
        is_hull: whether a mesh without collision pieces, be it open or hollow, is taken as its
            convex hull.
        description: the URDF or MuJoCo file in the folder that is read; '': the only one there, or
            the one called as the folder; 'none': the meshes are read by their names.
    """

    name: str = ''
    words: str = ''
    mass: float | None = attrs.field(default=None, validator=_positive)
    density: float | None = attrs.field(default=None, validator=_positive)
    friction: float | None = attrs.field(default=None, validator=_positive)
    scale: float = attrs.field(default=1.0, validator=_positive)
    colour: Triple | None = attrs.field(default=None, validator=_shares)
    is_hull: bool = False
    description: str = ''


@attrs.frozen(eq=False, kw_only=True)
class MeshObject:
    """An object of a folder, about the middle of the box about its collision pieces; z is up as it
    was modelled.

    Attributes:
        folder: that it was read from.
        name, words, mass, friction, colour: as of MeshFacts.
        visual: file that is drawn, or that describes it.
        corners, faces: (V, 3) m and (T, 3), of what is drawn.
        texture: of what is drawn; None: it has one colour.
        pieces: convex, of which it consists in contact.
        is_decomposed: whether these are of own files.
        hull: about all pieces.
        rests: how it stands.
        edges: (3,) m, of the box about the pieces.
        cavity: that the pieces leave open above; None: it has none, or does not stay upright.
        has_flat_top: whether it stays upright, and its top is level then in most of the box's area.
    """

    folder: Path
    name: str
    words: str
    mass: float
    friction: float
    colour: Triple | None
    visual: Path
    corners: Array
    faces: Faces
    texture: Texture | None
    pieces: tuple[Hull, ...]
    is_decomposed: bool
    hull: Hull
    rests: Rests
    edges: Array
    cavity: Cavity | None
    has_flat_top: bool


@lru_cache(maxsize=256)
def mesh_object(folder: str) -> MeshObject:
    """Returns the object of a folder; it is read once.

    Raises:
        SetupError: there is no such folder, no or more than one mesh to draw, a mesh is open,
            flat, of an impossible size or unit, its picture is none, or FACTS or the description
            has a mistake.
        RobotError: a mesh file cannot be read.
        MissingExtraError: trimesh is not installed, or mujoco for an object of its files.
    """
    path = Path(folder)
    if not path.is_dir():
        raise SetupError(f'there is no folder {folder}; an object is a folder with its meshes')
    facts = _facts(path)
    described = description_of(path, facts.description)
    if described is None:
        parts = _named_parts(path, facts.scale)
    else:
        parts = _scaled(described_parts(described), facts.scale)
        _check_described(parts, facts)
    is_drawn_only = not parts.solids and not facts.is_hull
    if is_drawn_only and (count := open_edges(parts.corners, parts.faces)):
        raise SetupError(
            f'{parts.file} is not watertight: {count} edges are of one triangle only. Close it, '
            f'add collision meshes, or say is_hull: true in {FACTS}'
        )
    pieces = _pieces(path, parts, facts.is_hull)
    return _made(path, facts, parts, pieces, bool(parts.solids))


def mesh_objects(folder: str | Path) -> tuple[MeshObject, ...]:
    """Returns the objects of all folders in a folder, by name.

    Raises:
        SetupError: there is no such folder, it holds none, or two have one name.
        FrameRosError: as of `mesh_object`.
    """
    path = Path(folder).expanduser().resolve()
    if not path.is_dir():
        raise SetupError(f'there is no folder {folder}; it holds a folder for each object')
    inside = sorted(each for each in path.iterdir() if each.is_dir() and has_meshes(each))
    if not inside:
        own = f'; it is itself that of an object: give {path.parent}' if has_meshes(path) else ''
        kinds = ', '.join(MESH_KINDS)
        raise SetupError(f'{folder} has no folder with a mesh in it ({kinds}){own}')
    found: dict[str, MeshObject] = {}
    for each in inside:
        made = mesh_object(str(each))
        if made.name in found:
            raise SetupError(
                f'{found[made.name].folder} and {each} are both called {made.name!r}: give one of '
                f'them another name in its {FACTS}'
            )
        found[made.name] = made
    return tuple(found[name] for name in sorted(found))


def _facts(path: Path) -> MeshFacts:
    file = path / FACTS
    if not file.is_file():
        return MeshFacts()
    try:
        return structured(MeshFacts, load_yaml(read_text(file)) or {})
    except yaml.YAMLError as error:
        raise SetupError(f'{file} is no YAML: {yaml_problem(error)}') from error
    except OSError as error:
        raise SetupError(f'{file} cannot be read: {error.strerror}') from error
    except (FrameRosError, UnicodeError) as error:
        raise SetupError(f'{file}: {error}') from error


def has_meshes(path: Path) -> bool:
    """Returns whether a folder is that of an object: it has a mesh or a description."""
    return bool(_meshes(path) or _meshes(path / INSIDE) or descriptions(path))


def _meshes(path: Path) -> list[Path]:
    """The mesh files in a folder, by name; none if there is no such folder."""
    if not path.is_dir():
        return []
    kinds = {f'.{kind}' for kind in MESH_KINDS}
    return sorted(each for each in path.iterdir() if each.suffix.lower() in kinds)


def _files(path: Path) -> tuple[Path, list[Path]]:
    """The mesh that is drawn, and those of the collision pieces."""
    meshes = _meshes(path) or _meshes(path / INSIDE)
    parts = _meshes(path / COLLISION)
    whole = [each for each in meshes if each.name.split('.')[0] == COLLISION]
    numbered = [each for each in meshes if each.name.startswith(f'{COLLISION}_')]
    collisions = parts or numbered or whole[:1]
    others = [each for each in meshes if each not in (*whole, *numbered)]
    if unread := [each.name for each in others if any(w in each.name.lower() for w in PIECE_WORDS)]:
        raise SetupError(
            f'{path} has {", ".join(unread)}, which would not be read: collision pieces are called '
            f'{COLLISION}.obj or {COLLISION}_0.obj, ..., or lie in a folder {COLLISION}'
        )
    for name in VISUAL:
        named = [each for each in others if each.stem == name]
        if named:
            return named[0], collisions
    if len(others) != 1:
        names = ', '.join(each.name for each in others) or 'none'
        raise SetupError(
            f'{path} has the meshes {names}; it must be one, or the one that is drawn be called '
            f'{" or ".join(VISUAL)}'
        )
    return others[0], collisions


def _named_parts(path: Path, scale: float) -> ObjectParts:
    """The parts by the names of the files."""
    visual, collisions = _files(path)
    corners, faces = read_mesh(visual, scale)
    solids = [part for file in collisions for part in parts_of(file, *read_mesh(file, scale))]
    return ObjectParts(
        file=visual, corners=corners, faces=faces, texture=texture_of(visual), solids=tuple(solids)
    )


def _scaled(parts: ObjectParts, scale: float) -> ObjectParts:
    solids = tuple((scale * corners, faces) for corners, faces in parts.solids)
    mass = parts.mass
    if mass is not None and parts.is_mass_by_volume:
        mass *= scale**3
    return attrs.evolve(parts, corners=scale * parts.corners, solids=solids, mass=mass)


def _check_described(parts: ObjectParts, facts: MeshFacts) -> None:
    """Raises SetupError for a value of a description that cannot be, unless FACTS has another."""
    problem = ''
    if not (facts.mass or facts.density or parts.mass is None or parts.mass > 0):
        problem = f'the mass is {parts.mass:g} kg; it must be above 0, or say mass:'
    elif not (facts.friction or parts.friction is None or parts.friction >= 0):
        problem = f'the friction is {parts.friction:g}; it must be at least 0, or say friction:'
    elif not (facts.colour or parts.colour is None or all(0 <= c <= 1 for c in parts.colour)):
        problem = f'the colour is {list(parts.colour)}; it must be of 0 to 1, or say colour:'
    if problem:
        raise SetupError(f'{parts.file}: {problem} in {FACTS}')


def _pieces(path: Path, parts: ObjectParts, is_hull: bool) -> tuple[Hull, ...]:
    """The convex pieces: the hull of each solid part, or those of a container that it is."""
    solids = parts.solids or ((parts.corners, parts.faces),)
    hulls = [solid_hull(parts.file, corners) for corners, _ in solids]
    if len(hulls) > MOST_PIECES:
        raise SetupError(f'{path} has {len(hulls)} collision pieces; at most {MOST_PIECES}')
    if is_hull:
        return tuple(hulls)
    found: list[Hull] = []
    for index, (hull, mesh) in enumerate(zip(hulls, solids, strict=True)):
        pieces = _hollowed(*mesh, hull)
        room = MOST_PIECES - len(found) - (len(hulls) - index - 1)
        found += pieces if len(pieces) <= room else [hull]
    whole = hull_of(np.concatenate([piece.corners for piece in found]))
    if len(found) > FEW_PIECES and fills_hull(found, whole):
        return (whole,)
    return tuple(found)


def _hollowed(corners: Array, faces: Faces, hull: Hull) -> tuple[Hull, ...]:
    """The pieces of a closed mesh that is a container; else its hull."""
    a, b, c = (corners[faces[:, i]] - hull.centre for i in range(3))
    volume = abs(float(np.einsum('ij,ij->i', a, np.cross(b, c)).sum())) / 6
    if volume > HOLLOW * hull.volume or open_edges(corners, faces):
        return (hull,)
    cavity = cavity_of(corners, faces)
    if cavity is None:
        return (hull,)
    pieces = hollow_pieces(corners, faces, cavity)
    return pieces if cavity_of(*joined([hull_mesh(each) for each in pieces])) else (hull,)


def _made(
    path: Path, facts: MeshFacts, parts: ObjectParts, pieces: tuple[Hull, ...], is_decomposed: bool
) -> MeshObject:
    corners, faces = parts.corners, parts.faces
    points = np.concatenate([piece.corners for piece in pieces])
    low, high = points.min(axis=0), points.max(axis=0)
    check_edges(high - low, str(path))
    ends = np.abs(np.array((corners.min(axis=0) - low, corners.max(axis=0) - high))).max()
    if ends > SAME_PLACE * (high - low).max():
        raise SetupError(
            f'{path}: what is drawn goes from {_text(corners.min(axis=0))} to '
            f'{_text(corners.max(axis=0))} m, its collision pieces from {_text(low)} to '
            f'{_text(high)} m; they must be of one size, in one unit and place'
        )
    middle = (low + high) / 2
    pieces, corners = tuple(piece.moved(-middle) for piece in pieces), corners - middle
    hull = pieces[0] if len(pieces) == 1 else hull_of(points - middle)
    volumes = np.array([piece.volume for piece in pieces])
    centre = volumes @ np.array([piece.centre for piece in pieces]) / volumes.sum()
    name, rests = facts.name or path.name, rests_of(hull, centre)
    mass = facts.mass or (None if facts.density else parts.mass)
    friction = FRICTION if parts.friction is None else parts.friction
    cavity = None
    if len(pieces) > 1 and rests.is_upright:
        cavity = cavity_of(*joined([hull_mesh(each) for each in pieces]))
    return MeshObject(
        folder=path, name=name,
        words=facts.words or _NUMBER.sub('', name).replace('_', ' ').strip() or name,
        mass=mass or float((facts.density or DENSITY) * volumes.sum()),
        friction=facts.friction or friction,
        colour=facts.colour or parts.colour, visual=parts.file, corners=corners, faces=faces,
        texture=parts.texture, pieces=pieces, is_decomposed=is_decomposed, hull=hull, rests=rests,
        edges=high - low, cavity=cavity,
        has_flat_top=rests.is_upright and _has_flat_top(corners, faces, high - low),
    )  # fmt: skip


def check_edges(edges: Array, where: str) -> None:
    """Raises SetupError unless an object of these edges, (3,) m, fits a table."""
    most, least = float(edges.max()), float(edges.min())
    if most > MOST_EDGE:
        hint = ''
        if LEAST_EDGE <= most * MM <= MOST_EDGE:
            hint = (
                f'. If the files are in mm, that is {_text(edges * MM)} m: say scale: 0.001 in '
                f'{FACTS}'
            )
        raise SetupError(f'{where} measures {_text(edges)} m; at most {MOST_EDGE:g} m{hint}')
    if most < LEAST_EDGE or least < THINNEST:
        hint = ' (is the scale applied twice?)' if LEAST_EDGE <= most / MM <= MOST_EDGE else ''
        raise SetupError(
            f'{where} measures {_text(edges)} m{hint}; it must be {LEAST_EDGE:g} m long and '
            f'{THINNEST:g} m thick at least'
        )


def _has_flat_top(corners: Array, faces: Faces, edges: Array) -> bool:
    """Returns whether level faces at the top are more than half of the area of the box's."""
    a, b, c = (corners[faces[:, i]] for i in range(3))
    areas = np.cross(b - a, c - a)[:, 2] / 2
    is_top = np.minimum(np.minimum(a, b), c)[:, 2] > edges[2] / 2 - max(1e-3, edges[2] / 100)
    return bool(areas[is_top & (areas > 0)].sum() > edges[0] * edges[1] / 2)


def _text(lengths: Array) -> str:
    return ' x '.join(f'{length:.3g}' for length in lengths)
