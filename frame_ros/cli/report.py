# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros report BAG...`: recorded episodes as an HTML page or as JSON."""

from __future__ import annotations

import argparse
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

from frame_ros.cli.progress import progress_bar
from frame_ros.errors import BagError, SetupError

if TYPE_CHECKING:
    from frame_ros.episodes.data import Episode

DEFAULT_OUTPUT = Path('report.html')
STANDARD_OUTPUT = '-'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        'bags',
        nargs='*',
        metavar='BAG',
        help='a bag (folder, .mcap or .db3 file), or a folder of bags',
    )
    parser.add_argument(
        '-o',
        '--output',
        type=Path,
        metavar='FILE',
        help=f'the page to write (default: {DEFAULT_OUTPUT})',
    )
    parser.add_argument(
        '--json',
        nargs='?',
        const=STANDARD_OUTPUT,
        metavar='FILE.json',
        help='write JSON to a file ending in .json, else to standard output; no page unless -o',
    )
    parser.add_argument('--title', default='', help='heading of the page')
    parser.add_argument('--open', action='store_true', help='open the page in a browser')
    parser.add_argument(
        '-q', '--quiet', action='store_true', help='no progress bar and no messages'
    )


def run(args: argparse.Namespace) -> int:
    """Reads the episodes and writes what is asked for.

    Raises:
        BagError: no bag is given, one is missing or not readable, or it holds no episode.
        SetupError: an output cannot be written.
    """
    paths = bag_paths(args)
    if not paths:
        raise BagError('no bag is given; name at least one: frame-ros report BAG')
    episodes = load_episodes(paths, args.quiet)
    from frame_ros.reports import report_json, write_report

    if args.json is not None:
        _write_json(report_json(episodes), args.json)
    if args.json is None or args.output or args.open:
        page = write_report(
            episodes,
            args.output or DEFAULT_OUTPUT,
            title=args.title,
            progress=lambda items: progress_bar(items, 'page', args.quiet, len(episodes)),
        )
        if not args.quiet:
            print(f'{len(episodes)} episodes: {page.resolve()}', file=sys.stderr)
        if args.open:
            webbrowser.open(page.resolve().as_uri())
    return 0


def bag_paths(args: argparse.Namespace) -> list[Path]:
    """Returns the bags to read. What follows --json and does not end in .json is a bag: the file is
    optional.
    """
    bags = [Path(bag) for bag in args.bags]
    if args.json not in (None, STANDARD_OUTPUT) and not args.json.endswith('.json'):
        bags.insert(0, Path(args.json))
        args.json = STANDARD_OUTPUT
    return bags


def load_episodes(paths: list[Path], is_quiet: bool) -> list[Episode]:
    """Returns the episodes of all bags, their metrics recomputed.

    Raises:
        BagError: a path is missing or no bag, or there is no episode at all.
    """
    from frame_ros.episodes.bag_reader import find_bags
    from frame_ros.episodes.reading import read_episodes

    episodes: list[Episode] = []
    for path in paths:
        total = len(find_bags(path))
        episodes += progress_bar(read_episodes(path), f'reading {path.name}', is_quiet, total)
    if not episodes:
        raise BagError(f'no episodes in {", ".join(str(path) for path in paths)}')
    return episodes


def _write_json(text: str, target: str) -> None:
    if target == STANDARD_OUTPUT:
        print(text)
        return
    try:
        Path(target).write_text(text + '\n', encoding='utf-8')
    except OSError as error:
        raise SetupError(f'the JSON cannot be written to {target}: {error.strerror}') from error
