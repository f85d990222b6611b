# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros dataset BAG... --output DIR`: recorded episodes as a LeRobotDataset."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from frame_ros.cli.arguments import add_new_folder, given
from frame_ros.cli.progress import progress_bar
from frame_ros.cli.termination import ended_as_by_interrupt
from frame_ros.core.option_texts import add_options, from_arguments
from frame_ros.episodes.export.dataset_options import DatasetOptions

if TYPE_CHECKING:
    from frame_ros.episodes.export.dataset import ExportReport


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        'bags', nargs='+', metavar='BAG', help='a bag, or a folder of bags', type=given
    )
    add_new_folder(parser, ' of the data set')
    names = {'topics': '--topic', 'is_repeating': '--repeat', 'is_skipping_bad': '--skip-bad'}
    add_options(parser, DatasetOptions, without=('keep',), names=names)
    which = parser.add_mutually_exclusive_group()
    for flag, keep, text in (
        ('--exclude-interventions', 'policy', 'without frames in which an operator drove'),
        ('--interventions-only', 'operator', 'only frames in which an operator drove'),
    ):
        which.add_argument(
            flag, dest='keep', action='store_const', const=keep, default='all', help=text
        )
    parser.add_argument('--json', action='store_true', help='print what was written as JSON')
    parser.add_argument('-q', '--quiet', action='store_true', help='no progress bar, no summary')


def run(args: argparse.Namespace) -> int:
    """Writes the data set.

    Raises:
        BagError: a bag is missing or does not fit, or no episode is left.
        ValueRangeError: the folder exists, or an option is out of its range.
        MissingExtraError: LeRobot is not installed.
    """
    from frame_ros.episodes.export.dataset import export_dataset

    with ended_as_by_interrupt():
        report = export_dataset(
            args.bags,
            args.output,
            from_arguments(DatasetOptions, args),
            lambda plans: progress_bar(plans, 'data set', args.quiet, len(plans)),
        )
    _print_report(report, args)
    return 0


def _print_report(report: ExportReport, args: argparse.Namespace) -> None:
    """Prints the result: JSON to standard output, or sentences to standard error."""
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
    from frame_ros.core.plain_text import counted, plain

    episodes = counted(report.episodes, 'episode')
    print(
        f'{report.folder}: {episodes}, {counted(report.frames, "frame")} at {report.fps} Hz',
        file=sys.stderr,
    )
    lines = [f'left out: {count:,} {reason}' for reason, count in report.left_out.items()]
    lines += [
        f'repeated: {name} in {counted(count, "frame")}, for lack of a newer one'
        for name, count in report.repeated.items()
        if count
    ]
    lines += [f'note: {note}' for note in report.notes]
    lines += [f'skipped: {problem}' for problem in report.problems]
    for line in lines:
        print(plain(line), file=sys.stderr)
