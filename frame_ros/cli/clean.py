# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros clean [DIR]`: sizes of recorded runs, and their removal."""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from frame_ros.cli.arguments import any_path
from frame_ros.core.errors import SetupError, ValueRangeError
from frame_ros.core.option_texts import add_options, from_arguments
from frame_ros.core.options import option, options

if TYPE_CHECKING:
    from frame_ros.bags.run_folders import Run

AGE = re.compile(r'(\d+(?:\.\d+)?)([mhdw])')
SECONDS = {'m': 60.0, 'h': 3600.0, 'd': 86400.0, 'w': 604800.0}
FAILED = 1


@options
class CleanOptions:
    """Runs to remove."""

    keep: int = option(0, 'number of newest runs that stay', at_least=0)
    age: str = option(
        '', 'remove only runs last written to so long ago: 90m, 12h, 7d, 4w; none: all'
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        'directory',
        nargs='?',
        type=any_path,
        default=Path('runs'),
        metavar='DIR',
        help='folder of runs, or one run (default: runs)',
    )
    add_options(parser, CleanOptions, names={'age': '--older-than'})
    parser.add_argument('--dry-run', action='store_true', help='list the runs, and remove nothing')
    parser.add_argument('-y', '--yes', action='store_true', help='remove without asking')


def run(args: argparse.Namespace) -> int:
    """Lists the runs, asks, and removes those chosen.

    Returns:
        0, or 1 if a run could not be removed.

    Raises:
        BagError: it is not a folder.
        SetupError: input is not a terminal, and --yes is not given.
        ValueRangeError: an age of another form.
    """
    from frame_ros.bags.run_folders import find_runs

    choice = from_arguments(CleanOptions, args)
    oldest = time.time() - age_seconds(choice.age) if choice.age else None
    runs = find_runs(args.directory.expanduser())
    chosen = [
        found
        for place, found in enumerate(runs)
        if place >= choice.keep and (oldest is None or found.changed < oldest)
    ]
    if not runs:
        print(f'no recorded run in {args.directory}')
        return 0
    print_runs(runs, chosen)
    if not chosen or args.dry_run:
        return 0
    if not args.yes and not confirms(len(chosen)):
        print('nothing was removed')
        return 0
    return remove(chosen)


def age_seconds(text: str) -> float:
    """Returns the seconds of an age such as 7d.

    Raises:
        ValueRangeError: it has another form.
    """
    match = AGE.fullmatch(text.strip())
    if match is None:
        raise ValueRangeError(
            f'--older-than is {text!r}; it must be a number of m, h, d or w, such as 7d'
        )
    return float(match[1]) * SECONDS[match[2]]


def print_runs(runs: Sequence[Run], chosen: Sequence[Run]) -> None:
    """Prints a line per run (removed or kept, time, episodes, size, path), and the sums."""
    from frame_ros.core.plain_text import counted, plain

    for found in runs:
        when = time.strftime('%Y-%m-%d %H:%M', time.localtime(found.changed))
        verb = 'remove' if found in chosen else 'keep'
        count = counted(len(found.episodes), 'episode')
        path = plain(str(found.path))
        print(f'{verb:6}  {when}  {count:>12}  {_megabytes(found):>9} MB  {path}')
    whole = sum(found.size for found in runs) / 1e6
    freed = sum(found.size for found in chosen) / 1e6
    sums = f'{whole:,.1f} MB in {counted(len(runs), "run")}'
    print(f'{sums}; to remove: {counted(len(chosen), "run")}, {freed:,.1f} MB')


def confirms(count: int) -> bool:
    """Asks the user whether to remove `count` runs.

    Raises:
        SetupError: input is not a terminal.
    """
    from frame_ros.core.plain_text import counted

    if not sys.stdin.isatty():
        raise SetupError('the input is no terminal: --yes removes without asking, --dry-run lists')
    return input(f'remove {counted(count, "run")}? [y/N] ').strip().lower() in ('y', 'yes')


def remove(chosen: Sequence[Run]) -> int:
    """Removes runs, prints the files that stay, and returns 1 if a run could not be removed."""
    from frame_ros.bags.run_folders import remove_run
    from frame_ros.core.errors import BagError
    from frame_ros.core.plain_text import plain

    code = 0
    for found in chosen:
        try:
            rest = remove_run(found)
        except BagError as error:
            print(plain(str(error)), file=sys.stderr)
            code = FAILED
            continue
        kept = f'; kept files of others: {", ".join(file.name for file in rest)}' if rest else ''
        print(plain(f'removed {found.path}{kept}'))
    return code


def _megabytes(found: Run) -> str:
    return f'{found.size / 1e6:,.1f}'
