# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The meshes of a URDF, read and placed in the frames of their links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import RobotError
from frame_ros.robots.description import rotation_from_rpy
from frame_ros.robots.shapes.mesh_files import find_mesh, load_triangles

Array = NDArray[np.float64]
VISUAL, COLLISION = 'visual', 'collision'


def placed_meshes(
    urdf: str, folder: Path, package_folders: Sequence[Path] = (), geometry: str = COLLISION
) -> Iterator[tuple[str, Array]]:
    """Yields each mesh of a URDF: its link, and its triangles (T, 3, 3) in m in the link's frame.

    Args:
        urdf: the text.
        folder: of the URDF, for paths in it.
        geometry: VISUAL or COLLISION.

    Raises:
        RobotError: a mesh is missing or cannot be read, or its place is not three numbers.
        MissingExtraError: trimesh is not installed, or what it needs for a kind of file.
    """
    for link in ElementTree.fromstring(urdf).findall('link'):
        for element in link.findall(geometry):
            for mesh in element.findall('geometry/mesh'):
                path = find_mesh(mesh.get('filename') or '', folder, package_folders)
                triangles = load_triangles(path, _numbers(mesh.get('scale'), 1.0, geometry))
                origin = element.find('origin')
                at = _numbers(None if origin is None else origin.get('xyz'), 0.0, geometry)
                rpy = _numbers(None if origin is None else origin.get('rpy'), 0.0, geometry)
                yield link.get('name') or '', triangles @ rotation_from_rpy(*rpy).T + at


def _numbers(text: str | None, default: float, geometry: str) -> Array:
    if text is None:
        return np.full(3, default)
    try:
        values = np.array([float(part) for part in text.split()])
    except ValueError:
        values = np.array([])
    if values.shape != (3,) or not np.isfinite(values).all():
        raise RobotError(f'a {geometry} mesh has "{text}", three numbers are needed')
    return values
