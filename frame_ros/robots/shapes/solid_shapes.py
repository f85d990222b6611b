# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Solid shapes of the links: the primitives of its URDF or, as most makers' URDFs have meshes
alone, primitives around the shapes that the robot's profile names.
"""

from __future__ import annotations

from frame_ros.robots.description import Primitive
from frame_ros.robots.robot import Robot
from frame_ros.robots.shapes.link_shapes import (
    BOX,
    CAPSULE,
    CYLINDER,
    ROUNDED_BOX,
    ROUNDED_CYLINDER,
    SPHERE,
    Shape,
)
from frame_ros.robots.shapes.shape_files import read_shapes


def solid_shapes(robot: Robot) -> dict[str, tuple[Primitive, ...]]:
    """Returns link -> primitives that contain it, of links that have some.

    Raises:
        RobotError: the shapes that the profile names cannot be read.
    """
    found = {link: shapes for link, shapes in robot.collision_geometry.items() if shapes}
    if robot.profile.shapes:
        fitted = read_shapes(robot.profile.path(robot.profile.shapes))
        for link in robot.links:
            if link in fitted and link not in found:
                found[link] = tuple(map(_around, fitted[link]))
    return found


def _around(shape: Shape) -> Primitive:
    """Returns a primitive that contains the shape: a rounded one with its edges."""
    half, radius = shape.half_sizes, shape.radius
    kind, size = {
        SPHERE: ('sphere', (radius,)),
        CAPSULE: ('cylinder', (radius, 2.0 * (half[2] + radius))),
        BOX: ('box', tuple(2.0 * half)),
        CYLINDER: ('cylinder', (radius, 2.0 * half[2])),
        ROUNDED_BOX: ('box', tuple(2.0 * (half + radius))),
        ROUNDED_CYLINDER: ('cylinder', (half[0] + radius, 2.0 * (half[2] + radius))),
    }[shape.kind]
    return Primitive(kind, tuple(map(float, size)), shape.translation, shape.rotation)
