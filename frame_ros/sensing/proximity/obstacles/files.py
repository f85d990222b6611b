# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Known obstacles from a YAML file.

    frame: base_link                # optional: of the poses; the robot's base
    obstacles:
      - {name: table, shape: box, size: [0.8, 1.2, 0.04], position: [0.3, 0.0, -0.02]}
      - {name: post, shape: cylinder, radius: 0.03, length: 0.5, position: [0.4, 0.2, 0.25]}
      - {name: lamp, shape: sphere, radius: 0.1, position: [0.2, -0.3, 0.6]}
      - {name: rail, shape: capsule, radius: 0.02, length: 0.4, rpy: [0.0, 1.5708, 0.0]}
      - {name: wall, shape: half_space, position: [-0.3, 0.0, 0.0], rpy: [0.0, 1.5708, 0.0]}
      - name: fixture
        shape: mesh
        file: fixture.stl           # in its folder; STL, OBJ, PLY, OFF, COLLADA, GLB
        scale: 0.001                # m per unit of the file; 1.0
        is_convex: false            # true: its convex hull is meant, which is faster
        position: [0.35, 0.0, 0.0]  # m
        quaternion: [0.0, 0.0, 0.0, 1.0]  # x, y, z, w; or rpy (rad, as in a URDF)
        ignored_links: [base_link]  # links whose distance to it is not of interest

Cylinder and capsule lie along their z axis, the length of a capsule is that of its straight part,
and a half space is solid below z = 0 of its pose.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from frame_ros.core.errors import RobotError, SetupError, ValueRangeError
from frame_ros.core.input_files import is_within, read_text
from frame_ros.core.strict_yaml import load_yaml
from frame_ros.robots.description import rotation_from_rpy
from frame_ros.robots.rotations import rotations_of
from frame_ros.robots.shapes.mesh_files import load_mesh
from frame_ros.sensing.proximity.obstacles.known import KnownObstacles
from frame_ros.sensing.proximity.obstacles.meshes import ObstacleMesh, make_mesh
from frame_ros.sensing.proximity.obstacles.shapes import SIZES, Obstacle

Array = NDArray[np.float64]
POSE = ('position', 'rpy', 'quaternion', 'ignored_links')
KEYS = {
    'box': ('size',),
    'sphere': ('radius',),
    'cylinder': ('radius', 'length'),
    'capsule': ('radius', 'length'),
    'half_space': (),
    'mesh': ('file',),
}
MESH_OPTIONS = ('scale', 'is_convex')


def load_obstacles(path: str | Path) -> KnownObstacles:
    """The obstacles of a file as this module describes it.

    Raises:
        SetupError: the file, or a mesh it names, cannot be read, or something in it is missing,
            unknown, or cannot be; the message names the obstacle and what would be right.
        MissingExtraError: coal, or for meshes trimesh, is not installed.
    """
    path = Path(path).expanduser()
    try:
        content = load_yaml(read_text(path))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SetupError(f'the file of obstacles {path} cannot be read: {error}') from error
    if not isinstance(content, dict) or not isinstance(content.get('obstacles'), list):
        raise SetupError(f'{path} needs the key obstacles with a list of them')
    unknown = set(content) - {'obstacles', 'frame'}
    if unknown:
        raise SetupError(f'{path} has the unknown keys {sorted(map(str, unknown))}')
    known = KnownObstacles(str(content.get('frame') or ''))
    names: set[str] = set()
    for number, entry in enumerate(content['obstacles'], 1):
        try:
            obstacle = read_obstacle(entry, path.parent)
        except ValueRangeError as error:
            raise SetupError(f'{path}, obstacle {number}: {error}') from error
        if obstacle.name in names:
            raise SetupError(f'{path} has two obstacles of the name {obstacle.name!r}')
        names.add(obstacle.name)
        known.set(obstacle)
    return known


