# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros capsules URDF`: shapes of a robot's links as YAML: capsules around its collision
geometry, or tight shapes around its visual meshes, which a MuJoCo description may name as well.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from frame_ros.cli.arguments import given, input_folder, output_file
from frame_ros.core.errors import SetupError
from frame_ros.core.option_texts import add_options, from_arguments
from frame_ros.core.output_files import write_whole
from frame_ros.robots.shapes.body_meshes import PlaceOptions, body_meshes, is_mjcf, placed_bodies
from frame_ros.robots.shapes.mesh_capsules import CapsuleOptions, link_meshes, mesh_capsules
from frame_ros.robots.shapes.placed_meshes import VISUAL
from frame_ros.robots.shapes.surface_shapes import SurfaceOptions, fitted_links, format_fit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from frame_ros.robots import Capsule
    from frame_ros.robots.shapes.surface_shapes import FittedLink

LITRES = 1000.0  # of a m^3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        'robot',
        metavar='URDF',
        help='name, profile or URDF file; with --visual also a MuJoCo description (.xml, .mjcf)',
        type=given,
    )
    parser.add_argument(
        '--out', type=output_file, metavar='FILE', help='YAML file to write (default: printed)'
    )
    add_options(parser, CapsuleOptions, names={'counts': '--link'})
    surface = parser.add_argument_group('with --visual')
    surface.add_argument(
        '--visual',
        action='store_true',
        help='fit few tight shapes (rounded boxes and cylinders) to the visual meshes, the surface '
        'that a camera sees, in place of capsules around the collision geometry',
    )
    add_options(surface, SurfaceOptions)
    add_options(surface, PlaceOptions, names={'places': '--place'})
    surface.add_argument(
        '--only',
        action='append',
        default=[],
        metavar='LINK',
        type=given,
        help='a link; none: all with meshes',
    )
    surface.add_argument(
        '--source',
        default='',
        metavar='TEXT',
        help='where the meshes come from, with their version, to be written into the file',
    )
    parser.add_argument(
        '--package-folder', action='append', default=[], type=input_folder, metavar='FOLDER',
        help='folder of packages that package:// names, in addition to the sourced workspaces',
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Fits and writes the shapes, and prints their sizes.

    Raises:
        RobotError: the URDF or one of its meshes cannot be used.
        MissingExtraError: trimesh is needed and not installed, or mujoco.
        SetupError: the file cannot be written, or what needs --visual is given without it.
    """
    from frame_ros.robots import find_urdf, load_robot
    from frame_ros.robots.shapes.capsule_files import format_capsules

    if args.visual:
        name, meshes = _visual_meshes(args)
        fitted = _fitted(name, meshes, args)
        text, table = format_fit(name, args.source, fitted), fit_summary(fitted)
    elif unused := _of_visual(args):
        raise SetupError(f'{unused} is of the shapes that are fitted with --visual')
    elif is_mjcf(args.robot):
        raise SetupError(f'{args.robot} is a MuJoCo description: shapes are fitted with --visual')
    else:
        robot = load_robot(args.robot)
        folder = find_urdf(args.robot).parent
        options = from_arguments(CapsuleOptions, args)
        capsules = mesh_capsules(robot, folder, options, args.package_folder)
        text, table = format_capsules(robot.name, capsules), summary(capsules)
    if args.out is None:
        print(text, end='')
        return 0
    write_whole(args.out, text, 'the file of shapes')
    print(table)
    print(f'written to {args.out}', file=sys.stderr)
    return 0


def _of_visual(args: argparse.Namespace) -> str:
    """Returns an option that was given and counts with --visual alone; '': none was."""
    options, plain = from_arguments(SurfaceOptions, args), SurfaceOptions()
    was_given = {
        '--residual': options.residual != plain.residual,
        '--near': options.near != plain.near,
        '--most': options.most != plain.most,
        '--closed': options.is_closed,
        '--place': bool(from_arguments(PlaceOptions, args).places),
        '--only': bool(args.only),
        '--source': bool(args.source),
    }
    return next((name for name, is_given in was_given.items() if is_given), '')


def _visual_meshes(args: argparse.Namespace) -> tuple[str, dict[str, NDArray[np.float64]]]:
    """Returns the name of the description, and link -> triangles (T, 3, 3) m of its meshes."""
    from frame_ros.robots import find_urdf, load_robot

    places = from_arguments(PlaceOptions, args).of_links()
    if is_mjcf(args.robot):
        name, meshes = body_meshes(Path(args.robot))
    else:
        robot, folder = load_robot(args.robot), find_urdf(args.robot).parent
        name, meshes = robot.name, link_meshes(robot, folder, args.package_folder, VISUAL)
    return name, placed_bodies(name, meshes, places)


def _fitted(
    name: str, meshes: Mapping[str, NDArray[np.float64]], args: argparse.Namespace
) -> dict[str, FittedLink]:
    options = from_arguments(SurfaceOptions, args)
    result: dict[str, FittedLink] = {}
    for link, found in fitted_links(name, meshes, options, args.only):
        print(f'{link}: {len(found.shapes)} shapes', file=sys.stderr)
        result[link] = found
    return result


def fit_summary(fitted: Mapping[str, FittedLink]) -> str:
    """Returns a table of links: shapes, the surface's largest distance out of them, the median,
    95th percentile and largest distance of the shapes from the surface (mm), and the waste (l).
    """
    from frame_ros.cli.metrics import format_table

    rows: list[tuple[str, ...]] = [
        ('link', 'shapes', 'outside, mm', 'median, mm', '95 %, mm', 'largest, mm', 'waste, l')
    ]
    for link, each in fitted.items():
        lengths = (each.quality.outside, *each.quality.beyond)
        rows.append(
            (link, str(len(each.shapes)), *(f'{1000 * length:.1f}' for length in lengths),
             f'{each.quality.waste * LITRES:.3f}')
        )  # fmt: skip
    return format_table(rows)


def summary(capsules: dict[str, list[Capsule]]) -> str:
    """Returns a table of links: capsules, largest radius (mm) and volume (l)."""
    from frame_ros.cli.metrics import format_table
    from frame_ros.robots.shapes.capsule_fit import volume

    rows: list[tuple[str, ...]] = [('link', 'capsules', 'largest radius, mm', 'volume, l')]
    for link, found in capsules.items():
        litres = sum(volume(each) for each in found) * LITRES
        largest = max(each.radius for each in found) * 1000
        rows.append((link, str(len(found)), f'{largest:.1f}', f'{litres:.3f}'))
    return format_table(rows)
