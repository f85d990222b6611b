# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of the self-filter by meshes."""

from __future__ import annotations

from pathlib import Path

from frame_ros.core.options import option, options
from frame_ros.robots.robot import Robot
from frame_ros.robots.shapes.placed_meshes import COLLISION, VISUAL
from frame_ros.robots.shapes.surface_meshes import RobotSurfaces, load_surfaces


@options
class MeshOptions:
    """Self-filter by the meshes of the robot, drawn as each camera sees them."""

    file: str = option(
        '',
        "URDF whose meshes, drawn where the joints say, are the robot in depth images; '': the "
        'shapes of the links are, within depth.padding',
    )
    geometry: str = option(
        VISUAL, 'meshes of it that are used; links without one keep their shapes',
        choices=(VISUAL, COLLISION),
    )  # fmt: skip
    package_folders: tuple[str, ...] = option(
        (), 'folders of packages that package:// names, in addition to the sourced workspaces'
    )
    resolution: float = option(
        0.0005,
        'edge of cubes whose corners of triangles become one, for speed; 0: all are kept',
        unit='m',
        at_least=0.0,
        at_most=0.01,
    )
    padding: float = option(
        0.005,
        'distance from the drawn surface, along the ray and across it, within which a pixel is the '
        'robot; depth_noise adds to it along the ray',
        unit='m',
        at_least=0.0,
        live=True,
    )
    pixels: float = option(
        2.0,
        'pixels added to it across the ray, which cameras blur; within them of an edge of the '
        'robot what is behind it does not count either',
        at_least=0.0,
        at_most=20.0,
        live=True,
    )

    def load(self, robot: Robot) -> RobotSurfaces | None:
        """The surfaces of a robot's links; None without a file.

        Raises:
            RobotError, MissingExtraError: as `load_surfaces`.
        """
        if not self.file:
            return None
        folders = [Path(folder).expanduser() for folder in self.package_folders]
        path = Path(self.file).expanduser()
        return load_surfaces(path, robot, self.geometry, folders, self.resolution)
