# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The meshes that a URDF names: where their files are, and what is in them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import numpy as np
from numpy.typing import NDArray

from frame_ros.errors import MissingExtraError, RobotError, install_hint

Array = NDArray[np.float64]
_MESH = re.compile(
    r'(?P<start><mesh\b[^>]*?\bfilename\s*=\s*)(?P<quote>["\'])(?P<name>.*?)(?P=quote)', re.DOTALL
)


def find_mesh(reference: str, folder: Path, package_folders: Sequence[Path] = ()) -> Path:
    """The file of `filename` in a URDF: package://NAME/PATH, model://NAME/PATH, file://PATH, or a
    path, relative ones from the URDF's folder.

    folder: of the URDF. A package is looked for in `package_folders` and ROS_PACKAGE_PATH, which
    hold packages or are one, in share/ of the sourced ROS workspaces, and among the folders above
    the URDF.

    Raises:
        RobotError: there is no such file; says where it was looked for.
    """
    parts = urlparse(reference)
    if parts.scheme in ('package', 'model'):
        inside = unquote(parts.path).lstrip('/')
        candidates = [
            place / inside for place in _package_places(parts.netloc, folder, package_folders)
        ]
    elif parts.scheme == 'file':
        candidates = [Path(unquote(parts.path))]
    else:
        candidates = [folder / Path(reference).expanduser()]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    looked = ', '.join(str(candidate) for candidate in dict.fromkeys(candidates))
    raise RobotError(
        f'the mesh {reference} is not there: looked for {looked}. Source the workspace that has '
        'the package, or name its folder by --package-folder'
    )


def with_absolute_meshes(urdf: str, folder: Path) -> str:
    """The text of a URDF in which every mesh that is found is a file:// URI, for programs that know
    nothing of the URDF's folder; others stay as they are.
    """

    def absolute(match: re.Match[str]) -> str:
        try:
            path = find_mesh(match['name'], folder)
        except RobotError:
            return match[0]
        return f'{match["start"]}{match["quote"]}{path.resolve().as_uri()}{match["quote"]}'

    return _MESH.sub(absolute, urdf)


def _package_places(name: str, folder: Path, package_folders: Sequence[Path]) -> list[Path]:
    def paths(variable: str) -> list[Path]:
        return [Path(p) for p in os.environ.get(variable, '').split(os.pathsep) if p]

    places = []
    for each in (*package_folders, *paths('ROS_PACKAGE_PATH')):
        places += [each / name] + ([each] if each.name == name else [])
    places += [prefix / 'share' / name for prefix in paths('AMENT_PREFIX_PATH')]
    above = folder.resolve()
    for each in (above, *above.parents):
        places += [each] if each.name == name else []
        places.append(each / name)
    return places


def load_triangles(path: Path, scale: Array) -> Array:
    """(T, 3, 3) corners in m of the triangles of a mesh file (STL, OBJ, COLLADA, PLY, ...).

    scale: (3,) of the URDF.

    Raises:
        RobotError: the file cannot be read, or holds no triangle.
        MissingExtraError: trimesh is not installed, or what it needs for this kind of file.
    """
    trimesh = load_trimesh()
    try:
        mesh: Any = trimesh.load(str(path), force='mesh', process=False)
        triangles = np.asarray(mesh.triangles, np.float64)
    except ImportError as error:
        raise MissingExtraError(
            f'{path} cannot be read without {error.name}: {install_hint("meshes")}'
        ) from error
    except Exception as error:
        raise RobotError(f'the mesh {path} cannot be read: {error}') from error
    if not len(triangles) or not np.isfinite(triangles).all():
        raise RobotError(f'the mesh {path} holds no triangles, or corners that are not finite')
    return triangles * scale


def load_trimesh() -> Any:
    """The module.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import trimesh
    except ImportError as error:
        raise MissingExtraError(
            f'meshes are read by trimesh ({error}): {install_hint("meshes")}'
        ) from error
    return trimesh
