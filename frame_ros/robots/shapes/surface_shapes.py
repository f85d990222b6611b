# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Tight shapes around the real surface of a robot: the meshes of its URDF, as they are drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import RobotError
from frame_ros.core.options import option, options
from frame_ros.robots.robot import Robot
from frame_ros.robots.shapes.fit_quality import FitQuality, fit_quality
from frame_ros.robots.shapes.link_shapes import Shape
from frame_ros.robots.shapes.mesh_capsules import link_meshes
from frame_ros.robots.shapes.mesh_openings import closed_surface
from frame_ros.robots.shapes.placed_meshes import VISUAL
from frame_ros.robots.shapes.shape_files import format_shapes
from frame_ros.robots.shapes.shape_fit import fit_shapes

Array = NDArray[np.float64]


@options
class SurfaceOptions:
    """Shapes around the surface of a robot's links."""

    residual: float = option(
        0.0025, 'no point of the surface is farther out of the shapes', unit='m', above=0.0
    )
    near: float = option(
        0.005, 'how much nearer than the surface the shapes may be to 5 % of the space about it',
        unit='m', above=0.0,
    )  # fmt: skip
    most: int = option(9, 'shapes of a link', at_least=1)
    is_closed: bool = option(
        False, 'close openings of a link, such as the ends of a housing, which its neighbours cover'
    )


@dataclass(frozen=True)
class FittedLink:
    """The shapes of a link, how well they fit, and how many triangles its meshes have."""

    shapes: list[Shape]
    quality: FitQuality
    triangles: int


def surface_shapes(
    robot: Robot,
    folder: Path,
    options: SurfaceOptions | None = None,
    package_folders: Sequence[Path] = (),
    links: Sequence[str] = (),
) -> Iterator[tuple[str, FittedLink]]:
    """Yields the links with visual meshes and their shapes, in the link's frame, as they are
    fitted.

    Args:
        folder: of the URDF, for paths in it.
        links: only these; none: all.

    Raises:
        RobotError: a mesh is missing or cannot be read, a link is unknown or has none.
        MissingExtraError: trimesh is not installed.
    """
    meshes = link_meshes(robot, folder, package_folders, VISUAL)
    yield from fitted_links(robot.name, meshes, options, links)


def fitted_links(
    name: str,
    meshes: Mapping[str, Array],
    options: SurfaceOptions | None = None,
    links: Sequence[str] = (),
) -> Iterator[tuple[str, FittedLink]]:
    """Yields the links and their shapes, in the link's frame, as they are fitted.

    Args:
        name: of the robot.
        meshes: link -> triangles (T, 3, 3) m of its visual meshes.
        links: only these; none: all.

    Raises:
        RobotError: a link is unknown, or none has meshes.
    """
    options = options or SurfaceOptions()
    lacking = [link for link in links if link not in meshes]
    if lacking or not meshes:
        raise RobotError(
            f'{name} has no visual meshes{f" of {lacking[0]}" if lacking else ""} that '
            'shapes could be fitted to'
        )
    for link, triangles in meshes.items():
        if not links or link in links:
            surface = closed_surface(triangles) if options.is_closed else triangles
            shapes = fit_shapes(surface, options.residual, options.near, options.most)
            yield link, FittedLink(shapes, fit_quality(surface, shapes), len(triangles))


def format_fit(robot: str, source: str, fitted: Mapping[str, FittedLink]) -> str:
    """Returns the text of a file: the shapes, where they come from, and how well they fit."""
    lines = [f'robot: {robot}', f"source: '{source}'" if source else '', 'fit: # m; waste m^3']
    for link, each in fitted.items():
        quality = each.quality
        median, upper, largest = (f'{value:.4f}' for value in quality.beyond)
        lines.append(
            f'  {link}: {{outside: {quality.outside:.4f}, median: {median}, '
            f'percentile_95: {upper}, largest: {largest}, waste: {quality.waste:.6f}, '
            f'triangles: {each.triangles}}}'
        )
    text = '\n'.join(filter(None, lines)) + '\n'
    return text + format_shapes({link: each.shapes for link, each in fitted.items()})
