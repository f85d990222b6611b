# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The true place of a depth camera, from the robot's appearance in its images.

The surface points that the camera should see are moved rigidly until they match the depth measured
at their pixels. A point at whose pixel something nearer is seen is hidden and shows nothing; one at
whose pixel something farther is seen shows that the robot is not there. First comes a search over
displacements, then Gauss-Newton steps on the distances to the surfaces' tangent planes (projective
point-to-plane: Chen and Medioni 1992, Blais and Levine 1995).

The shapes enclose the robot: its surface lies within them, by an amount that differs from shape to
shape. Each shape has one unknown depth of that kind, of which only mean and deviation are known
before; it is eliminated from the normal equations, so that the covariance of the displacement
holds the errors of the shapes too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from frame_ros.sensing.proximity.cameras.robot_view import RobotView
from frame_ros.sensing.proximity.depth.camera import DepthCamera

Array = NDArray[np.float64]
Single = NDArray[np.float32]

TOLERANCE = 0.015  # m, by which a measured depth and the robot's may differ and be the same
GATES = (0.05, 0.03, 0.02, 0.015, 0.012, 0.012)  # m, of the steps of refinement
# The search reaches so far across and along the line of sight, m and m per m of distance: the
# effect of an offset of some 60 mm and 6 degrees. Steps to either side.
ACROSS, ACROSS_STEPS = (0.065, 0.107), 5
ALONG, ALONG_STEPS = (0.065, 0.035), 3
SPREADS = ((0.022, 0.06), (0.015, 0.045), (0.010, 0.03), (0.006, 0.015))  # m, rad of each round
ROUND = 110  # displacements tried in a round
SEARCHED, REFINED = 120, 700  # points that the search and the refinement use
# Prior: the offset is of this order. It holds what the images leave open.
PRIOR_SHIFT, PRIOR_TURN = 0.10, 0.14  # m, rad
# Neighbouring pixels share the shapes' errors: so many count as one of this deviation.
ALIKE, DEVIATION = 16.0, 0.002  # pixels, m
# A shape's surface lies so far outside the robot's own: mean and deviation over the shapes.
OUTSIDE, OUTSIDE_DEVIATION = 0.002, 0.004  # m


@dataclass(frozen=True)
class Displacement:
    """A rigid motion of points p (m) in the camera's optical frame about a `centre` (3,):
    R (p - centre) + centre + shift, R the rotation of the rotation vector `turn` (3,) rad.

    covariance: (6, 6) of shift and turn, m and rad.
    """

    centre: Array
    shift: Array
    turn: Array
    covariance: Array

    def rotation(self) -> Array:
        """(3, 3)."""
        return Rotation.from_rotvec(self.turn).as_matrix()

    def apply(self, points: Array) -> Array:
        """Returns (N, 3) moved points."""
        return (points - self.centre) @ self.rotation().T + self.centre + self.shift

    def undo(self, points: Array) -> Array:
        """Returns (N, 3) points before they were moved."""
        return (points - self.centre - self.shift) @ self.rotation() + self.centre

    def about(self, centre: Array) -> Displacement:
        """Returns the same motion about another centre; its covariance is not carried over."""
        shift = self.apply(centre[None])[0] - centre
        return Displacement(centre, shift, self.turn, self.covariance)

    def bounds(self, points: Array) -> tuple[Array, Array]:
        """Returns (N,) m each: how far points (N, 3) are displaced, and by how much that may be
        wrong: two standard deviations in the least certain direction.
        """
        lengths = np.linalg.norm(self.apply(points) - points, axis=1)
        jacobian = np.zeros((len(points), 3, 6))
        jacobian[:, :, :3] = np.eye(3)
        x, y, z = (points - self.centre).T
        jacobian[:, (1, 0, 2), (5, 5, 4)] = np.stack((x, -y, -x), axis=1)
        jacobian[:, (2, 0, 1), (3, 4, 3)] = np.stack((y, z, -z), axis=1)
        variances = np.linalg.eigvalsh(jacobian @ self.covariance @ jacobian.transpose(0, 2, 1))
        return lengths, 2.0 * np.sqrt(np.maximum(variances[:, -1], 0.0))

    def camera_offset(self) -> tuple[Array, Array]:
        """Returns the camera's offset that makes points appear so displaced, in its assumed optical
        frame: its translation (3,) m and rotation vector (3,) rad.
        """
        back = self.rotation().T
        translation: Array = back @ (self.rotation() @ self.centre - self.centre - self.shift)
        return translation, -self.turn


