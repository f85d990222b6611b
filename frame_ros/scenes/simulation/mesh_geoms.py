# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Objects of meshes in a MuJoCo model: one mesh that is drawn, convex pieces that touch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from frame_ros.scenes.description.mesh_folders import MeshObject
from frame_ros.scenes.description.mesh_textures import Texture
from frame_ros.scenes.simulation.model import COLLISION_GROUP, VISUAL_GROUP


def add_mesh_geoms(
    mj: Any, spec: Any, body: Any, name: str, found: MeshObject, mass: float,
    rgba: tuple[float, ...], contact: dict[str, Any], material: str = 'matte',
    pictures: Path | None = None, is_drawn: bool = True,
) -> None:  # fmt: skip
    """Adds the geoms of a mesh to the body of an object. Its mass is spread over the pieces by
    their volumes, of which overlaps count twice.

    Args:
        name: of the object and of its first piece.
        mass: kg.
        rgba: where the mesh has no picture of its surface.
        contact: attributes of geoms by which they touch others.
        material: of the model, where the mesh has no picture.
        pictures: folder into which the picture is written, for a model that becomes a file; None:
            the model holds it.
        is_drawn: False: only the pieces.
    """
    if is_drawn:
        drawn = _mesh(spec, f'{name}/visual', found.corners, found.faces)
        drawn.inertia = mj.mjtMeshInertia.mjMESH_INERTIA_SHELL  # whatever it is, it has no mass
        geom = body.add_geom(
            name=f'{name}/visual', type=mj.mjtGeom.mjGEOM_MESH, meshname=drawn.name, mass=0.0,
            contype=0, conaffinity=0, group=VISUAL_GROUP, rgba=rgba, material=material,
        )  # fmt: skip
        if found.texture is not None:
            _paint(mj, spec, geom, drawn, found.texture, pictures)
    volumes = [piece.volume for piece in found.pieces]
    for index, piece in enumerate(found.pieces):
        mesh = _mesh(spec, f'{name}/{index}', piece.corners, piece.faces)
        mesh.inertia = mj.mjtMeshInertia.mjMESH_INERTIA_CONVEX
        body.add_geom(
            name='' if index else name, type=mj.mjtGeom.mjGEOM_MESH, meshname=mesh.name,
            mass=mass * volumes[index] / sum(volumes), group=COLLISION_GROUP, rgba=rgba, **contact,
        )  # fmt: skip


def _mesh(spec: Any, name: str, corners: NDArray[Any], faces: NDArray[Any]) -> Any:
    points, triangles = corners.astype(np.float32), faces.astype(np.int32)
    return spec.add_mesh(name=name, uservert=points.ravel(), userface=triangles.ravel())


def _paint(
    mj: Any, spec: Any, geom: Any, mesh: Any, texture: Texture, pictures: Path | None
) -> None:
    """Gives a mesh the picture of its surface."""
    places = texture.places * (1.0, -1.0) + (0.0, 1.0)  # MuJoCo counts rows from above
    mesh.usertexcoord = places.astype(np.float32).ravel()
    mesh.userfacetexcoord = texture.faces.astype(np.int32).ravel()
    kind = mj.mjtTexture.mjTEXTURE_2D
    if pictures is None:
        height, width = texture.picture.shape[:2]
        made = spec.add_texture(name=mesh.name, type=kind, width=width, height=height, nchannel=3)
        made.data = texture.picture.tobytes()
    else:
        file = pictures / f'{mesh.name.replace("/", "_")}.png'
        cv2.imwrite(str(file), texture.picture[:, :, ::-1])
        made = spec.add_texture(name=mesh.name, type=kind, file=str(file))
    material = spec.add_material(name=mesh.name, specular=0.05, shininess=0.1)
    material.textures[mj.mjtTextureRole.mjTEXROLE_RGB] = made.name
    geom.material, geom.rgba = material.name, (1.0, 1.0, 1.0, 1.0)
