# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The mesh files that a URDF names: their location and content."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import MissingExtraError, RobotError, install_hint
from frame_ros.core.input_files import MESH, is_within, names_file, read_bytes

# Kinds that trimesh reads without unpacking archives, and its options for them.
MESH_KINDS: dict[str, dict[str, Any]] = {
    'stl': {},
    'obj': {'skip_materials': True},
    'ply': {},
    'off': {},
    'dae': {'ignore_broken': True},
    'glb': {},
}
# Usual names of folders of URDFs next to one of meshes.
URDF_FOLDERS = ('urdf', 'urdfs', 'robots', 'xacro')
Array = NDArray[np.float64]
_MESH = re.compile(
    r'(?P<start><mesh\b[^>]*?\bfilename\s*=\s*)(?P<quote>["\'])(?P<name>.*?)(?P=quote)', re.DOTALL
)


def find_mesh(reference: str, folder: Path, package_folders: Sequence[Path] = ()) -> Path:
    """Returns the file of a URDF's `filename`: package://NAME/PATH, model://NAME/PATH, file://PATH,
    or a path from the URDF's folder.

    A package is looked for in `package_folders` and ROS_PACKAGE_PATH, which hold packages or are
    one, in share/ of the sourced ROS workspaces, and among the folders above the URDF. A file that
    lies neither with the URDF (in its package; without a package.xml in its folder, or in the one
    above where that holds a folder of URDFs) nor in a package's folder is refused.

    Args:
        folder: of the URDF.

    Raises:
        RobotError: there is no such file, or it lies elsewhere; the message lists the places
            searched.
    """
    parts, packages = urlparse(reference), []
    if parts.scheme in ('package', 'model'):
        inside = unquote(parts.path).lstrip('/')
        places = _package_places(parts.netloc, folder, package_folders)
        candidates = [place / inside for place in places]
        packages = [place for place in places if (place / 'package.xml').is_file()]
    elif parts.scheme == 'file':
        candidates = [Path(unquote(parts.path))]
    else:
        candidates = [folder / Path(reference).expanduser()]
    roots = [_root_of(folder), *packages, *package_folders, *_paths('ROS_PACKAGE_PATH')]
    roots += [prefix / 'share' for prefix in _paths('AMENT_PREFIX_PATH')]
    for candidate in candidates:
        if names_file(str(candidate)):
            if any(_is_in(candidate, root) for root in roots):
                return candidate
            raise RobotError(
                f'the mesh {reference} is {candidate}, which lies outside of {roots[0]} and of '
                'every package: name its folder by --package-folder if that is meant'
            )
    looked = ', '.join(str(candidate) for candidate in dict.fromkeys(candidates))
    raise RobotError(
        f'the mesh {reference} is not there: looked for {looked}. Source the workspace that has '
        'the package, or name its folder by --package-folder'
    )


def with_absolute_meshes(urdf: str, folder: Path) -> str:
    """Returns a URDF whose meshes, if found, are file:// URIs, for use outside its folder."""

    def absolute(match: re.Match[str]) -> str:
        """Returns the attribute with the mesh's URI, or unchanged if the mesh is not found."""
        try:
            path = find_mesh(match['name'], folder)
        except RobotError:
            return match[0]
        uri = Path(os.path.abspath(path)).as_uri()
        return f'{match["start"]}{match["quote"]}{uri}{match["quote"]}'

    return _MESH.sub(absolute, urdf)


def _package_places(name: str, folder: Path, package_folders: Sequence[Path]) -> list[Path]:
    if name in ('', '.', '..'):
        return []
    places = []
    for each in (*package_folders, *_paths('ROS_PACKAGE_PATH')):
        places += [each / name] + ([each] if each.name == name else [])
    places += [prefix / 'share' / name for prefix in _paths('AMENT_PREFIX_PATH')]
    above = folder.resolve()
    for each in (above, *above.parents):
        places += [each] if each.name == name else []
        places.append(each / name)
    return places


def _paths(variable: str) -> list[Path]:
    """Returns the folders listed by an environment variable."""
    return [Path(p) for p in os.environ.get(variable, '').split(os.pathsep) if p]


def _root_of(folder: Path) -> Path:
    """Returns the folder that contains a URDF's own files."""
    folder = folder.resolve()
    packages = (each for each in (folder, *folder.parents) if (each / 'package.xml').is_file())
    above = folder.parent if folder.name in URDF_FOLDERS else folder
    return next(packages, above)


def _is_in(path: Path, folder: Path) -> bool:
    """Returns whether a path lies in a folder, as written or with links followed."""
    written = Path(os.path.abspath(path)).is_relative_to(os.path.abspath(folder))
    return written or is_within(path, folder)


def load_triangles(path: Path, scale: Array) -> Array:
    """Returns (T, 3, 3) corners in m of the triangles of a mesh file (STL, OBJ, COLLADA, PLY, ...).

    scale: (3,) of the URDF. Raises as `load_mesh`.
    """
    corners, faces = load_mesh(path)
    return corners[faces] * scale


def load_mesh(path: Path) -> tuple[Array, NDArray[np.int64]]:
    """Returns a mesh file's corners (V, 3), in the file's unit, and triangles (T, 3) of their
    indices.

    Materials and textures, which lie in other files, are ignored.

    Raises:
        RobotError: the file is missing, of an unknown kind, too large, unreadable, or has no
            triangles.
        MissingExtraError: trimesh is not installed, or what it needs for this kind of file.
    """
    trimesh = load_trimesh()
    kind = path.suffix.lower().removeprefix('.')
    if kind not in MESH_KINDS:
        raise RobotError(f'the mesh {path} is of no known kind; known: {", ".join(MESH_KINDS)}')
    try:
        content = io.BytesIO(read_bytes(path, MESH))
    except FileNotFoundError as error:
        raise RobotError(f'the mesh file {path} does not exist') from error
    except OSError as error:
        raise RobotError(f'the mesh {path} cannot be read: {error.strerror}') from error
    try:
        mesh: Any = trimesh.load(content, kind, force='mesh', process=False, **MESH_KINDS[kind])
        corners, faces = np.asarray(mesh.vertices, np.float64), np.asarray(mesh.faces, np.int64)
    except ImportError as error:
        raise MissingExtraError(
            f'{path} cannot be read without {error.name}: {install_hint("meshes")}'
        ) from error
    except Exception as error:  # what the reader of a kind raises depends on the kind
        raise RobotError(f'the mesh {path} cannot be read: {error}') from error
    is_right = (
        corners.ndim == 2
        and corners.shape[1] == 3
        and faces.ndim == 2
        and len(faces)
        and faces.min() >= 0
        and faces.max() < len(corners)
    )
    if not is_right or not np.isfinite(corners).all():
        raise RobotError(f'the mesh {path} holds no triangles, or corners that are not finite')
    return corners, faces


def load_trimesh() -> Any:
    """Returns the trimesh module.

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
