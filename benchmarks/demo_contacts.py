# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What demos sense of contact beside what the simulator knows, on a machine with other load.

    python benchmarks/demo_contacts.py [--demos 10] [--busy 2] [--episodes 3] [--robots so101,fr3]
    python benchmarks/demo_contacts.py --bags RUN [RUN ...]     # of runs that are there

Runs `frame-ros demo` again and again beside busy loops, and prints per demo the sensed contacts
that truth does not know, those longer than the true ones by more than 0.1 s, and the values in
which live and bag differ beyond what the bag explains. Bars: none of the three.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bars import Bars, parse

from frame_ros.episodes.data import Episode
from frame_ros.episodes.reading import read_episodes
from frame_ros.episodes.recordings import find_bags
from frame_ros.episodes.sensed_contacts import sensed_contacts
from frame_ros.episodes.true_contacts import true_contacts
from frame_ros.evaluation.contact_comparison import ContactMatch, compare_contacts
from frame_ros.reports.parity import compare_live
from frame_ros.reports.source import open_bag

BUSY = 'while True: pass'
ATTEMPT = 600.0  # s that one demo may take
BARS = {
    'false': 'contacts that truth does not know',
    'overlong': 'contacts longer than the true ones by more than 0.1 s',
    'different': 'values in which live and bag differ unexplained',
    'unread': 'episodes without truth or contact events',
}


@dataclass
class Tally:
    """Of several episodes. unread: those without truth or contact events."""

    episodes: int = 0
    sensed: int = 0
    true: int = 0
    unread: int = 0
    false: int = 0
    overlong: int = 0
    different: int = 0
    lines: list[str] = field(default_factory=list)


def main() -> int:
    """Runs the demos and prints a line for each; 1 if a bar is not met or a demo failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--demos', type=int, default=10, help='of each robot')
    parser.add_argument('--busy', type=int, default=2, help='busy loops beside them')
    parser.add_argument('--episodes', type=int, default=3)
    parser.add_argument('--robots', default='so101,fr3')
    parser.add_argument('--quality', default='', help="of the policy; default: the demo's")
    parser.add_argument('--directory', type=Path, default=Path('runs/demo_contacts'))
    parser.add_argument('--bags', type=Path, nargs='+', default=[], help='compare these, run none')
    args = parse(parser, demos=1, busy=0, episodes=1, robots='so101')
    failed, tallies = 0, [report(folder) for folder in args.bags]
    for robot in [] if args.bags else args.robots.split(','):
        for number in range(args.demos):
            folder = args.directory / f'{robot}-{number:02d}'
            if run_demo(folder, robot, args):
                tallies.append(report(folder))
            else:
                failed += 1
    bars = Bars(args)
    for name, text in BARS.items():
        bars.at_most(text, sum(getattr(tally, name) for tally in tallies), 0)
    empty = sum(not tally.episodes for tally in tallies)
    if failed or empty or not tallies:
        print(f'demos that failed: {failed}; without an episode: {empty}', file=sys.stderr)
        return 1
    return bars.exit_status()


def run_demo(folder: Path, robot: str, args: argparse.Namespace) -> bool:
    """Whether the demo ended well."""
    command = ['frame-ros', 'demo', '--robot', robot, '--episodes', str(args.episodes),
               '--no-report', '--directory', str(folder)]  # fmt: skip
    command += ['--quality', args.quality] if args.quality else []
    with busy_loops(args.busy):
        done = subprocess.run(command, stdout=subprocess.DEVNULL, timeout=ATTEMPT, check=False)
    if done.returncode:
        print(f'{folder}: the demo ended with {done.returncode}', file=sys.stderr)
    return done.returncode == 0


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """So many processes that do nothing, as hard as they can."""
    loops = [subprocess.Popen([sys.executable, '-c', BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def report(folder: Path) -> Tally:
    """Prints and returns what the bags of one demo hold."""
    tally = Tally()
    for bag in sorted(find_bags(folder)):
        for episode in read_episodes(bag):
            _add(tally, episode)
    print(
        f'{folder}: {tally.episodes} episodes, {tally.sensed} contacts sensed, {tally.true} true; '
        f'false {tally.false}, overlong {tally.overlong}, live and bag differ in {tally.different} '
        f'values; without truth or events {tally.unread}',
        *tally.lines,
        sep='\n    ',
        flush=True,
    )
    return tally


def _add(tally: Tally, episode: Episode) -> None:
    tally.episodes += 1
    tally.different += sum(row.differences for row in compare_live(episode))
    bag = open_bag(episode)
    sensed, truth = sensed_contacts(episode, bag), true_contacts(episode, bag)
    states = episode.streams.get('contact')
    is_touched = states is None or bool(states.values['in_contact'].any())
    # Where nothing was sensed there is no event, and no topic of events in the bag.
    if truth is None or (sensed.contacts is None and is_touched):
        tally.unread += 1
        return
    found = compare_contacts(sensed.contacts or (), truth)
    tally.sensed += len(found.matches)
    tally.true += len(truth.contacts)
    tally.false += len(found.false)
    tally.overlong += len(found.overlong)
    tally.lines += _lines('false', found.false, sensed.begin)
    tally.lines += _lines('overlong', found.overlong, sensed.begin)


def _lines(what: str, matches: Sequence[ContactMatch], begin: int) -> list[str]:
    return [
        f'{what}: {(match.sensed.begin - begin) / 1e9:.2f} s, {match.sensed.duration:.2f} s long '
        f'({match.excess:.2f} s more than truth), {match.sensed.link or "link not known"}, '
        f'{match.sensed.source.name.lower()}, peak {match.sensed.peak_force:.1f} N, true net force '
        f'{match.true_force:.1f} N, {match.sensed.reason}'
        for match in matches
    ]


if __name__ == '__main__':
    sys.exit(main())