@dataclass(frozen=True)
class Agreement:
    """Agreement of the points with the images, as shares of those with a measured depth."""

    count: int  # points with a depth
    matched: float
    transparent: float
    hidden: float

    @property
    def visible_match(self) -> float:
        """Share of the points that are not hidden that match; 0 if all are hidden."""
        visible = self.matched + self.transparent
        return self.matched / visible if visible > 0 else 0.0


class SeenRobot:
    """Surface points that should be seen, and the depth images in which they should be.

    Args:
        camera: of all images.
        views: of each image, in the assumed optical frame.
        images: (K, H, W) float32, m, 0 where invalid.
    """

    def __init__(self, camera: DepthCamera, views: Sequence[RobotView], images: Single) -> None:
        self._camera = camera
        self._images = images.reshape(-1)
        self._size = images.shape[1] * images.shape[2]
        most = max(1, REFINED // len(views))
        thinned = [view.thinned(most) for view in views]
        self.points = np.concatenate([view.points for view in thinned])
        self.normals = np.concatenate([view.normals for view in thinned])
        self.frames = np.repeat(np.arange(len(views)), [len(view) for view in thinned])
        _, self._shapes = np.unique(
            np.concatenate([view.rows for view in thinned]), return_inverse=True
        )
        self.centre: Array = self.points.mean(axis=0)

    @property
    def count(self) -> int:
        """Number of points."""
        return len(self.points)

    def none(self) -> Displacement:
        """Returns no displacement, with the prior's covariance."""
        prior = np.diag([PRIOR_SHIFT**2] * 3 + [PRIOR_TURN**2] * 3)
        return Displacement(self.centre, np.zeros(3), np.zeros(3), prior)

    def measured(self, moved: NDArray[np.floating], frames: NDArray[np.intp]) -> Single:
        """Returns depths (..., N), m, at the pixels of points (..., N, 3); 0 without one."""
        camera = self._camera
        z = moved[..., 2]
        with np.errstate(divide='ignore', invalid='ignore'):
            column = moved[..., 0] / z * camera.fx + (camera.cx + 0.5)
            row = moved[..., 1] / z * camera.fy + (camera.cy + 0.5)
        is_seen = (z > 0) & (column >= 0) & (column < camera.width)
        is_seen &= (row >= 0) & (row < camera.height)
        column, row = np.where(is_seen, column, 0), np.where(is_seen, row, 0)
        places = row.astype(np.int32) * camera.width + column.astype(np.int32)
        found = self._images[places + (frames * self._size).astype(np.int32)]
        return np.where(is_seen, found, np.float32(0))

    def agreement(self, displacement: Displacement) -> Agreement:
        """Returns how the displaced points agree with the images."""
        moved = displacement.apply(self.points)
        depth = self.measured(moved, self.frames)
        gap = (depth - moved[:, 2])[depth > 0]
        count = len(gap)
        if not count:
            return Agreement(0, 0.0, 0.0, 0.0)
        farther, nearer = float((gap > TOLERANCE).mean()), float((gap < -TOLERANCE).mean())
        return Agreement(count, 1.0 - farther - nearer, farther, nearer)

    def matched_points(self, displacement: Displacement) -> Array:
        """Returns (N, 3) m, the measured points that are the robot's if it is so displaced."""
        moved = displacement.apply(self.points)
        depth = self.measured(moved, self.frames).astype(np.float64)
        is_same = (depth > 0) & (np.abs(depth - moved[:, 2]) <= TOLERANCE)
        result: Array = moved[is_same] * (depth[is_same] / moved[is_same, 2])[:, None]
        return result

    def scores(self, shifts: Array, turns: Array, rows: NDArray[np.intp], width: float) -> Array:
        """Returns (D,) the fit of displacements (D, 3) m, (D, 3) rad for the points `rows`: 1 for
        each that matches exactly, falling to 0 at `width` (m); a penalty for each that is seen
        through.
        """
        local = (self.points[rows] - self.centre).astype(np.float32)
        matrices = Rotation.from_rotvec(turns).as_matrix().astype(np.float32)
        moved = local @ matrices.transpose(0, 2, 1)
        moved += (self.centre + shifts).astype(np.float32)[:, None]
        depth = self.measured(moved, self.frames[rows])
        gap = depth - moved[..., 2]
        fit = np.maximum(1.0 - np.abs(gap) / width, 0.0) - 0.7 * (gap > width)
        total: Array = np.where(depth > 0, fit, 0.0).mean(axis=1)
        return total

    def search(self, rng: np.random.Generator) -> Displacement:
        """Returns the best displacement within reach: a lattice of shifts, then rounds of random
        ones about the best, ever closer.
        """
        step = max(1, -(-len(self.points) // SEARCHED))
        rows: NDArray[np.intp] = np.arange(step // 2, len(self.points), step)
        across, along = (
            np.linspace(-1.0, 1.0, 2 * steps + 1) * (reach + slope * self.centre[2])
            for (reach, slope), steps in ((ACROSS, ACROSS_STEPS), (ALONG, ALONG_STEPS))
        )
        shifts: Array = np.stack(np.meshgrid(across, across, along), axis=-1).reshape(-1, 3)
        turns: Array = np.zeros_like(shifts)
        kept = 12
        width = 0.04
        for spread_shift, spread_turn in (*SPREADS, (0.0, 0.0)):
            score = self.scores(shifts, turns, rows, width)
            best = np.argsort(-score)[:kept]
            shifts, turns = shifts[best], turns[best]
            if not spread_shift:
                break
            pick = np.arange(ROUND) % len(best)
            noise = rng.standard_normal((ROUND, 6))
            shifts = np.concatenate((shifts, shifts[pick] + noise[:, :3] * spread_shift))
            turns = np.concatenate((turns, turns[pick] + noise[:, 3:] * spread_turn))
            kept, width = max(4, kept - 3), max(0.02, width * 0.8)
        start = self.none()
        return Displacement(self.centre, shifts[0], turns[0], start.covariance)

    def refine(self, start: Displacement, gates: Sequence[float] = GATES) -> Displacement:
        """Takes Gauss-Newton steps from `start`, each with the points within its gate (m)."""
        shift, turn = start.shift.copy(), Rotation.from_rotvec(start.turn)
        prior = np.diag([PRIOR_SHIFT**-2] * 3 + [PRIOR_TURN**-2] * 3)
        information = prior
        for gate in gates:
            matrix = turn.as_matrix()
            reach = (self.points - self.centre) @ matrix.T
            moved, normals = reach + self.centre + shift, self.normals @ matrix.T
            depth = self.measured(moved, self.frames)
            # The seen point is on the same ray: its distance to the plane is along it.
            gap = (depth / moved[:, 2] - 1.0) * np.einsum('nk,nk->n', moved, normals) + OUTSIDE
            is_near = (depth > 0) & (np.abs(depth - moved[:, 2]) < gate)
            weight = np.where(is_near, (1.0 - np.minimum(np.abs(gap) / gate, 1.0) ** 2) ** 2, 0.0)
            jacobian = np.concatenate((normals, np.cross(reach + shift, normals)), axis=1)
            information, right = self._equations(jacobian, gap, weight)
            information += prior
            present = np.concatenate((shift, turn.as_rotvec()))
            step = np.linalg.solve(information, right - prior @ present)
            move = Rotation.from_rotvec(step[3:])
            shift, turn = move.apply(shift) + step[:3], move * turn
        covariance = np.linalg.inv(information)
        return Displacement(self.centre, shift, turn.as_rotvec(), covariance)

    def _equations(self, jacobian: Array, gap: Array, weight: Array) -> tuple[Array, Array]:
        """Returns the normal equations (6, 6), (6,) of a step, each shape's own depth eliminated.

        Args:
            jacobian: (N, 6);
            gap: (N,) m, less the mean of the depths;
            weight: (N,) from 0 to 1.
        """
        precision = weight / (ALIKE * DEVIATION**2)
        scaled = jacobian * precision[:, None]
        count = int(self._shapes.max()) + 1
        total = np.bincount(self._shapes, precision, count) + OUTSIDE_DEVIATION**-2
        sums = np.zeros((count, 7))
        np.add.at(sums, self._shapes, np.column_stack((scaled, precision * gap)))
        of_shapes = sums / total[:, None]
        matrix: Array = scaled.T @ jacobian - sums[:, :6].T @ of_shapes[:, :6]
        right: Array = scaled.T @ gap - sums[:, :6].T @ of_shapes[:, 6]
        return matrix, right
