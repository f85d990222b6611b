# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How far a robot's own shapes stay from the surface it stands on and from each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots.description import Primitive
from frame_ros.robots.link_frames import LinkFrames
from frame_ros.robots.robot import Robot

Array = NDArray[np.float64]
NEIGHBOURS = 2  # links with at most so many joints between them are built not to collide


class Clearances(NamedTuple):
    """floor: (L,) m of each link above the floor; selves: (P,) m between each pair; an upper bound
    of neither.
    """

    floor: Array
    selves: Array


class ClearanceCheck:
    """Of the links that the joints move, from the collision primitives of a URDF.

    Above the floor exactly; between links by spheres along enclosing capsules, which is on the safe
    side. Links without primitives (meshes only) are not checked: `unchecked` names them.
    """

    def __init__(self, robot: Robot, joint_names: Sequence[str], floor: float = 0.0) -> None:
        """floor: m, height of the surface in the base frame."""
        self._frames = LinkFrames(robot, joint_names)
        self._floor = floor
        depth = {link: _depth(robot, link, joint_names) for link in robot.links}
        shapes = robot.collision_geometry
        # A link right behind the first joint stands on the base: nothing lowers it.
        self.links = tuple(k for k in robot.links if depth[k] > 1 and shapes.get(k))
        self._shapes = [_Supports(shapes[link]) for link in self.links]
        self.unchecked = tuple(k for k in robot.links if depth[k] > 0 and not shapes.get(k))
        self._rows = [self._frames.index(link) for link in self.links]
        solid = [link for link in robot.links if shapes.get(link)]
        self._spheres = {link: _spheres(shapes[link]) for link in solid}
        self.pairs = tuple(
            (a, b)
            for i, a in enumerate(solid)
            for b in solid[i + 1 :]
            if abs(depth[a] - depth[b]) > NEIGHBOURS
        )

    def at(self, q: Array) -> Clearances:
        """q: (N,) in the order of the joint names given."""
        rotations, translations = self._frames.compute(q)
        floor = np.array(
            [
                shape.lowest(rotations[row][2]) + translations[row][2] - self._floor
                for row, shape in zip(self._rows, self._shapes, strict=True)
            ]
        )
        placed = {}
        for link, (centres, radii) in self._spheres.items():
            row = self._frames.index(link)
            placed[link] = (centres @ rotations[row].T + translations[row], radii)
        selves = np.array([_between(*placed[a], *placed[b]) for a, b in self.pairs])
        return Clearances(floor, selves)


class _Supports:
    """The lowest points of primitives, in closed form."""

    def __init__(self, shapes: Sequence[Primitive]) -> None:
        self._shapes = shapes

    def lowest(self, up: Array) -> float:
        """m along `up` (3,), the vertical in the link's axes, from the link's origin."""
        return min(float(up @ s.translation) - _reach(s, s.rotation.T @ up) for s in self._shapes)


def _reach(shape: Primitive, up: Array) -> float:
    """m that a shape reaches down from its middle; `up` in its own axes."""
    if shape.kind == 'box':
        return 0.5 * float(np.abs(up) @ np.array(shape.size))
    if shape.kind == 'sphere':
        return shape.size[0]
    radius, length = shape.size
    return radius * float(np.hypot(up[0], up[1])) + 0.5 * length * abs(float(up[2]))


def _spheres(shapes: Sequence[Primitive]) -> tuple[Array, Array]:
    """Centres (K, 3) and radii (K,) of spheres that hold the enclosing capsules."""
    centres, radii = [], []
    for capsule in (shape.capsule() for shape in shapes):
        length = float(np.linalg.norm(capsule.end - capsule.start))
        count = 1 + int(np.ceil(length / capsule.radius))
        # Between two spheres the capsule's surface is at most this much outside of both.
        radius = float(np.hypot(capsule.radius, 0.5 * length / max(count - 1, 1)))
        for share in np.linspace(0.0, 1.0, count):
            centres.append(capsule.start + share * (capsule.end - capsule.start))
            radii.append(radius)
    return np.array(centres), np.array(radii)


def _between(a: Array, a_radii: Array, b: Array, b_radii: Array) -> float:
    distances = np.linalg.norm(a[:, None] - b[None], axis=2)
    return float((distances - a_radii[:, None] - b_radii[None]).min())


def _depth(robot: Robot, link: str, joint_names: Sequence[str]) -> int:
    """How many of the joints move a link."""
    count = 0
    parent: str | None = link
    while parent is not None:
        count += robot.joint_of_link.get(parent) in joint_names
        parent = robot.parent_of(parent)
    return count
