# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A depth camera's expected view of a robot: rays cast at the shapes of its links."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots.shapes.link_shapes import ROUNDED_BOX, ROUNDED_CYLINDER, PlacedShapes
from frame_ros.sensing.proximity.depth.camera import DepthCamera

Array = NDArray[np.float64]
NEAR = 0.03  # m, in front of the camera: no depth camera measures what is nearer
STEPS = 12  # towards a rounded shape
MET = 0.0005  # m, how near to it counts as there
CORNERS = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
EDGES = np.array([p for p in itertools.combinations(range(8), 2) if (p[0] ^ p[1]) in (1, 2, 4)])


@dataclass(frozen=True)
class RobotView:
    """The robot's visible surface at N pixels of a grid, in the camera's optical frame."""

    points: Array  # (N, 3) m, where the rays through the pixels meet it
    normals: Array  # (N, 3) unit vectors out of it
    rows: NDArray[np.intp]  # (N,) of the shapes
    spacing: int  # pixels between two of the grid

    def __len__(self) -> int:
        return len(self.points)

    def thinned(self, most: int) -> RobotView:
        """Returns at most so many of them, evenly spaced."""
        step = max(1, -(-len(self) // most))
        part = slice(step // 2, None, step)
        return RobotView(self.points[part], self.normals[part], self.rows[part], self.spacing)


def view_robot(camera: DepthCamera, shapes: PlacedShapes, spacing: int) -> RobotView:
    """Returns the expected view of the robot at every `spacing`-th pixel of either direction.

    shapes: in the camera's optical frame (x right, y down, z forward).
    """
    columns = np.arange(spacing // 2, camera.width, spacing)
    rows = np.arange(spacing // 2, camera.height, spacing)
    x, y = camera.rays()
    x, y = x[columns], y[rows]
    depth = np.full((len(rows), len(columns)), np.inf)
    nearest = np.full(depth.shape, -1, np.intp)
    corners = _corners(shapes)
    for row in range(len(shapes)):
        outline = _before(corners[row])
        across, down = _span(x, outline[:, 0::2]), _span(y, outline[:, 1:])
        if across is None or down is None:
            continue
        centre = shapes.translations[row]
        rays = np.ones((down.stop - down.start, across.stop - across.start, 3))
        rays[..., 0], rays[..., 1] = x[across], y[down, None]
        turn = shapes.rotations[row]
        found = _entry(
            shapes.kinds[row], -centre @ turn, rays.reshape(-1, 3) @ turn,
            shapes.half_sizes[row], float(shapes.radii[row]),
        ).reshape(rays.shape[:2])  # fmt: skip
        known = depth[down, across]
        is_nearer = found < known
        known[is_nearer] = found[is_nearer]
        nearest[down, across][is_nearer] = row
    return _surface(shapes, depth, nearest, x, y, spacing)


def _surface(
    shapes: PlacedShapes, depth: Array, nearest: NDArray[np.intp], x: Array, y: Array, spacing: int
) -> RobotView:
    down, across = np.nonzero(nearest >= 0)
    z, shape = depth[down, across], nearest[down, across]
    points = np.stack((x[across] * z, y[down] * z, z), axis=1)
    turns = shapes.rotations[shape]
    local = np.einsum('nk,nkl->nl', points - shapes.translations[shape], turns)
    normals = np.einsum('nkl,nl->nk', turns, _normals(shapes, shape, local))
    return RobotView(points, normals, shape, spacing)


def _corners(shapes: PlacedShapes) -> Array:
    """Returns (S, 8, 3) m: the corners of the box around each shape."""
    flat = np.where(shapes.is_cylinder[:, None], (1.0, 1.0, 0.0), 1.0)
    halves = shapes.half_sizes + shapes.radii[:, None] * flat
    local = halves[:, None] * CORNERS
    return np.einsum('skl,scl->sck', shapes.rotations, local) + shapes.translations[:, None]


def _before(corners: Array) -> Array:
    """Returns (C, 3) m: corners of the part of a box (8, 3) that is farther than NEAR, if any."""
    is_far = corners[:, 2] > NEAR
    if is_far.all():
        return corners
    cut = EDGES[is_far[EDGES[:, 0]] != is_far[EDGES[:, 1]]]
    start, end = corners[cut[:, 0]], corners[cut[:, 1]]
    share = (NEAR - start[:, 2:]) / (end[:, 2:] - start[:, 2:])
    return np.concatenate((corners[is_far], start + share * (end - start)))


def _span(tangents: Array, corners: Array) -> slice | None:
    """Returns the sorted tangents that can meet a body with these corners (C, 2), if any."""
    if not len(corners):
        return None
    ratios = corners[:, 0] / corners[:, 1]
    start, stop = np.searchsorted(tangents, (ratios.min(), ratios.max()))
    return slice(int(start), int(stop)) if stop > start else None


def _entry(kind: str, origin: Array, rays: Array, half: Array, radius: float) -> Array:
    """Returns (N,) how far along each ray (N, 3) from `origin` (3,) it enters a shape in its own
    axes, in lengths of the ray; infinite where it misses it or starts in it.
    """
    if kind == 'box':
        return _valid(*_through_slabs(origin, rays, half))
    if kind == 'sphere':
        return _valid(*_through_ball(origin, rays, radius))
    if kind in (ROUNDED_BOX, ROUNDED_CYLINDER):
        return _into_rounded(kind, origin, rays, half, radius)
    side = _through_ball(origin, rays, radius, 2)
    start, end = _through_slabs(origin[2:], rays[:, 2:], half[2:])
    first = _valid(np.maximum(side[0], start), np.minimum(side[1], end))
    if kind == 'capsule':
        for sign in (-1.0, 1.0):
            ball = origin - (0.0, 0.0, sign * half[2])
            first = np.minimum(first, _valid(*_through_ball(ball, rays, radius)))
    return first


def _into_rounded(kind: str, origin: Array, rays: Array, half: Array, radius: float) -> Array:
    """As `_entry`, of a core with a radius about it: from where the ray enters the box around it,
    by its distance at a time, which never goes too far.
    """
    start, end = _through_slabs(origin, rays, half + radius)
    result = np.full(len(rays), np.inf)
    rows = np.nonzero((start <= end) & (start > NEAR))[0]
    rays, along, last = rays[rows], start[rows], end[rows]
    lengths = np.sqrt(np.einsum('nk,nk->n', rays, rays))
    for _ in range(STEPS):
        left = _from_core(kind, origin + along[:, None] * rays, half) - radius
        along = along + left / lengths
    is_met = (left <= MET) & (along <= last)
    result[rows[is_met]] = along[is_met]
    return result


def _from_core(kind: str, points: Array, half: Array) -> Array:
    """Returns (N,) m from points (N, 3) to a core in its own axes."""
    if kind == ROUNDED_CYLINDER:
        across = np.maximum(np.hypot(points[:, 0], points[:, 1]) - half[0], 0.0)
        return np.hypot(across, np.maximum(np.abs(points[:, 2]) - half[2], 0.0))
    outside = np.maximum(np.abs(points) - half, 0.0)
    return np.sqrt(np.einsum('nk,nk->n', outside, outside))


def _valid(start: Array, end: Array) -> Array:
    return np.where((start <= end) & (start > NEAR), start, np.inf)


def _through_slabs(origin: Array, rays: Array, half: Array) -> tuple[Array, Array]:
    """Returns (N,) each: where rays (N, A) enter and leave the box of half sizes (A,)."""
    with np.errstate(divide='ignore', invalid='ignore'):
        inverse = 1.0 / rays
        one, other = (-half - origin) * inverse, (half - origin) * inverse
    return np.minimum(one, other).max(axis=1), np.maximum(one, other).min(axis=1)


def _through_ball(origin: Array, rays: Array, radius: float, axes: int = 3) -> tuple[Array, Array]:
    """Returns (N,) each: where rays enter and leave a sphere or, with two axes, a cylinder."""
    start, along = origin[:axes], rays[:, :axes]
    a = np.einsum('nk,nk->n', along, along)
    b = along @ start
    root = b * b - a * (start @ start - radius * radius)
    with np.errstate(divide='ignore', invalid='ignore'):
        depth = np.sqrt(root)  # NaN: it misses
        return (-b - depth) / a, (-b + depth) / a


def _normals(shapes: PlacedShapes, rows: NDArray[np.intp], local: Array) -> Array:
    """Returns (N, 3) unit normals at points (N, 3) of shapes `rows` (N,), in their axes."""
    half, radii = shapes.half_sizes[rows], shapes.radii[rows, None]
    is_box = radii[:, 0] == 0.0
    is_flat = shapes.is_cylinder[rows] & (np.abs(local[:, 2]) >= half[:, 2] - 1e-9)
    out = local - np.clip(local, -half, half)
    is_round = shapes.is_round_core[rows]
    across = np.maximum(np.hypot(local[:, 0], local[:, 1]), 1e-12)
    share = np.maximum(across - half[:, 0], 0.0) / across
    out[is_round, :2] = (share[:, None] * local[:, :2])[is_round]
    # Of a box the face that is nearest.
    face = np.argmax(np.abs(local) - half, axis=1)
    flat = np.zeros_like(local)
    axis = np.where(is_box, face, 2)
    count = np.arange(len(local))
    flat[count, axis] = np.sign(local[count, axis])
    length = np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-12)
    return np.where((is_box | is_flat)[:, None], flat, out / length)
