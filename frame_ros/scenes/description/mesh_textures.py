# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The picture on the surface of a mesh: of OBJ files whose material names one."""

from __future__ import annotations

import io
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import attrs
import cv2
import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import SetupError
from frame_ros.core.input_files import MESH, TEXT, is_within, read_bytes
from frame_ros.robots.shapes.mesh_files import MESH_KINDS, load_trimesh

MOST_PIXELS = 512  # in a row or column; larger pictures are made smaller
_MATERIALS = re.compile(r'^\s*mtllib\s+(.+?)\s*$', re.MULTILINE)
_PICTURE = re.compile(r'^\s*map_Kd\s+(?:-\S+\s+\S+\s+)*(\S.*?)\s*$', re.MULTILINE)


@attrs.frozen(eq=False)
class Texture:
    """A picture and where the triangles of a mesh are on it.

    Attributes:
        picture: (H, W, 3) uint8 RGB.
        places: (V, 2) u to the right and v upwards, 0 to 1.
        faces: (T, 3) indices of places.
    """

    picture: NDArray[np.uint8]
    places: NDArray[np.float64]
    faces: NDArray[np.int64]


@lru_cache(maxsize=64)
def texture_of(file: Path) -> Texture | None:
    """Returns the texture of a mesh file; None: it is no OBJ with one, its picture is not there, or
    its materials name several.

    Raises:
        SetupError: the picture lies outside of the mesh's folder, or cannot be read.
    """
    if file.suffix.lower() != '.obj':
        return None
    content = read_bytes(file, MESH)
    named = _MATERIALS.search(content[:65536].decode('utf-8', 'replace'))
    materials = file.parent / named[1] if named else None
    if materials is None or not is_within(materials, file.parent) or not materials.is_file():
        return None
    # In any encoding; of two pictures neither would be right on all of the surface.
    found = set(_PICTURE.findall(read_bytes(materials, TEXT).decode('utf-8', 'replace')))
    path = file.parent / found.pop() if len(found) == 1 else None
    if path is None or not path.is_file():
        return None
    if not is_within(path, file.parent):
        raise SetupError(f'the picture {path} of {file} lies outside of its folder')
    mesh: Any = load_trimesh().load(
        io.BytesIO(content), 'obj', force='mesh', process=False, **MESH_KINDS['obj']
    )
    places = getattr(mesh.visual, 'uv', None)
    if places is None or len(places) != len(mesh.vertices):
        return None
    return Texture(_picture(path), np.asarray(places, np.float64), np.asarray(mesh.faces, np.int64))


def _picture(path: Path) -> NDArray[np.uint8]:
    found = cv2.imdecode(np.frombuffer(read_bytes(path, MESH), np.uint8), cv2.IMREAD_COLOR)
    if found is None:
        raise SetupError(f'{path} is no picture that OpenCV reads')
    return made_smaller(np.ascontiguousarray(found[:, :, ::-1]))


def made_smaller(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Returns a picture (H, W, 3) of MOST_PIXELS or fewer in a row and a column."""
    height, width = picture.shape[:2]
    factor = MOST_PIXELS / max(height, width)
    if factor < 1:
        size = max(1, round(width * factor)), max(1, round(height * factor))
        return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)
    return np.ascontiguousarray(picture)
