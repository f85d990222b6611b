# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Clearances of a robot's shapes from its mounting surface and from each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots.description import Primitive
from frame_ros.robots.link_frames import LinkFrames
from frame_ros.robots.robot import Robot
from frame_ros.robots.shapes.solid_shapes import solid_shapes

Array = NDArray[np.float64]
NEIGHBOURS = 2  # links with at most so many joints between them are built not to collide


class Clearances(NamedTuple):
    """Lower bounds of clearances."""

    floor: Array  # (L,) m of each link above the floor
    selves: Array  # (P,) m between each pair


class ClearanceCheck:
    """Of the links that the joints move, from the collision primitives of a URDF or, of links
    without, around the shapes that the profile names. Of primitives above the floor exactly;
    between links by spheres along enclosing capsules, which is on the safe side. Links with meshes
    but without shapes are not checked: `unchecked` names them.
    """

    def __init__(self, robot: Robot, joint_names: Sequence[str], floor: float = 0.0) -> None:
        """Checks the links moved by the joints; `floor` is its height in the base frame, m."""
        self._frames = LinkFrames(robot, joint_names)
        self._floor = floor
        depth = {link: _depth(robot, link, joint_names) for link in robot.links}
        shapes = solid_shapes(robot)
        # A link right behind the first joint stands on the base: no joint lowers it.
        self.links = tuple(k for k in robot.links if depth[k] > 1 and shapes.get(k))
        self._supports = _Supports(
            [(self._frames.index(link), shape) for link in self.links for shape in shapes[link]]
        )
        self._first_support = _starts([len(shapes[link]) for link in self.links])
        bodies = _bodies(robot)
        self.unchecked = tuple(
            k for k in robot.links if depth[k] > 0 and k in bodies and not shapes.get(k)
        )
        solid = [link for link in robot.links if shapes.get(link)]
        spheres = {link: _spheres(shapes[link]) for link in solid}
        self.pairs = tuple(
            (a, b)
            for i, a in enumerate(solid)
            for b in solid[i + 1 :]
            if abs(depth[a] - depth[b]) > NEIGHBOURS
        )
        self._spheres = _SpherePairs({k: self._frames.index(k) for k in solid}, spheres, self.pairs)

    def at(self, q: Array) -> Clearances:
        """Returns the clearances at q, (N,) in the order of the joint names given."""
        rotations, translations = self._frames.compute(q)
        lowest = self._supports.lowest(rotations, translations)
        floor = _least(lowest, self._first_support) - self._floor
        return Clearances(floor, self._spheres.distances(rotations, translations))


class _Supports:
    """The lowest points of primitives, in closed form."""

    def __init__(self, shapes: Sequence[tuple[int, Primitive]]) -> None:
        """Takes (row of the link, shape) pairs."""
        self._rows = np.array([row for row, _ in shapes], dtype=np.intp)
        self._translations = np.array([s.translation for _, s in shapes]).reshape(-1, 3)
        self._rotations = np.array([s.rotation for _, s in shapes]).reshape(-1, 3, 3)
        self._sizes = np.array([_sizes(s) for _, s in shapes]).reshape(-1, 5)

    def lowest(self, rotations: Array, translations: Array) -> Array:
        """Returns (S,) m, heights in the base frame, for the links' poses (L, 3, 3) and (L, 3)."""
        up = rotations[self._rows, 2]  # the vertical in the links' axes
        height = (up * self._translations).sum(axis=1) + translations[self._rows, 2]
        up = (up[:, None] @ self._rotations)[:, 0]
        half, radius, constant = self._sizes[:, :3], self._sizes[:, 3], self._sizes[:, 4]
        reach = (np.abs(up) * half).sum(axis=1) + radius * np.hypot(up[:, 0], up[:, 1]) + constant
        lowest: Array = height - reach
        return lowest


def _sizes(shape: Primitive) -> tuple[float, ...]:
    """Returns half lengths along the axes, radius about the third, and radius all round: their sum
    is each shape's reach.
    """
    if shape.kind == 'box':
        return (*(0.5 * length for length in shape.size), 0.0, 0.0)
    if shape.kind == 'sphere':
        return 0.0, 0.0, 0.0, 0.0, shape.size[0]
    radius, length = shape.size
    return 0.0, 0.0, 0.5 * length, radius, 0.0


class _SpherePairs:
    """Least distances between the spheres of two links each."""

    def __init__(
        self,
        rows: Mapping[str, int],
        spheres: Mapping[str, tuple[Array, Array]],
        pairs: Sequence[tuple[str, str]],
    ) -> None:
        """Takes rows of the links' poses, and spheres' centres and radii in the link's frame."""
        sizes = {link: len(radii) for link, (_, radii) in spheres.items()}
        self._rows = np.repeat([rows[k] for k in spheres], list(sizes.values())).astype(np.intp)
        self._centres = np.concatenate([np.zeros((0, 3)), *(c for c, _ in spheres.values())])
        radii = np.concatenate([np.zeros(0), *(r for _, r in spheres.values())])
        place, first = 0, {}
        for link, size in sizes.items():
            first[link], place = place, place + size
        found = [
            (first[a] + i, first[b] + j)
            for a, b in pairs for i in range(sizes[a]) for j in range(sizes[b])
        ]  # fmt: skip
        self._one, self._other = np.array(found, dtype=np.intp).reshape(-1, 2).T
        self._radii = radii[self._one] + radii[self._other]
        self._first = _starts([sizes[a] * sizes[b] for a, b in pairs])

    def distances(self, rotations: Array, translations: Array) -> Array:
        """Returns (P,) m of the pairs."""
        placed = (rotations[self._rows] @ self._centres[:, :, None])[:, :, 0]
        placed += translations[self._rows]
        apart = np.linalg.norm(placed[self._one] - placed[self._other], axis=1)
        return _least(apart - self._radii, self._first)


def _starts(counts: Sequence[int]) -> NDArray[np.intp]:
    """Returns the first index of each of some consecutive groups."""
    return np.concatenate(([0], np.cumsum(counts)[:-1])).astype(np.intp)[: len(counts)]


def _least(values: Array, starts: NDArray[np.intp]) -> Array:
    """Returns (G,) the least value of each group; no group is empty."""
    return np.minimum.reduceat(values, starts) if len(starts) else np.zeros(0)


def _spheres(shapes: Sequence[Primitive]) -> tuple[Array, Array]:
    """Returns centres (K, 3) and radii (K,) of spheres that contain the enclosing capsules."""
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


def _bodies(robot: Robot) -> set[str]:
    """Returns links that are more than a frame: with visual or collision geometry."""
    return {
        str(link.get('name'))
        for link in ElementTree.fromstring(robot.urdf).findall('link')
        if link.find('collision') is not None or link.find('visual') is not None
    }


def _depth(robot: Robot, link: str, joint_names: Sequence[str]) -> int:
    """Returns how many of the joints move a link."""
    count = 0
    parent: str | None = link
    while parent is not None:
        count += robot.joint_of_link.get(parent) in joint_names
        parent = robot.parent_of(parent)
    return count
