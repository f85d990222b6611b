# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Objects as a URDF of one link describes them, as those in PyBullet's data are."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import attrs
import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import FrameRosError, SetupError
from frame_ros.core.input_files import read_text
from frame_ros.robots.description import rotation_from_rpy
from frame_ros.robots.shapes.mesh_files import find_mesh
from frame_ros.scenes.description.convex_hull import hull_of
from frame_ros.scenes.description.mesh_pieces import parts_of, read_mesh
from frame_ros.scenes.description.mesh_textures import Texture, texture_of
from frame_ros.scenes.description.object_parts import (
    Mesh,
    ObjectParts,
    hull_mesh,
    joined,
    primitive_points,
)

Array = NDArray[np.float64]
Faces = NDArray[np.int64]
_SIZES = {'box': ('size',), 'sphere': ('radius',), 'cylinder': ('radius', 'length')}


def urdf_parts(file: Path) -> ObjectParts:
    """Returns the parts of the only link of a URDF that has shapes.

    Its meshes, their scales and places, mass, friction (Bullet's lateral_friction) and colour are
    taken; its inertia is that of its parts. A mesh that touches counts as its parts that are apart.

    Raises:
        SetupError: it is no URDF, or of several bodies, or a number or a file is wrong.
        MissingExtraError: trimesh is not installed.
    """
    try:
        text = read_text(file)
    except OSError as error:
        raise SetupError(f'{file} cannot be read: {error.strerror}') from error
    except UnicodeDecodeError as error:
        raise SetupError(f'{file} must be UTF-8 text: {error}') from error
    if '<!ENTITY' in text:
        raise SetupError(f'{file} declares entities, of which a URDF has none')
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:
        raise SetupError(f'{file} is not well-formed XML: {error}') from error
    links = [each for each in root.findall('link') if each.find('visual/geometry') is not None]
    if len(links) != 1:
        names = ', '.join(str(each.get('name')) for each in links) or 'none'
        raise SetupError(f'{file} has the links {names} with shapes; an object is one body')
    (link,) = links
    try:
        return _parts(file, link, _colours(root))
    except (ValueError, FrameRosError) as error:
        if isinstance(error, FrameRosError) and not isinstance(error, ValueError):
            raise
        raise SetupError(f'{file}: {error}') from error


def _colours(root: ElementTree.Element) -> dict[str | None, ElementTree.Element]:
    """The colours of the materials that the whole file shares, by their names."""
    found = ((each.get('name'), each.find('color')) for each in root.findall('material'))
    return {name: colour for name, colour in found if colour is not None}


def _parts(
    file: Path, link: ElementTree.Element, colours: dict[str | None, ElementTree.Element]
) -> ObjectParts:
    drawn, textures = [], []
    for each in link.findall('visual'):
        corners, faces, mesh = _shape(file, each)
        drawn.append((corners, faces))
        textures.append(_texture(mesh, _is_mirrored(each)))
    solids: list[Mesh] = []
    for each in link.findall('collision'):
        corners, faces, mesh = _shape(file, each)
        solids += parts_of(mesh, corners, faces) if mesh else [(corners, faces)]
    corners, faces = joined(drawn)
    colour, material = link.find('visual/material/color'), link.find('visual/material')
    if colour is None and material is not None:
        colour = colours.get(material.get('name'))
    rgba = _numbers(colour, 'rgba', 4) if colour is not None else None
    mass, friction = link.find('inertial/mass'), link.find('contact/lateral_friction')
    kilograms = float(_numbers(mass, 'value', 1)[0]) if mass is not None else 0.0
    return ObjectParts(
        file=file, corners=corners, faces=faces, solids=tuple(solids),
        texture=textures[0] if len(textures) == 1 else None,
        mass=kilograms or None,  # 0: it does not move
        friction=float(_numbers(friction, 'value', 1)[0]) if friction is not None else None,
        colour=None if rgba is None else (float(rgba[0]), float(rgba[1]), float(rgba[2])),
    )  # fmt: skip


def _shape(file: Path, each: ElementTree.Element) -> tuple[Array, Faces, Path | None]:
    """The corners and triangles of a shape in the axes of the link, and its file if it has one."""
    geometry = each.find('geometry')
    kind = next(iter(geometry), None) if geometry is not None else None
    if kind is None:
        raise ValueError('a shape has no geometry')
    mesh = None
    if kind.tag == 'mesh':
        mesh = find_mesh(str(kind.get('filename')), file.parent)
        corners, faces = read_mesh(mesh, _scale(kind))
        faces = faces[:, ::-1] if _is_mirrored(each) else faces
    elif kind.tag in _SIZES:
        counts = {'size': 3, 'radius': 1, 'length': 1}
        values = np.concatenate([_numbers(kind, name, counts[name]) for name in _SIZES[kind.tag]])
        if values.min() <= 0:
            raise ValueError(
                f'a {kind.tag} has the lengths {values.tolist()}; they must be above 0'
            )
        hull = hull_of(primitive_points(kind.tag, tuple(values.tolist())))
        corners, faces = hull_mesh(hull)
    else:
        raise ValueError(f'a shape is a {kind.tag}; it must be mesh, {", ".join(_SIZES)}')
    origin = each.find('origin')
    if origin is None:
        return corners, faces, mesh
    rotation = rotation_from_rpy(*_numbers(origin, 'rpy', 3, (0.0, 0.0, 0.0)).tolist())
    return corners @ rotation.T + _numbers(origin, 'xyz', 3, (0.0, 0.0, 0.0)), faces, mesh


def _scale(mesh: ElementTree.Element) -> Array:
    return _numbers(mesh, 'scale', 3, (1.0, 1.0, 1.0))


def _is_mirrored(shape: ElementTree.Element) -> bool:
    """Returns whether the scale of a mesh turns its triangles inside out."""
    mesh = shape.find('geometry/mesh')
    return mesh is not None and float(_scale(mesh).prod()) < 0


def _texture(mesh: Path | None, is_mirrored: bool) -> Texture | None:
    found = texture_of(mesh) if mesh is not None else None
    if found is None or not is_mirrored:
        return found
    return attrs.evolve(found, faces=found.faces[:, ::-1])


def _numbers(
    each: ElementTree.Element, name: str, count: int, default: tuple[float, ...] | None = None
) -> Array:
    text = each.get(name)
    if text is None:
        if default is None:
            raise ValueError(f'<{each.tag}> has no {name}')
        return np.array(default)
    found = np.array([float(word) for word in text.split()])
    if found.shape != (count,) or not np.isfinite(found).all():
        raise ValueError(f'{name} of <{each.tag}> is {text!r}; it must be {count} finite numbers')
    return found
