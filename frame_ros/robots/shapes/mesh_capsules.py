# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Capsules around the collision geometry of any URDF: its meshes, or its primitives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import RobotError
from frame_ros.core.options import option, options, rule
from frame_ros.robots.description import Capsule
from frame_ros.robots.robot import Robot
from frame_ros.robots.shapes.capsule_fit import fit_capsule, fit_capsules, hull_points
from frame_ros.robots.shapes.link_shapes import Shape, enclosing_capsule, shapes_of
from frame_ros.robots.shapes.placed_meshes import COLLISION, placed_meshes

Array = NDArray[np.float64]
_FINENESS = 5  # parts that each capsule's length is divided into before triangles are shared out


@options
class CapsuleOptions:
    """Capsules around the meshes of a robot."""

    count: int = option(1, 'capsules that share the meshes of each link', at_least=1)
    counts: Mapping[str, int] = option({}, 'link=number: another number for a link')

    @rule('counts', '1 or more for each link')
    def _has_counts(self) -> bool:
        return all(count >= 1 for count in self.counts.values())


def mesh_capsules(
    robot: Robot,
    folder: Path,
    options: CapsuleOptions | None = None,
    package_folders: Sequence[Path] = (),
) -> dict[str, list[Capsule]]:
    """Returns link -> capsules, in its frame, that contain all of its collision geometry.

    The primitives of a link share one capsule with its meshes if it has any and count is 1;
    otherwise they get capsules of their own.

    Args:
        folder: of the URDF, for paths in it.

    Raises:
        RobotError: a mesh is missing or cannot be read, a link to divide is unknown, or the robot
            has no collision geometry.
        MissingExtraError: meshes are to be read and trimesh is not installed.
    """
    options = options or CapsuleOptions()
    unknown = [link for link in options.counts if link not in robot.links]
    if unknown:
        raise RobotError(f'{robot.name} has no link {unknown[0]!r} to divide')
    meshes = link_meshes(robot, folder, package_folders)
    result: dict[str, list[Capsule]] = {}
    for link in robot.links:
        shapes = shapes_of(robot, link)
        parts = options.counts.get(link, options.count)
        if link in meshes:
            result[link] = _of_meshes(meshes[link], shapes, parts)
        elif shapes:
            result[link] = _of_shapes(shapes, parts)
    if not result:
        raise RobotError(f'{robot.name} has no collision geometry that capsules could hold')
    return result


def link_meshes(
    robot: Robot, folder: Path, package_folders: Sequence[Path] = (), geometry: str = COLLISION
) -> dict[str, Array]:
    """Returns link -> triangles (T, 3, 3) m of its meshes; raises as `mesh_capsules`.

    geometry: COLLISION or VISUAL.
    """
    found: dict[str, list[Array]] = {}
    for link, triangles in placed_meshes(robot.urdf, folder, package_folders, geometry):
        found.setdefault(link, []).append(triangles)
    return {link: np.concatenate(parts) for link, parts in found.items()}


def _of_meshes(triangles: Array, shapes: Sequence[Shape], count: int) -> list[Capsule]:
    if count == 1:
        corners = hull_points(triangles.reshape(-1, 3))
        balls = [shape.balls() for shape in shapes]
        centres = np.concatenate([corners, *(centre for centre, _ in balls)])
        radii = np.concatenate([np.zeros(len(corners)), *(radius for _, radius in balls)])
        return [fit_capsule(centres, radii)]
    extent = float(np.ptp(triangles.reshape(-1, 3), axis=0).max())
    fine = divided(triangles, extent / (_FINENESS * count))
    return fit_capsules(fine, count) + _of_shapes(shapes, len(shapes))


def _of_shapes(shapes: Sequence[Shape], count: int) -> list[Capsule]:
    """Returns one capsule around all, or, where more are allowed, one around each."""
    if not shapes:
        return []
    if count < len(shapes):
        return [enclosing_capsule(shapes)]
    return [enclosing_capsule([shape]) for shape in shapes]


def divided(triangles: Array, longest: float) -> Array:
    """Returns triangles (U, 3, 3) halved until no edge is longer than `longest` m."""
    done, waiting = [], triangles
    while len(waiting):
        edges = np.linalg.norm(np.roll(waiting, -1, axis=1) - waiting, axis=2)
        is_short = edges.max(axis=1) <= longest
        done.append(waiting[is_short])
        rest, edges = waiting[~is_short], edges[~is_short]
        first = edges.argmax(axis=1)
        a, b, c = (rest[np.arange(len(rest)), (first + step) % 3] for step in range(3))
        middle = (a + b) / 2
        waiting = np.concatenate((np.stack((a, middle, c), 1), np.stack((middle, b, c), 1)))
    return np.concatenate(done) if done else triangles
