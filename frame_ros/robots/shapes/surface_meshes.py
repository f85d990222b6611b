# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The surfaces of a robot's links, from the meshes of a URDF that the user has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import RobotError
from frame_ros.robots.catalogue import load_robot
from frame_ros.robots.description import RobotDescription
from frame_ros.robots.kinematic_tree import import_pinocchio, placement_of
from frame_ros.robots.robot import Robot
from frame_ros.robots.shapes.mesh_merging import MergedMesh, merged_mesh
from frame_ros.robots.shapes.placed_meshes import VISUAL, placed_meshes

Array = NDArray[np.float64]
HINGES = ('revolute', 'continuous')
_TRIED = (0.0, 0.3)  # rad, m, positions of all joints at which kinematics are compared
_APART = 1e-3  # m, and rad: links of two descriptions further apart are elsewhere


@dataclass(frozen=True)
class LinkSurface:
    """The surface of one link, in its frame.

    Attributes:
        vertices: (V, 3) float32, m.
        triangles: (T, 3) int32, indices of them; those of closed surfaces, which are never seen
            from behind, come first.
        closed: how many these are.
        middle, reach: (3,) m and m, a ball around all.
    """

    vertices: NDArray[np.float32]
    triangles: NDArray[np.int32]
    closed: int
    middle: Array
    reach: float


@dataclass(frozen=True)
class RobotSurfaces:
    """The surfaces of K links of a robot.

    Attributes:
        links: names.
        rows: (K,) of the links among the robot's.
        surfaces: (K).
        unplaced: links of the URDF with meshes that no link of the robot carries, left out.
        residual: m, by which no point of a surface lies further from where its file has it.
    """

    links: tuple[str, ...]
    rows: NDArray[np.intp]
    surfaces: tuple[LinkSurface, ...]
    unplaced: tuple[str, ...] = ()
    residual: float = 0.0

    @property
    def triangle_count(self) -> int:
        """Triangles of all links."""
        return sum(len(each.triangles) for each in self.surfaces)


def load_surfaces(
    path: Path,
    robot: Robot,
    geometry: str = VISUAL,
    package_folders: Sequence[Path] = (),
    resolution: float = 0.0,
) -> RobotSurfaces:
    """Returns the surfaces of a robot's links from the meshes of a URDF.

    A link that only the URDF has, such as a mount, moves with the link of the robot that carries it
    by fixed joints.

    Args:
        path: the URDF, whose links have the robot's names and places.
        geometry: `visual` or `collision`.
        package_folders: hold what package:// names, in addition to the sourced workspaces.
        resolution: m, see `merged_mesh`.

    Raises:
        RobotError: the URDF or a mesh is missing or cannot be read, none of its meshes is of a link
            of the robot, or its links are elsewhere than the robot's.
        MissingExtraError: trimesh is not installed, or what it needs for a kind of file.
    """
    described = load_robot(path)
    description = described.description
    offsets = _offsets(path, description, robot)
    found: dict[str, list[MergedMesh]] = {}
    unplaced: list[str] = []
    for link, corners in placed_meshes(described.urdf, path.parent, package_folders, geometry):
        carrier, place = _carrier(description, link, robot)
        if not carrier:
            unplaced.append(link)
            continue
        place = offsets[carrier] * place
        corners = corners @ place.rotation.T + place.translation
        found.setdefault(carrier, []).append(merged_mesh(corners, resolution))
    if not found:
        raise RobotError(
            f'{path} has no {geometry} mesh of a link of {robot.name}, whose links are '
            f'{", ".join(robot.links)}'
        )
    return arranged_surfaces(robot, found, unplaced)


