# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros capsules URDF`: capsules around a robot's collision geometry, as YAML."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from frame_ros.cli.arguments import given, input_folder, output_file
from frame_ros.core.option_texts import add_options, from_arguments
from frame_ros.core.output_files import write_whole
from frame_ros.robots.shapes.mesh_capsules import CapsuleOptions, mesh_capsules

if TYPE_CHECKING:
    from frame_ros.robots import Capsule

LITRES = 1000.0  # of a m^3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument('robot', metavar='URDF', help='name, profile or URDF file', type=given)
    parser.add_argument(
        '--out', type=output_file, metavar='FILE', help='YAML file to write (default: printed)'
    )
    add_options(parser, CapsuleOptions, names={'counts': '--link'})
    parser.add_argument(
        '--package-folder', action='append', default=[], type=input_folder, metavar='FOLDER',
        help='folder of packages that package:// names, in addition to the sourced workspaces',
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Fits and writes the capsules, and prints their sizes.

    Raises:
        RobotError: the URDF or one of its meshes cannot be used.
        MissingExtraError: trimesh is needed and not installed.
        SetupError: the file cannot be written.
    """
    from frame_ros.robots import find_urdf, load_robot
    from frame_ros.robots.shapes.capsule_files import format_capsules

    robot = load_robot(args.robot)
    path = find_urdf(args.robot)
    options = from_arguments(CapsuleOptions, args)
    capsules = mesh_capsules(robot, path.parent, options, args.package_folder)
    text = format_capsules(robot.name, capsules)
    if args.out is None:
        print(text, end='')
        return 0
    write_whole(args.out, text, 'the file of capsules')
    print(summary(capsules))
    print(f'written to {args.out}', file=sys.stderr)
    return 0


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
