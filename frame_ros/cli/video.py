# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros video BAG`: an MP4 from the camera images of a bag."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial

from frame_ros.bags.recording_options import RECEIVE, StampChoice
from frame_ros.cli.arguments import any_path, given, output_file
from frame_ros.core.option_texts import add_options, from_arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument('bag', type=any_path, metavar='BAG', help='a bag (folder or file)')
    parser.add_argument(
        '-o',
        '--output',
        type=output_file,
        metavar='FILE',
        help='the MP4 (default: BAG.mp4 next to it)',
    )
    parser.add_argument(
        '--topic', help='image topic, with or without namespace (default: front)', type=given
    )
    add_options(parser, StampChoice)
    parser.add_argument('-q', '--quiet', action='store_true', help='no progress bar, no messages')


def run(args: argparse.Namespace) -> int:
    """Writes the video.

    Raises:
        BagError: the bag or the topic is missing or cannot be read, or has no readable image.
        MissingExtraError: PyAV is not installed.
    """
    from frame_ros.bags.reader import Bag
    from frame_ros.episodes.export.video import write_video

    remark = None if args.quiet else partial(print, file=sys.stderr)
    bag = Bag(args.bag, is_by_receipt=from_arguments(StampChoice, args).stamps == RECEIVE)
    video = write_video(bag, args.output, args.topic, _progress(args.quiet), remark)
    if not args.quiet:
        print(video, file=sys.stderr)
    return 0


def _progress(is_quiet: bool) -> Callable[[int, int], None] | None:
    """Returns a function that draws a bar on a terminal; None without one."""
    if is_quiet or not sys.stderr.isatty():
        return None
    from tqdm import tqdm

    bar = tqdm(desc='encoding', unit='image', file=sys.stderr, leave=False)

    def show(done: int, total: int) -> None:
        bar.total = total
        bar.update(done - bar.n)
        if done >= total:
            bar.close()

    return show