def arranged_surfaces(
    robot: Robot, meshes: dict[str, list[MergedMesh]], unplaced: Iterable[str] = ()
) -> RobotSurfaces:
    """Returns the surfaces of given meshes, in the frames of the links."""
    links = tuple(link for link in robot.links if link in meshes)
    return RobotSurfaces(
        links,
        np.array([robot.links.index(link) for link in links], np.intp),
        tuple(joined_surface(meshes[link]) for link in links),
        tuple(dict.fromkeys(unplaced)),
        max((mesh.residual for link in links for mesh in meshes[link]), default=0.0),
    )


def joined_surface(meshes: Sequence[MergedMesh]) -> LinkSurface:
    """Returns the surface of one link of its meshes, in its frame."""
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    vertices = np.concatenate([mesh.vertices for mesh in meshes])
    triangles = np.concatenate(
        [mesh.triangles + start for mesh, start in zip(meshes, starts, strict=False)]
    )
    is_closed = np.concatenate([mesh.is_closed for mesh in meshes])
    order = np.argsort(~is_closed, kind='stable')
    middle = (vertices.min(axis=0) + vertices.max(axis=0)) / 2
    reach = float(np.linalg.norm(vertices - middle, axis=1).max())
    return LinkSurface(
        vertices.astype(np.float32), triangles[order].astype(np.int32), int(is_closed.sum()),
        middle, reach,
    )  # fmt: skip


def _carrier(description: RobotDescription, link: str, robot: Robot) -> tuple[str, Any]:
    """Returns the link of the robot that a link of the URDF moves with, '' if there is none, and
    its pose there.
    """
    place = import_pinocchio().SE3.Identity()
    for joint in reversed(description.chain(link)):
        if link in robot.links:
            break
        if joint.is_moving:
            return '', place
        place, link = placement_of(joint) * place, joint.parent
    return (link if link in robot.links else ''), place


def _offsets(path: Path, description: RobotDescription, robot: Robot) -> dict[str, Any]:
    """Returns the pose that a link has by the file in its frame of the robot: mostly none, but some
    descriptions of a hand turn a finger's frame, and others its mesh.

    Raises:
        RobotError: a link is elsewhere: its pose is another one at other positions of the joints,
            or it is that of a hinge with another zero.
    """
    common = [link for link in robot.links if link in description.links]
    if not common:
        raise RobotError(
            f'{path} has no link of {robot.name}: it has {", ".join(description.links)}; the '
            f'robot has {", ".join(robot.links)}'
        )
    joints = {joint.child: joint for joint in robot.description.joints}
    found: dict[str, Any] = {}
    for value in _TRIED:
        of_robot, of_file = _poses(robot.description, value), _poses(description, value)
        for link in common:
            one = of_robot[common[0]].inverse() * of_robot[link]
            offset = one.inverse() * (of_file[common[0]].inverse() * of_file[link])
            is_hinged = link in joints and joints[link].kind in HINGES
            if link not in found:
                found[link] = offset.Identity() if is_hinged else offset
            shift, turn = _apart(found[link], offset)
            if max(shift, turn) > _APART:
                raise RobotError(
                    f'{path} is of another robot than {robot.name}, or has other zeros: with all '
                    f'joints at {value}, {link} is {1000 * shift:.1f} mm from where it should be '
                    f'relative to {common[0]}, and turned by {turn:.3f} rad'
                )
    return found


def _apart(one: Any, other: Any) -> tuple[float, float]:
    """Returns by how much two poses differ, m and rad."""
    difference = import_pinocchio().log6(one.inverse() * other)
    shift = float(np.linalg.norm(one.translation - other.translation))
    return shift, float(np.linalg.norm(difference.angular))


def _poses(description: RobotDescription, value: float) -> dict[str, Any]:
    """Returns the pose of each link in the base with every joint at `value`, rad or m."""
    poses: dict[str, Any] = {description.base_link: import_pinocchio().SE3.Identity()}
    for joint in description.outwards:
        position = value
        if joint.mimic is not None:
            _, multiplier, offset = joint.mimic
            position = multiplier * value + offset
        poses[joint.child] = poses[joint.parent] * placement_of(joint, position)
    return poses
