# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Objects as a MuJoCo file describes them: those of LIBERO, robosuite and robocasa."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.engine import load_mujoco
from frame_ros.core.errors import SetupError, ValueRangeError
from frame_ros.scenes.description.convex_hull import hull_of
from frame_ros.scenes.description.mesh_pieces import check_triangles, solid_hull
from frame_ros.scenes.description.mesh_textures import Texture, made_smaller
from frame_ros.scenes.description.object_parts import (
    ObjectParts,
    hull_mesh,
    joined,
    primitive_points,
)

Array = NDArray[np.float64]
Faces = NDArray[np.int64]


def mjcf_parts(file: Path) -> ObjectParts:
    """Returns the parts of a MuJoCo file: geoms that touch nothing are drawn, all others are solid;
    without the former the solid ones are drawn. Mass and friction are those that MuJoCo gives it.

    Raises:
        SetupError: MuJoCo cannot load it, it has joints that move, or no shapes.
        MissingExtraError: mujoco is not installed.
    """
    mj = load_mujoco()
    try:
        spec = mj.MjSpec.from_file(str(file))
        model = spec.compile()
    except ValueError as error:
        raise SetupError(f'MuJoCo cannot load {file}: {error}') from error
    if (model.jnt_type != mj.mjtJoint.mjJNT_FREE).any() or model.njnt > 1:
        raise SetupError(f'{file} has {model.njnt} joints; an object is one body')
    data = mj.MjData(model)
    mj.mj_kinematics(model, data)
    drawn, solids, solid_meshes = [], [], []
    for index in range(model.ngeom):
        points, faces = _geom(mj, model, file, index)
        points = points @ data.geom_xmat[index].reshape(3, 3).T + data.geom_xpos[index]
        if model.geom_contype[index] or model.geom_conaffinity[index]:
            solids.append(hull_mesh(solid_hull(file, points)))  # as MuJoCo takes a mesh
            solid_meshes.append((points, faces, index))
        else:
            drawn.append((points, faces, index))
    shown = drawn or solid_meshes
    if not shown:
        raise SetupError(f'{file} has no shapes')
    corners, faces = joined([(points, part) for points, part, _ in shown])
    check_triangles(file, len(faces))
    first = shown[0][2]
    touching = [index for _, _, index in solid_meshes]
    mass = float(model.body_mass.sum())
    red, green, blue = model.geom_rgba[first, :3].tolist()
    return ObjectParts(
        file=file, corners=corners, faces=faces, solids=tuple(solids),
        texture=_texture(mj, model, first) if len(shown) == 1 else None,
        mass=mass if mass > 0 else None, is_mass_by_volume=_weighs_by_density(spec),
        friction=float(model.geom_friction[touching, 0].max()) if touching else None,
        colour=(red, green, blue),
    )  # fmt: skip


def _weighs_by_density(spec: Any) -> bool:
    """Returns whether no body or geom has a mass of its own, apart from those without any."""
    is_given = any(body.explicitinertial for body in spec.bodies[1:])
    is_given |= any(geom.mass > 0 for geom in spec.geoms)  # NaN: by its density
    return not is_given and not spec.compiler.settotalmass > 0


def _geom(mj: Any, model: Any, file: Path, index: int) -> tuple[Array, Faces]:
    """Corners and triangles of a geom in its own axes."""
    kind, size = mj.mjtGeom(model.geom_type[index]), model.geom_size[index].tolist()
    if kind == mj.mjtGeom.mjGEOM_MESH:
        mesh = model.geom_dataid[index]
        start, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        first, faces = model.mesh_faceadr[mesh], model.mesh_facenum[mesh]
        return (
            model.mesh_vert[start : start + count].astype(np.float64),
            model.mesh_face[first : first + faces].astype(np.int64),
        )
    shapes = {
        mj.mjtGeom.mjGEOM_BOX: ('box', tuple(2 * each for each in size)),
        mj.mjtGeom.mjGEOM_SPHERE: ('sphere', (size[0],)),
        mj.mjtGeom.mjGEOM_ELLIPSOID: ('sphere', tuple(size)),
        mj.mjtGeom.mjGEOM_CYLINDER: ('cylinder', (size[0], 2 * size[1])),
        mj.mjtGeom.mjGEOM_CAPSULE: ('capsule', (size[0], 2 * size[1])),
    }
    if kind not in shapes:
        raise SetupError(f'{file} has a geom of type {kind.name}; an object cannot have one')
    try:
        return hull_mesh(hull_of(primitive_points(*shapes[kind])))
    except ValueRangeError as error:
        raise SetupError(f'{file}, geom {index}: {error}') from error


def _texture(mj: Any, model: Any, geom: int) -> Texture | None:
    """The picture on a geom that is a mesh, if its material has one; places as of `Texture`."""
    material, mesh = int(model.geom_matid[geom]), int(model.geom_dataid[geom])
    if material < 0 or mesh < 0 or model.mesh_texcoordadr[mesh] < 0:
        return None
    number = int(model.mat_texid[material, int(mj.mjtTextureRole.mjTEXROLE_RGB)])
    if number < 0 or model.tex_type[number] != mj.mjtTexture.mjTEXTURE_2D:
        return None
    height, width = int(model.tex_height[number]), int(model.tex_width[number])
    channels, start = int(model.tex_nchannel[number]), int(model.tex_adr[number])
    pixels = model.tex_data[start : start + height * width * channels]
    picture = pixels.reshape(height, width, channels)[:, :, :3]
    first, count = model.mesh_texcoordadr[mesh], model.mesh_texcoordnum[mesh]
    places = model.mesh_texcoord[first : first + count].astype(np.float64)
    triangles, several = model.mesh_faceadr[mesh], model.mesh_facenum[mesh]
    faces = model.mesh_facetexcoord[triangles : triangles + several].astype(np.int64)
    if channels < 3:
        return None
    upright = places * (1.0, -1.0) + (0.0, 1.0)  # MuJoCo counts rows from above
    return Texture(made_smaller(picture), upright, faces)
