# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros capsules URDF`: shapes of a robot's links as YAML: capsules around its collision
geometry, or tight shapes around its visual meshes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from frame_ros.cli.arguments import given, input_folder, output_file
from frame_ros.core.option_texts import add_options, from_arguments
from frame_ros.core.output_files import write_whole
from frame_ros.robots.shapes.mesh_capsules import CapsuleOptions, mesh_capsules
from frame_ros.robots.shapes.surface_shapes import SurfaceOptions, format_fit, surface_shapes

if TYPE_CHECKING:
    from pathlib import Path

    from frame_ros.robots import Capsule, Robot
    from frame_ros.robots.shapes.surface_shapes import FittedLink

LITRES = 1000.0  # of a m^3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument('robot', metavar='URDF', help='name, profile or URDF file', type=given)
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
        MissingExtraError: trimesh is needed and not installed.
        SetupError: the file cannot be written.
    """
    from frame_ros.robots import find_urdf, load_robot
    from frame_ros.robots.shapes.capsule_files import format_capsules

    robot = load_robot(args.robot)
    folder = find_urdf(args.robot).parent
    if args.visual:
        fitted = _fitted(robot, folder, args)
        text, table = format_fit(robot.name, args.source, fitted), fit_summary(fitted)
    else:
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


def _fitted(robot: Robot, folder: Path, args: argparse.Namespace) -> dict[str, FittedLink]:
    options = from_arguments(SurfaceOptions, args)
    result: dict[str, FittedLink] = {}
    for link, found in surface_shapes(robot, folder, options, args.package_folder, args.only):
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
