# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Digests of the files of mesh folders, by which a change of them is noticed."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from frame_ros.core.errors import SetupError
from frame_ros.core.input_files import MESH, read_bytes
from frame_ros.robots.shapes.mesh_files import MESH_KINDS
from frame_ros.scenes.description.mesh_folders import has_meshes
from frame_ros.scenes.description.scene import Scene

MOST_FILES = 10_000
# Endings of files that an object is read from: meshes, materials, pictures and descriptions.
ENDINGS = frozenset(f'.{kind}' for kind in MESH_KINDS) | {
    '.msh', '.mtl', '.png', '.jpg', '.jpeg', '.bmp', '.tga', '.yaml', '.urdf', '.xml',
}  # fmt: skip


def mesh_digests(scenes: Iterable[Scene]) -> dict[str, str]:
    """Returns the digest of every file in the folders of the meshes of scenes, by object and path;
    {}: there are no meshes. Files elsewhere, to which a description may refer, are left out.

    Raises:
        SetupError: a file cannot be read, or there are too many.
    """
    return folder_digests(_folders(scenes))


def libraries_digests(scenes: Iterable[Scene]) -> dict[str, str]:
    """Returns the digest of every file in the folders of the meshes of scenes and of all objects
    next to them, which other scenes may have: as `mesh_digests`.
    """
    folders = _folders(scenes)
    libraries = {folder.parent for folder in folders}
    return folder_digests(folders.union(*(_objects(path) for path in libraries if path.is_dir())))


def folder_digests(folders: Iterable[Path]) -> dict[str, str]:
    """Returns the digest of every file in folders of objects, as `mesh_digests`; where two folders
    have one name, by their whole paths.
    """
    places, found = sorted(folders), dict[str, str]()
    counts = Counter(folder.name for folder in places)
    for folder in places:
        # Of two libraries that both have such an object each has its own.
        own = folder.name if counts[folder.name] == 1 else str(folder)
        for file in _files(folder):
            name = f'{own}/{file.relative_to(folder)}'
            try:
                found[name] = hashlib.sha256(read_bytes(file, MESH)).hexdigest()[:16]
            except OSError as error:
                raise SetupError(f'{file} cannot be read: {error.strerror}') from error
            if len(found) > MOST_FILES:
                raise SetupError(f'the folders of meshes hold more than {MOST_FILES} files')
    return found


def library_digests(library: str) -> dict[str, str]:
    """Returns the digest of every file in the folders of objects in a folder; '': {}.

    Raises:
        SetupError: there is no such folder; otherwise as of `mesh_digests`.
    """
    if not library:
        return {}
    path = Path(library).expanduser()
    if not path.is_dir():
        raise SetupError(f'there is no folder {library}; it holds a folder for each object')
    return folder_digests(_objects(path))


def _folders(scenes: Iterable[Scene]) -> set[Path]:
    return {
        Path(each.shape.mesh)
        for scene in scenes
        for each in scene.objects
        if each.shape is not None and each.shape.mesh
    }


def _objects(library: Path) -> list[Path]:
    return [each for each in library.iterdir() if each.is_dir() and has_meshes(each)]


def _files(folder: Path) -> list[Path]:
    found = []
    for place, inner, names in os.walk(folder):
        inner[:] = sorted(name for name in inner if not name.startswith('.'))
        found += [Path(place, name) for name in names if Path(name).suffix.lower() in ENDINGS]
    return sorted(each for each in found if each.is_file())
