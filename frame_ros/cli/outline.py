# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros outline BAG`: how wide a depth camera mixes the robot's outline with what is behind
it, from a bag in which the arm moves alone in an empty scene.

See docs/proximity.md.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from frame_ros.cli.arguments import any_path, input_file, output_file
from frame_ros.core.errors import SetupError
from frame_ros.core.option_texts import add_options, from_arguments
from frame_ros.core.options import option, options
from frame_ros.core.output_files import refuse_inputs, write_whole
from frame_ros.core.time import SECOND

if TYPE_CHECKING:
    from frame_ros.evaluation.recorded_motion.outline_width import OutlineWidth
    from frame_ros.nodes.proximity.options import ProximityOptions

FEWEST = 20  # images
MOST_LISTED = 5
NODE, PARAMETER = 'proximity', 'depth.outline'


@options
class OutlineOptions:
    """Images."""

    camera: str = option('', "name of the camera; '': the only one of the parameters")
    namespace: str = option('', 'of the node, where the file of parameters has sections of several')
    joint_topic: str = option('joint_states', 'topic of the joints, without its namespace')
    images: int = option(
        200, 'most images that are measured, spread over the recording', at_least=1
    )
    spacing: float = option(
        0.05,
        'distance that a part of the arm must be from where it is in every other image that is '
        'measured',
        unit='m',
        above=0.0,
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument('bag', metavar='BAG', type=any_path, help='folder of the bag')
    parser.add_argument(
        '--params-file', required=True, type=input_file, metavar='FILE',
        help='parameters of the proximity node: robot, shapes, cameras, extrinsics and depth',
    )  # fmt: skip
    parser.add_argument(
        '--out', type=output_file, metavar='FILE',
        help=f'file of parameters to write, with {PARAMETER} alone',
    )  # fmt: skip
    add_options(parser, OutlineOptions)


def run(args: argparse.Namespace) -> int:
    """Measures the width, and prints and writes it; 1 if something is near the arm, or too few
    images could be measured.

    Raises:
        FrameRosError: the bag or the parameters cannot be used.
    """
    chosen = from_arguments(OutlineOptions, args)
    if args.out is not None:
        refuse_inputs(args.out, [args.params_file], '--out')
    settings = node_options(args.params_file, chosen.namespace)
    camera = chosen.camera or _only(settings.cameras)
    found = _measured(args.bag, settings, camera, chosen)
    print(report(camera, found))
    problem = _problem(found)
    if problem:
        print(f'frame-ros: {problem}', file=sys.stderr)
        return 1
    if args.out is not None:
        write_whole(args.out, parameters(camera, args.bag, found), 'the file of parameters')
        print(f'written to {args.out}', file=sys.stderr)
    return 0


def node_options(file: Path, namespace: str) -> ProximityOptions:
    """Returns the options of the proximity node of a file of parameters.

    Raises:
        SetupError: it is none, or a parameter cannot be.
    """
    from frame_ros.bringup.declared_nodes import EVERY_NODE, from_parameter, parameters_of
    from frame_ros.bringup.parameter_files import given_parameters
    from frame_ros.bringup.parameter_sections import read_file
    from frame_ros.bringup.run_options import RunOptions
    from frame_ros.core.options import check_names, from_values
    from frame_ros.nodes.proximity.options import ProximityOptions

    for section, values in read_file(str(file)).items():
        if section.rpartition('/')[2] == NODE:  # a section of several nodes has others' names, too
            own = [name for name in values if not EVERY_NODE.fullmatch(name)]
            check_names(own, parameters_of(NODE), f'{file}: parameter')
    run_of = RunOptions(params_file=str(file), namespace=namespace)
    given = given_parameters(run_of, NODE).items()
    found = from_values(
        ProximityOptions,
        {name: from_parameter(value) for name, value in given if not EVERY_NODE.fullmatch(name)},
    )
    found.check()
    return found


def _only(cameras: tuple[str, ...]) -> str:
    if len(cameras) != 1:
        raise SetupError(f'--camera must be one of {", ".join(cameras)}')
    return cameras[0]


def _measured(
    path: Path, settings: ProximityOptions, name: str, chosen: OutlineOptions
) -> OutlineWidth:
    from frame_ros.bags.reader import Bag
    from frame_ros.evaluation.recorded_motion.arm_bags import TYPES, ArmBag, SeenArms
    from frame_ros.evaluation.recorded_motion.outline_width import (
        different_postures,
        outline_width,
        spread_order,
    )

    if name not in settings.cameras:
        raise SetupError(f'--camera {name}: cameras has {", ".join(settings.cameras) or "none"}')
    if settings.meshes.file:
        raise SetupError('with meshes.file the robot is drawn; this measures the filter by shapes')
    robot = settings.load_robot()
    mount = settings.mounts(robot).get(name)
    if mount is None:
        raise SetupError(f'the parameters have no extrinsics of {name}; tf in a bag is not read')
    watched = settings.watched(robot)
    image, info = settings.topics(name)
    bag = ArmBag(
        Bag(path, TYPES.__contains__),
        (image, info, chosen.joint_topic),
        settings.is_rectified(image),
        watched.frames.joint_names,
        settings.assumed,
        round(settings.joint_gap * SECOND),
    )
    known = bag.positions()
    order = spread_order(len(known))
    rows = different_postures(watched, (known[place][1] for place in order), chosen.spacing)
    used = sorted(order[row] for _, row in zip(range(chosen.images), rows, strict=False))
    images = SeenArms(bag, [known[place] for place in used])
    return outline_width(
        watched, bag.model.camera, mount, images, settings.depth_options(name), settings.alignment
    )


def report(camera: str, found: OutlineWidth) -> str:
    """Returns what was found, as text."""
    widths = found.widths
    refused = [each for each in found.needs if math.isnan(each.width)]
    near = [each for each in found.needs if math.isinf(each.width)]
    lines = [f'{camera}: {len(found.needs)} images of different postures']
    lines += [f'  {len(refused)} not measured: {refused[0].reason}'] if refused else []
    lines += [f'  something near even so: {each.reason}' for each in near[:MOST_LISTED]]
    if len(near) > MOST_LISTED:
        lines.append(f'  and in {len(near) - MOST_LISTED} more')
    if len(widths):
        middle = sorted(widths)[len(widths) // 2]
        lines.append(
            f'  {PARAMETER}: {found.largest:.4f} rad, the most that any of {len(widths)} needs; '
            f'{sum(widths == 0.0)} need none, the median {middle:.4f}'
        )
        lines.append(
            f'  at most {100 * found.share_beyond:.1f} % of such images need more, with 95 % '
            'confidence'
        )
    return '\n'.join(lines)


def _problem(found: OutlineWidth) -> str:
    """Returns why the width is not to be used; '': it is."""
    near = sum(math.isinf(each.width) for each in found.needs)
    if near:
        return (
            f'in {near} of {len(found.needs)} images something is near the arm that is not its '
            'outline: clear the scene, give the table as depth.surface_height and what the robot '
            'carries in its description, or leave links out'
        )
    if len(found.widths) < FEWEST:
        return (
            f'{len(found.widths)} images of different postures were measured; at least {FEWEST} '
            'are needed: move the arm farther, or see above why images were not measured'
        )
    return ''


def parameters(camera: str, bag: Path, found: OutlineWidth) -> str:
    """Returns the file of parameters."""
    return (
        f'# By `frame-ros outline` of {bag.name}, camera {camera}: the most that any of '
        f'{len(found.widths)} images of different postures needs.\n'
        f'# At most {100 * found.share_beyond:.1f} % of such images need more (95 % confidence).\n'
        '/**:\n  ros__parameters:\n    depth:\n'
        f'      outline: {found.largest:.5f}\n'
    )
