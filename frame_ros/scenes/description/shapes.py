# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Sizes of shapes as they lie: extents, the circle they stand in, surface points."""

from __future__ import annotations

import math
from functools import lru_cache

import attrs
import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import SetupError, ValueRangeError
from frame_ros.core.structuring import LEFT_OUT
from frame_ros.scenes.description.cavities import Cavity, box_cavity
from frame_ros.scenes.description.convex_hull import spread_points
from frame_ros.scenes.description.mesh_folders import MeshObject, mesh_object

Array = NDArray[np.float64]

_CORNERS = np.array(np.meshgrid(*[(-1.0, 1.0)] * 3)).reshape(3, -1).T  # (8, 3) of a box
MESH = 'mesh'
MESH_SIZE = 5e-4  # m, by which the edges of a mesh may differ from those of its shape
# Kind -> what its sizes are, m. As those of `Obstacle`; a tray: a box without a lid; a mesh: by the
# edges of the box about its collision pieces.
SHAPES = {
    'box': ('x', 'y', 'z'),
    'cylinder': ('radius', 'length along z'),
    'sphere': ('radius',),
    'tray': ('outer x', 'outer y', 'outer z', 'thickness of walls and floor'),
    MESH: ('x', 'y', 'z'),
}


@attrs.frozen
class Shape:
    """A shape about its middle, in its own axes.

    Attributes:
        kind: one of SHAPES.
        size: m, as SHAPES names them; (): those of the mesh, which is then read.
        mesh: folder of a mesh's files; '': it is none.
    """

    kind: str
    size: tuple[float, ...] = ()
    mesh: str = attrs.field(default='', metadata=LEFT_OUT)

    def __attrs_post_init__(self) -> None:
        """Raises ValueRangeError for an impossible shape, and as of `mesh_object`."""
        if self.kind not in SHAPES:
            raise ValueRangeError(f'kind is {self.kind!r}; it must be one of {", ".join(SHAPES)}')
        if (self.kind == MESH) != bool(self.mesh):
            expected = "''" if self.mesh else 'the folder of its files'
            raise ValueRangeError(
                f'mesh is {self.mesh!r}; of the kind {self.kind} it must be {expected}'
            )
        if self.mesh and not self.size:
            object.__setattr__(self, 'size', tuple(mesh_object(self.mesh).edges.tolist()))
        names = SHAPES[self.kind]
        is_right = len(self.size) == len(names) and all(0 < s < math.inf for s in self.size)
        if not is_right:
            raise ValueRangeError(
                f'size is {list(self.size)}; a {self.kind} has {len(names)} lengths above 0 m: '
                f'{", ".join(names)}'
            )
        if self.kind == 'tray' and 2 * self.size[3] >= min(self.size[:2] + (2 * self.size[2],)):
            raise ValueRangeError(f'size is {list(self.size)}; the walls leave no room in the tray')

    @property
    def half_edges(self) -> Array:
        """(3,) m, half the edges of the box about it in its own axes."""
        if self.kind == 'cylinder':
            return np.array((self.size[0], self.size[0], self.size[1] / 2))
        if self.kind == 'sphere':
            return np.full(3, self.size[0])
        return np.array(self.size[:3]) / 2

    @property
    def volume(self) -> float:
        """m3, of a tray that of its walls and floor, of a mesh that of its pieces in sum."""
        if self.kind == MESH:
            return sum(piece.volume for piece in mesh_of(self).pieces)
        if self.kind == 'sphere':
            return 4 / 3 * math.pi * self.size[0] ** 3
        if self.kind == 'cylinder':
            return math.pi * self.size[0] ** 2 * self.size[1]
        x, y, z = self.size[:3]
        if self.kind == 'box':
            return x * y * z
        wall = self.size[3]
        return x * y * z - (x - 2 * wall) * (y - 2 * wall) * (z - wall)

    @property
    def inner_half_edges(self) -> Array | None:
        """(3,) m, of the inside from its floor to its rim, of a mesh halfway up; None: it has no
        inside.
        """
        return None if self.cavity is None else self.cavity.half_edges

    @property
    def cavity(self) -> Cavity | None:
        """The inside of a tray, or of a mesh that has one; None: it has none."""
        if self.kind == MESH:
            return mesh_of(self).cavity
        if self.kind != 'tray':
            return None
        wall, half = self.size[3], self.half_edges
        return box_cavity(half - np.array((wall, wall, wall / 2)), wall - float(half[2]))

    @property
    def has_flat_top(self) -> bool:
        """True if something can stand on it; of a mesh as of `MeshObject`."""
        return self.kind in ('box', 'cylinder') or bool(self.mesh and mesh_of(self).has_flat_top)

    @property
    def rolls(self) -> bool:
        """True if it does not stay where it is put on a flat top."""
        return self.kind == 'sphere' or bool(self.mesh and mesh_of(self).rests.is_round)


