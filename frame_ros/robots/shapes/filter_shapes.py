# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The shapes by which a robot is taken out of depth images and distances are measured from."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from frame_ros.core.errors import RobotError
from frame_ros.robots.robot import Robot
from frame_ros.robots.shapes.choice import URDF
from frame_ros.robots.shapes.link_shapes import LinkShapes, arranged, link_shapes
from frame_ros.robots.shapes.shape_files import read_shapes

# How every option that chooses them describes it.
OF_SHAPES = (
    "file of `frame-ros capsules` with the shapes of the links; '': those that come with the "
    "robot, else the URDF's; urdf: the collision primitives of the URDF, which the simulator draws"
)


def filter_shapes(
    robot: Robot,
    file: str | Path = '',
    links: Iterable[str] | None = None,
    exclude: Collection[str] = (),
) -> LinkShapes:
    """Returns the shapes of a file; without one, those that the robot's profile names, which are
    fitted to its real surface; without them, the collision primitives of its URDF.

    Args:
        file: of `frame-ros capsules`; URDF: the primitives whatever the profile names.
        links, exclude: as for `link_shapes`.

    Raises:
        RobotError: the file cannot be read or does not fit the robot; or as `link_shapes`.
    """
    if str(file) == URDF or not (str(file) or robot.profile.shapes):
        return link_shapes(robot, links, exclude)
    path = file or robot.profile.path(robot.profile.shapes)
    return load_shapes(path, robot, links, exclude)


def load_shapes(
    path: str | Path,
    robot: Robot,
    links: Iterable[str] | None = None,
    exclude: Collection[str] = (),
) -> LinkShapes:
    """Returns the shapes of a file written by `frame-ros capsules`, in place of the URDF's
    geometry.

    links, exclude: as for `link_shapes`.

    Raises:
        RobotError: the file cannot be read or does not fit the robot.
    """
    shapes = read_shapes(path)
    unknown = [link for link in shapes if link not in robot.links]
    if unknown:
        raise RobotError(f'{path} has shapes of {", ".join(unknown)}, which {robot.name} lacks')
    return arranged(robot, shapes, links, exclude)
