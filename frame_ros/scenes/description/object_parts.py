# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The parts of an object as a file of a robot simulator describes it: drawn ones and solid ones."""

from __future__ import annotations

import math
from pathlib import Path

import attrs
import numpy as np
from numpy.typing import NDArray

from frame_ros.scenes.description.convex_hull import Hull
from frame_ros.scenes.description.mesh_textures import Texture

Array = NDArray[np.float64]
Faces = NDArray[np.int64]
Triple = tuple[float, float, float]
Mesh = tuple[Array, Faces]
AROUND = 24  # points of a circle of a cylinder that becomes a hull


@attrs.frozen(eq=False, kw_only=True)
class ObjectParts:
    """An object of a folder, in the axes and the unit m of its description.

    Attributes:
        file: in which it is described, or that is drawn.
        corners, faces: (V, 3) m and (T, 3), of what is drawn.
        texture: of what is drawn; None: it has one colour.
        solids: corners and triangles, as those, of each part that touches; (): there are none.
        mass: kg; None: not given.
        is_mass_by_volume: whether that is of a density, so that it grows with a scale.
        friction: of sliding; None: not given.
        colour: linear RGB; None: not given.
    """

    file: Path
    corners: Array
    faces: Faces
    texture: Texture | None = None
    solids: tuple[Mesh, ...] = ()
    mass: float | None = None
    is_mass_by_volume: bool = False
    friction: float | None = None
    colour: Triple | None = None


def primitive_points(kind: str, size: tuple[float, ...]) -> Array:
    """Returns (N, 3) m whose convex hull is a shape about its middle, to 1 % of round ones.

    size: of a box its edges, of a sphere and an ellipsoid the radii, of a cylinder radius and
        length, of a capsule radius and length without the caps.
    """
    if kind == 'box':
        signs = np.array(np.meshgrid(*[(-0.5, 0.5)] * 3)).reshape(3, -1).T
        return np.asarray(signs * size)
    turns = np.arange(AROUND) * (2 * math.pi / AROUND)
    ring = np.column_stack((np.cos(turns), np.sin(turns)))
    if kind == 'cylinder':
        radius, length = size
        ends = (np.column_stack((radius * ring, np.full(AROUND, z))) for z in (-0.5, 0.5))
        return np.concatenate([end * (1, 1, length) for end in ends])
    latitudes = np.linspace(-math.pi / 2, math.pi / 2, AROUND // 2 + 1)
    ball = np.concatenate(
        [np.column_stack((math.cos(a) * ring, np.full(AROUND, math.sin(a)))) for a in latitudes]
    )
    if kind == 'capsule':
        radius, length = size
        lift = np.array((0.0, 0.0, length / 2))
        caps = radius * ball[ball[:, 2] > -1e-9] + lift, radius * ball[ball[:, 2] < 1e-9] - lift
        return np.concatenate(caps)
    return ball * (size if len(size) == 3 else size * 3)


def joined(meshes: list[Mesh]) -> Mesh:
    """Returns several meshes as one."""
    starts = np.cumsum([0, *(len(corners) for corners, _ in meshes)])
    faces = [part + start for (_, part), start in zip(meshes, starts, strict=False)]
    return np.concatenate([corners for corners, _ in meshes]), np.concatenate(faces)


def hull_mesh(hull: Hull) -> Mesh:
    """Returns the corners and triangles of a hull."""
    return hull.corners, hull.faces