def read_obstacle(entry: Any, folder: Path) -> Obstacle:
    """Reads one entry of the file's list; meshes are looked for in `folder`.

    Raises:
        ValueRangeError: something in it is missing, unknown, or cannot be.
        SetupError: its mesh file cannot be read.
    """
    if not isinstance(entry, dict) or not entry.get('name'):
        raise ValueRangeError(f'{entry!r} has no name')
    name, kind = str(entry['name']), entry.get('shape')
    if not isinstance(kind, str) or kind not in KEYS:
        raise ValueRangeError(f'{name!r} has the shape {kind!r}; known: {", ".join(KEYS)}')
    _check_keys(name, kind, entry)
    mesh = _mesh(name, entry, folder) if kind == 'mesh' else None
    size: tuple[float, ...] = ()
    if kind == 'box':
        size = tuple(_numbers(name, entry, 'size', 3))
    elif SIZES[kind]:
        size = tuple(float(_numbers(name, entry, key, 0)) for key in SIZES[kind])
    place = _numbers(name, entry, 'position', 3) if 'position' in entry else np.zeros(3)
    links = entry.get('ignored_links') or []
    if not isinstance(links, list) or not all(isinstance(link, str) for link in links):
        raise ValueRangeError(f'{name!r} has ignored_links {links!r}; a list of links is needed')
    return Obstacle(name, kind, size, _rotation(name, entry), place, mesh, frozenset(links))


def _check_keys(name: str, kind: str, entry: Mapping[str, Any]) -> None:
    needed = KEYS[kind]
    missing = [key for key in needed if key not in entry]
    if missing:
        raise ValueRangeError(f'{name!r} is a {kind} and lacks {" and ".join(missing)}')
    options = MESH_OPTIONS if kind == 'mesh' else ()
    unknown = [str(k) for k in entry if k not in ('name', 'shape', *needed, *options, *POSE)]
    if unknown:
        raise ValueRangeError(
            f'{name!r} has the unknown keys {", ".join(unknown)}; of a {kind} there can be '
            f'{", ".join((*needed, *options, *POSE))}'
        )


def _numbers(name: str, entry: Mapping[str, Any], key: str, count: int) -> Array:
    """Returns (count,) numbers, or one, of shape (), if count is 0."""
    value = entry[key]
    parts = value if count else [value]
    is_right = (
        isinstance(parts, list)
        and len(parts) == max(count, 1)
        and all(type(part) in (int, float) and np.isfinite(part) for part in parts)
    )
    if not is_right:
        wanted = f'{count} numbers' if count else 'a number'
        raise ValueRangeError(f'{name!r} has {key}: {value!r}; {wanted} is needed')
    return np.array(value, np.float64)


def _rotation(name: str, entry: Mapping[str, Any]) -> Array:
    if 'rpy' in entry and 'quaternion' in entry:
        raise ValueRangeError(f'{name!r} has both rpy and quaternion; one of them is needed')
    if 'rpy' in entry:
        return rotation_from_rpy(*_numbers(name, entry, 'rpy', 3))
    if 'quaternion' in entry:
        columns = ('qx', 'qy', 'qz', 'qw')
        quaternion = _numbers(name, entry, 'quaternion', 4)
        norm = float(np.linalg.norm(quaternion))
        if abs(norm - 1.0) > 0.01:
            raise ValueRangeError(f'{name!r} has a quaternion of length {norm:.3g}, not 1')
        return rotations_of(columns, quaternion[None])[0].as_matrix()
    return np.eye(3)


def _mesh(name: str, entry: Mapping[str, Any], folder: Path) -> ObstacleMesh:
    is_convex = entry.get('is_convex', False)
    if not isinstance(is_convex, bool):
        raise ValueRangeError(f'{name!r} has is_convex: {is_convex!r}; it is true or false')
    scale = float(_numbers(name, entry, 'scale', 0)) if 'scale' in entry else 1.0
    if not scale > 0:
        raise ValueRangeError(f'{name!r} has the scale {scale}; it must be above 0')
    file = str(entry['file'])
    if not is_within(folder / file, folder):
        raise ValueRangeError(
            f'{name!r} has the file {file!r}; it must be in the folder of the obstacles'
        )
    vertices, triangles = read_mesh(folder / file)
    try:
        return make_mesh(vertices * scale, triangles, is_convex)
    except ValueRangeError as error:
        raise ValueRangeError(f'{name!r}, {entry["file"]}: {error}') from error


def read_mesh(path: Path) -> tuple[Array, NDArray[np.int64]]:
    """Returns the vertices (V, 3) and triangles (T, 3) of a mesh file, all parts as one, in its
    unit.

    Raises:
        SetupError: there is no such file, or trimesh cannot read triangles from it.
        MissingExtraError: trimesh is not installed.
    """
    try:
        return load_mesh(path)
    except RobotError as error:
        raise SetupError(str(error)) from error
