# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Objects of meshes in a MuJoCo model: one mesh that is drawn, convex pieces that touch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.scenes.description.mesh_folders import MeshObject
from frame_ros.scenes.simulation.model import COLLISION_GROUP, VISUAL_GROUP


def add_mesh_geoms(
    mj: Any, spec: Any, body: Any, name: str, found: MeshObject, mass: float,
    rgba: tuple[float, ...], contact: dict[str, Any],
) -> None:  # fmt: skip
    """Adds the geoms of a mesh to the body of an object. Its mass is spread over the pieces by
    their volumes, of which overlaps count twice.

    Args:
        name: of the object and of its first piece.
        mass: kg.
        rgba: of what is drawn.
        contact: attributes of geoms by which they touch others.
    """
    drawn = _mesh(spec, f'{name}/visual', found.corners, found.faces)
    drawn.inertia = mj.mjtMeshInertia.mjMESH_INERTIA_SHELL  # whatever it is, it has no mass
    body.add_geom(
        name=f'{name}/visual', type=mj.mjtGeom.mjGEOM_MESH, meshname=drawn.name, mass=0.0,
        contype=0, conaffinity=0, group=VISUAL_GROUP, rgba=rgba, material='matte',
    )  # fmt: skip
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
