# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros report BAG...`: recorded episodes as an HTML page or as JSON."""

from __future__ import annotations

import argparse
import sys
import webbrowser
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frame_ros.cli.progress import progress_bar
from frame_ros.errors import BagError, SetupError, ValueRangeError

if TYPE_CHECKING:
    from frame_ros.episodes.data import Episode

DEFAULT_OUTPUT = Path('report.html')
STANDARD_OUTPUT = '-'
BAG_FAILED = 1


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
    parser.add_argument(
        '--namespace', metavar='NS', help="the robot's namespace (default: that with most topics)"
    )
    parser.add_argument(
        '--topic',
        action='append',
        default=[],
        metavar='ROLE=TOPIC',
        help='the topic that plays a role (pose, action, contact, ...); may be repeated',
    )
    parser.add_argument(
        '--robot',
        metavar='NAME',
        help='name or URDF file: computes poses from joint states where none were recorded',
    )
    parser.add_argument('--title', default='', help='heading of the page')
    parser.add_argument('--open', action='store_true', help='open the page in a browser')
    parser.add_argument(
        '-q',
        '--quiet',
        action='store_true',
        help='no progress bar; tells problems of the bags only',
    )


def run(args: argparse.Namespace) -> int:
    """Reads the episodes and writes what is asked for.

    Returns:
        0, or 1 if a bag could not be read or held no messages: the rest is written all the same.

    Raises:
        BagError: no bag is given, or one is missing or no bag at all.
        SetupError: an output cannot be written.
        ValueRangeError: a role that is not known.
    """
    paths = bag_paths(args)
    if not paths:
        raise BagError('no bag is given; name at least one: frame-ros report BAG')
    choice = {'namespace': args.namespace, 'topics': topics_by_role(args.topic)}
    episodes = load_episodes(paths, args.quiet, robot=args.robot, **choice)
    from frame_ros.reports import report_json, write_report
    from frame_ros.reports.episode_check import has_data
    from frame_ros.reports.numbers import counted

    tell_problems(episodes)
    usable = sum(map(has_data, episodes))
    if args.json is not None:
        _write_json(report_json(episodes), args.json)
    if args.json is None or args.output or args.open:
        page = write_report(
            episodes,
            args.output or DEFAULT_OUTPUT,
            title=args.title,
            progress=lambda items: progress_bar(items, 'page', args.quiet, usable),
        )
        if not args.quiet:
            print(f'{counted(usable, "episode")}: {page.resolve()}', file=sys.stderr)
        if args.open:
            webbrowser.open(page.resolve().as_uri())
    return 0 if usable == len(episodes) else BAG_FAILED


def bag_paths(args: argparse.Namespace) -> list[Path]:
    """Returns the bags to read. What follows --json and does not end in .json is a bag: the file is
    optional.
    """
    bags = [Path(bag) for bag in args.bags]
    if args.json not in (None, STANDARD_OUTPUT) and not args.json.endswith('.json'):
        bags.insert(0, Path(args.json))
        args.json = STANDARD_OUTPUT
    return bags


def topics_by_role(given: Sequence[str]) -> dict[str, str]:
    """Returns role -> absolute topic of texts ROLE=TOPIC.

    Raises:
        ValueRangeError: a text of another form, or a role that is not known.
    """
    from frame_ros.episodes.streams import LIVE_TOPICS, ROLE_TOPICS

    topics = {}
    for text in given:
        role, _, topic = text.partition('=')
        if not topic.strip('/'):
            raise ValueRangeError(f'--topic {text!r} is not of the form ROLE=TOPIC')
        if role not in ROLE_TOPICS and role not in LIVE_TOPICS:
            known = ', '.join([*ROLE_TOPICS, *LIVE_TOPICS])
            raise ValueRangeError(f'--topic {text}: there is no role {role!r}; known are {known}')
        topics[role] = '/' + topic.strip('/')
    return topics


def load_episodes(paths: list[Path], is_quiet: bool, **choice: Any) -> list[Episode]:
    """Returns the episodes of all bags, their metrics recomputed; `choice` is what `read_episodes`
    takes. A bag that cannot be read gives an episode without streams that says why.

    Raises:
        BagError: a path is missing or no bag.
    """
    from frame_ros.episodes.bag_reader import find_bags

    found = [(path, len(find_bags(path))) for path in paths]
    episodes: list[Episode] = []
    for path, total in found:
        bags = read_all(path, **choice)
        episodes += progress_bar(bags, f'reading {path.name}', is_quiet, total)
    return episodes


def read_all(path: Path, **choice: Any) -> Iterator[Episode]:
    """Yields the episodes at a path as `read_episodes` does; a single bag that cannot be read gives
    an episode without streams, as one in a folder of bags does.
    """
    from frame_ros.episodes.data import Episode
    from frame_ros.episodes.reading import read_episodes

    try:
        yield from read_episodes(path, **choice)
    except BagError as error:
        yield Episode(path, path.name, {}, [], {}, {}, problems=[str(error)])


def tell_problems(episodes: Sequence[Episode]) -> None:
    """Prints what is wrong with each bag to standard error, one line each."""
    from frame_ros.reports.episode_check import problems_of

    lines = [
        f'{episode.path.name}: {" ".join(problem.split())}'
        for episode in episodes
        for problem in problems_of(episode)
    ]
    for line in dict.fromkeys(lines):
        print(line, file=sys.stderr)


def _write_json(text: str, target: str) -> None:
    if target == STANDARD_OUTPUT:
        print(text)
        return
    try:
        Path(target).write_text(text + '\n', encoding='utf-8')
    except OSError as error:
        raise SetupError(f'the JSON cannot be written to {target}: {error.strerror}') from error