@lru_cache(maxsize=1024)
def mesh_of(shape: Shape) -> MeshObject:
    """Returns the mesh of a shape that is one.

    Raises:
        SetupError: it has other edges than the shape says.
        FrameRosError: as of `mesh_object`.
    """
    found = mesh_object(shape.mesh)
    if np.abs(found.edges - shape.size).max() > MESH_SIZE:
        edges = ', '.join(f'{edge:.4f}' for edge in found.edges)
        raise SetupError(
            f'the mesh in {shape.mesh} has the edges {edges} m; the size of the shape is '
            f'{list(shape.size)}: it is another mesh, or of another scale'
        )
    return found


def extents(shape: Shape, rotation: Array) -> Array:
    """Returns (3,) m, half the edges of the upright box about a shape turned by a (3, 3)."""
    if shape.kind == 'sphere':
        return shape.half_edges
    if shape.kind == MESH:
        return np.asarray(np.abs(mesh_of(shape).hull.corners @ rotation.T).max(axis=0))
    if shape.kind == 'cylinder':
        along = np.abs(rotation[:, 2])
        round_it = np.sqrt(np.maximum(0.0, 1.0 - along**2))
        return np.asarray(along * shape.size[1] / 2 + round_it * shape.size[0])
    return np.asarray(np.abs(rotation) @ shape.half_edges)


def standing_height(shape: Shape, rotation: Array) -> float:
    """Returns m from the lowest point of a shape turned by a (3, 3) to its middle."""
    if shape.kind == MESH:
        return -float((mesh_of(shape).hull.corners @ rotation[2]).min())
    return float(extents(shape, rotation)[2])


def standing_radius(shape: Shape, rotation: Array) -> float:
    """Returns the radius, m, of the upright cylinder about a shape's middle that holds it."""
    if shape.kind == 'sphere':
        return shape.size[0]
    if shape.kind == 'cylinder':
        # The furthest point of a rim: half length along the axis, then radius across it.
        level, steep = math.hypot(*rotation[:2, 2]), abs(float(rotation[2, 2]))
        reach, rise = shape.size[1] / 2 * level, shape.size[0] * steep
        room = shape.size[0] ** 2 - rise**2
        cosine = min(1.0, reach * rise / room) if room > 0 else 1.0
        return math.sqrt((reach + rise * cosine) ** 2 + shape.size[0] ** 2 * (1 - cosine**2))
    corners = corner_points(shape)
    return float(np.linalg.norm((corners @ rotation.T)[:, :2], axis=1).max())


def narrowest_width(shape: Shape, rotation: Array) -> float:
    """Returns the least distance, m, between level fingers that close on the shape.

    Infinite for a tray, whose walls are not what is picked up.
    """
    if shape.kind == 'tray':
        return math.inf
    if shape.kind not in ('box', MESH):
        return 2 * shape.size[0]
    level = np.abs(rotation[2]) < math.sqrt(0.5)  # edges that lie more than they stand
    return float(2 * shape.half_edges[level].min())


def corner_points(shape: Shape) -> Array:
    """Returns (N, 3) m, the corners of a box, a tray or a mesh's convex hull, in its own axes."""
    if shape.kind == MESH:
        return mesh_of(shape).hull.corners
    return _CORNERS * shape.half_edges


def surface_points(shape: Shape, count: int = 6) -> tuple[Array, Array]:
    """Returns points (N, 3) m of a shape's surface and their normals (N, 3), in its own axes.

    count: points along an edge, and a quarter of those around.
    """
    if shape.kind in ('box', 'tray'):
        return _box_points(shape.half_edges, count)
    if shape.kind == MESH:  # of its convex hull
        return spread_points(mesh_of(shape).hull, 6 * count**2)
    angles = np.arange(4 * count) * (math.pi / 2 / count)
    ring = np.column_stack((np.cos(angles), np.sin(angles)))
    if shape.kind == 'sphere':
        heights = (np.arange(2 * count) + 0.5) / count - 1.0
        rims = np.sqrt(1.0 - heights**2)
        normals = np.concatenate(
            [np.column_stack((rim * ring, np.full(len(ring), z)))
             for rim, z in zip(rims, heights, strict=True)]
        )  # fmt: skip
        return normals * shape.size[0], normals
    radius, half = shape.size[0], shape.size[1] / 2
    shares = (np.arange(count) + 0.5) / count
    points, normals = [], []
    for share in shares:
        z = np.full(len(ring), half * (2 * share - 1))
        points.append(np.column_stack((radius * ring, z)))
        normals.append(np.column_stack((ring, np.zeros(len(ring)))))
        for side in (-1.0, 1.0):
            cap = np.full(len(ring), side * half)
            points.append(np.column_stack((radius * math.sqrt(share) * ring, cap)))
            normals.append(np.tile((0.0, 0.0, side), (len(ring), 1)))
    return np.concatenate(points), np.concatenate(normals)


def _box_points(half: Array, count: int) -> tuple[Array, Array]:
    line = 2 * (np.arange(count) + 0.5) / count - 1
    across = np.array(np.meshgrid(line, line)).reshape(2, -1).T
    points, normals = [], []
    for axis in range(3):
        for side in (-1.0, 1.0):
            face = np.insert(across, axis, side, axis=1)
            points.append(face * half)
            normals.append(np.tile(side * np.eye(3)[axis], (len(face), 1)))
    return np.concatenate(points), np.concatenate(normals)
