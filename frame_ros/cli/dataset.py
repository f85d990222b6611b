# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros dataset BAG... --output DIR`: recorded episodes as a LeRobotDataset."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frame_ros.cli.arguments import given, names, namespace, output_folder, positive, robot, whole
from frame_ros.cli.progress import progress_bar
from frame_ros.core.errors import ValueRangeError

if TYPE_CHECKING:
    from frame_ros.episodes.export.dataset import ExportReport

NO_CAMERAS = 'none'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        'bags', nargs='+', metavar='BAG', help='a bag, or a folder of bags', type=given
    )
    parser.add_argument(
        '-o',
        '--output',
        type=output_folder,
        required=True,
        metavar='DIR',
        help='a folder not there yet',
    )
    parser.add_argument('--repo-id', default='', metavar='NAME', help='as in me/pick_cubes')
    parser.add_argument(
        '--fps',
        type=whole(0),
        default=0,
        help='frames per second (default: what every input reaches)',
    )
    parser.add_argument(
        '--repeat', action='store_true', help='frames may repeat what comes more rarely than --fps'
    )
    parser.add_argument(
        '--robot', default='so101', metavar='NAME', help='name, profile or URDF file', type=robot
    )
    parser.add_argument(
        '--joints',
        metavar='A,B,...',
        help="those of state and action (default: the robot's)",
        type=names,
    )
    parser.add_argument(
        '--units',
        default='degrees',
        choices=('degrees', 'rad'),
        help="degrees are LeRobot's: degrees, and 0 to 100 for a gripper",
    )
    parser.add_argument(
        '--cameras', metavar='A,B,...', help='(default: all of the bag); none: without images'
    )
    parser.add_argument(
        '--poses', default='', metavar='A,B,...', help='for observation.environment_state'
    )
    parser.add_argument('--task', default='', help='instead of the recorded instructions')
    parser.add_argument(
        '--success-only', action='store_true', help='only episodes that ended in success'
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        '--exclude-interventions',
        action='store_true',
        help='without the stretches in which an operator drove',
    )
    which.add_argument(
        '--interventions-only',
        action='store_true',
        help='only stretches in which an operator drove',
    )
    _add_storage_arguments(parser)


def _add_storage_arguments(parser: argparse.ArgumentParser) -> None:
    from frame_ros.cli.report.command import add_unit_arguments

    parser.add_argument(
        '--codec', default='libsvtav1', help='of the videos: libsvtav1, h264, hevc', type=given
    )
    parser.add_argument(
        '--images', action='store_true', help='store images instead of videos: large, lossless'
    )
    parser.add_argument(
        '--no-flags', action='store_true', help='without reward, done, success and intervention'
    )
    parser.add_argument(
        '--max-age', type=positive, default=0.5, metavar='S', help='oldest input, s'
    )
    parser.add_argument('--namespace', metavar='NS', help="the robot's namespace", type=namespace)
    parser.add_argument(
        '--topic',
        action='append',
        default=[],
        metavar='ROLE=TOPIC',
        help='the topic that plays a role (action, joint_states, ...); may be repeated',
    )
    add_unit_arguments(parser)
    parser.add_argument('--skip-bad', action='store_true', help='leave out bags that do not fit')
    parser.add_argument('--json', action='store_true', help='print what was written as JSON')
    parser.add_argument('-q', '--quiet', action='store_true', help='no progress bar, no summary')


def run(args: argparse.Namespace) -> int:
    """Writes the data set.

    Raises:
        BagError: a bag is missing or does not fit, or nothing is left.
        ValueRangeError: the folder is there already, or an option is out of its range.
        MissingExtraError: LeRobot is not installed.
    """
    from frame_ros.cli.report.command import recorded_units, topics_by_role
    from frame_ros.episodes.export.dataset import ExportOptions, export_dataset

    cameras: tuple[str, ...] | None = _listed(args.cameras or '') or None
    if cameras == (NO_CAMERAS,):
        cameras = ()
    keep = 'policy' if args.exclude_interventions else 'all'
    options = ExportOptions(
        **_joints(args),
        fps=args.fps,
        robot_type=Path(args.robot).stem,
        repo_id=args.repo_id,
        units=args.units,
        cameras=cameras,
        poses=_listed(args.poses),
        task=args.task,
        is_success_only=args.success_only,
        keep='person' if args.interventions_only else keep,
        is_repeating=args.repeat,
        max_age=args.max_age,
        codec='' if args.images else args.codec,
        has_flags=not args.no_flags,
        namespace=args.namespace,
        topics=topics_by_role(args.topic),
        joint_units=recorded_units(args),
        robot=args.robot if args.joint_units != 'rad' else None,
    )
    report = export_dataset(
        args.bags,
        args.output,
        options,
        args.skip_bad,
        lambda plans: progress_bar(plans, 'data set', args.quiet, len(plans)),
    )
    _tell(report, args)
    return 0


def _listed(text: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, text.split(','))))


def _joints(args: argparse.Namespace) -> dict[str, Any]:
    """The joints of the data set, in order, and the robot's grippers.

    Raises:
        ValueRangeError: a joint that the robot does not have.
    """
    from frame_ros.robots import load_robot

    robot = load_robot(args.robot)
    limits = robot.joint_limits
    if unknown := [name for name in args.joints or () if name not in limits]:
        raise ValueRangeError(
            f'--joints {", ".join(unknown)}: the robot {args.robot} has {", ".join(limits)}'
        )
    return {'joints': tuple(args.joints or limits), 'grippers': robot.grippers}


def _tell(report: ExportReport, args: argparse.Namespace) -> None:
    """Prints what was written: JSON to standard output, or sentences to standard error."""
    if args.json:
        data = {
            'folder': str(report.folder),
            'fps': report.fps,
            'episodes': report.episodes,
            'frames': report.frames,
            'cameras': {name: list(size) for name, size in report.cameras.items()},
            'left_out': dict(report.left_out),
            'repeated': dict(report.repeated),
            'problems': report.problems,
            'notes': report.notes,
        }
        print(json.dumps(data, indent=2))
    if args.quiet:
        return
    from frame_ros.reports.model.numbers import counted

    episodes = counted(report.episodes, 'episode')
    print(
        f'{report.folder}: {episodes}, {report.frames:,} frames at {report.fps} Hz',
        file=sys.stderr,
    )
    for why, count in report.left_out.items():
        print(f'left out: {count:,} {why}', file=sys.stderr)
    for name, count in report.repeated.items():
        if count:
            print(f'repeated: {name} in {count:,} frames: none had come since', file=sys.stderr)
    for note in report.notes:
        print(f'note: {note}', file=sys.stderr)
    for problem in report.problems:
        print(f'skipped: {problem}', file=sys.stderr)
