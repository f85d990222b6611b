# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Placed shapes in the camera's frame in float32, for distances of very many points at once.

A core is what a shape has within its radius: a point, a segment, a box; of a cylinder, all of it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots.link_shapes import PlacedShapes
from frame_ros.sensing.depth_blocks import PIXELS, Balls, BlockGrid

Single = NDArray[np.float32]
Indices = NDArray[np.intp]
_ZERO = np.float32(0.0)
_MARGIN = 1e-4  # m, more than float32 loses
_PART = 512


class CameraShapes:
    """S shapes in the optical frame. Those of one link follow each other; those of the robot that
    belong to no watched link, and what it holds, come last.

    exact: the same shapes in float64. links: names. owners: (W,) the link of each of the first W
    shapes, those that belong to one. radii: (S,) m around the cores.
    """

    def __init__(
        self,
        shapes: PlacedShapes,
        rotation: NDArray[np.float64],
        translation: NDArray[np.float64],
        held: PlacedShapes | None = None,
    ) -> None:
        """rotation (3, 3), translation (3,) m: pose of the optical frame in that of the shapes."""
        self.links = shapes.links
        if held is not None and len(held):
            shapes = shapes.joined(held)
        owners = np.where(shapes.owners < 0, len(shapes.links), shapes.owners)
        if (owners[1:] < owners[:-1]).any():
            order = np.argsort(owners, kind='stable')
            shapes, owners = shapes.select(order), owners[order]
        self.owners: Indices = owners[: int(np.searchsorted(owners, len(shapes.links)))]
        self.exact = exact = shapes.seen_from(rotation, translation)
        self._is_cylinder = exact.is_cylinder
        self.radii: Single = np.where(self._is_cylinder, 0.0, exact.radii).astype(np.float32)
        self._place(exact)

    def _place(self, exact: PlacedShapes) -> None:
        turn = exact.rotations.transpose(0, 2, 1)
        shift = -np.matmul(turn, exact.translations[:, :, None])
        # Times x, y, z, 1 gives the place in a shape's own frame.
        self._into: Single = np.concatenate((turn, shift), axis=2).astype(np.float32)
        self._columns = np.ascontiguousarray(self._into.transpose(1, 2, 0))
        edges = exact.half_sizes.copy()
        edges[self._is_cylinder, 0] = exact.radii[self._is_cylinder]
        self._edges: Single = edges.astype(np.float32)
        # A point, or a segment along z.
        self._is_round = ~(self._is_cylinder | (exact.half_sizes[:, :2] > 0.0).any(axis=1))
        self._are_round = bool(self._is_round.all())
        groups = (np.flatnonzero(self._is_round), np.flatnonzero(~self._is_round))
        self._groups = [rows for rows in groups if len(rows)]
        reach = np.abs(exact.rotations[:, 2, :] * exact.half_sizes).sum(axis=1) + exact.radii
        middle = exact.translations[:, 2]
        limits = np.stack((middle - reach - _MARGIN, middle + reach + _MARGIN))
        self._depths: Single = limits.astype(np.float32)

    def __len__(self) -> int:
        return len(self.radii)

    def distances(self, points: Single) -> Single:
        """(S, N) m of points (3, N) to the surfaces; within a core, minus the radius around it."""
        seen = np.concatenate((points, np.ones((1, points.shape[1]), np.float32)))
        result: Single = np.empty((len(self), points.shape[1]), np.float32)
        for rows in self._groups:
            into = self._into[rows].transpose(1, 0, 2).reshape(-1, 4)
            result[rows] = self._squares((into @ seen).reshape(3, len(rows), -1), rows)
        np.sqrt(result, out=result)
        result -= self.radii[:, None]
        return result

    def pair_squares(
        self, rows: Indices, blocks: Indices, depths: Single, places: Indices, grid: BlockGrid
    ) -> Single:
        """(P, 64) squared distances in m^2 of the pixels of `blocks` (P,), each to the core of one
        shape of `rows` (P,). depths[places], (P, 64): m; (P, M * 64) for M depths of each pixel.
        """
        result: Single = np.empty((len(rows), depths.shape[1]), np.float32)
        # Along the ray of a pixel, its place in a shape's frame is depth * slope + shift.
        slopes, shifts = np.empty((3, len(rows), 3), np.float32), self._columns.take(rows, axis=2)
        u, v = grid.rays[:, blocks]
        slopes[:, :, 0], slopes[:, :, 1] = shifts[:, 0], shifts[:, 1]
        slopes[:, :, 2] = shifts[:, 0] * u + shifts[:, 1] * v + shifts[:, 2]
        # In parts that stay in the processor's cache.
        for start in range(0, len(rows), _PART):
            part = slice(start, start + _PART)
            along = (slopes[:, part].reshape(-1, 3) @ grid.offsets).reshape(3, -1, 1, PIXELS)
            local = along * depths[places[part]].reshape(-1, depths.shape[1] // PIXELS, PIXELS)
            local = local.reshape(3, -1, depths.shape[1])
            local += shifts[:, 3, part, None]
            result[part] = self._squares(local, rows[part])
        return result

    def _squares(self, local: Single, rows: Indices) -> Single:
        """(R, N) squared distances of points, (3, R, N) in the frames of shapes `rows` (R,), to
        their cores. `local` is used up.
        """
        x, y, z = local
        if self._are_round or self._is_round[rows].all():
            np.multiply(local[:2], local[:2], out=local[:2])
            beyond, edges = local[2:], self._edges[rows].T[2:]
        else:
            self._flatten(local, rows)
            beyond, edges = local, self._edges[rows].T
        np.abs(beyond, out=beyond)
        beyond -= edges[:, :, None]
        np.maximum(beyond, _ZERO, out=beyond)
        np.multiply(beyond, beyond, out=beyond)
        x += y
        x += z
        return x

    def _flatten(self, local: Single, rows: Indices) -> None:
        """Turns the points about the axes of cylinders until y is 0."""
        chosen = np.flatnonzero(self._is_cylinder[rows])
        if len(chosen):
            x, y = local[0, chosen], local[1, chosen]
            local[0, chosen], local[1, chosen] = np.sqrt(x * x + y * y), _ZERO

    def lower_bounds(
        self, rows: Indices, columns: Indices, balls: Balls, grid: BlockGrid, limits: Single
    ) -> Single:
        """(P,) m: no point of blocks `columns` (P,), of `balls`, is nearer to its shape of `rows`
        (P,); infinite where all are farther than `limits` (P,).

        Only what lies at depths that the shape, larger by the limit, reaches is looked at. A
        distance to a convex shape is a convex function: nowhere less than its tangent plane at the
        middle of that.
        """
        far = np.minimum(balls.far[columns], self._depths[1, rows] + limits)
        near = np.maximum(balls.near[columns], self._depths[0, rows] - limits)
        u, v = grid.rays[:, balls.blocks[columns]]
        z = (near + far) * np.float32(0.5)
        x, y = u * z, v * z
        into = self._columns.take(rows, axis=2)
        local = into[:, 0] * x + into[:, 1] * y + into[:, 2] * z + into[:, 3]
        away = self._outward(local, rows)
        length = np.sqrt((away * away).sum(axis=0))
        # Within the core there is no tangent plane: what is there is near enough to be looked at.
        away /= np.where(length > 0, length, np.float32(1.0))
        a, b, c = (into[:, :3] * away[:, None]).sum(axis=0)
        least = a * u + b * v + c - np.abs(a) * grid.reach[0] - np.abs(b) * grid.reach[1]
        least = np.minimum(least * near, least * far) - (a * x + b * y + c * z)
        least += length - self.radii[rows] - np.float32(2.0) * balls.rounding
        return np.where(near <= far, least, np.float32(np.inf))

    def _outward(self, local: Single, rows: Indices) -> Single:
        """(3, P) from the nearest point of the core to points (3, P), both in the shape's frame."""
        edges = self._edges[rows].T
        away = local - np.minimum(np.maximum(local, -edges), edges)
        chosen = np.flatnonzero(self._is_cylinder[rows])
        if len(chosen):
            x, y = local[0, chosen], local[1, chosen]
            distance = np.sqrt(x * x + y * y)
            beyond = np.maximum(distance - edges[0, chosen], _ZERO)
            share = beyond / np.where(distance > 0, distance, np.float32(1.0))
            away[0, chosen], away[1, chosen] = x * share, y * share
        return away
