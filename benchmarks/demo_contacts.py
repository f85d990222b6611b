# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contacts sensed in demos against the simulator's truth, on a machine with other load.

    python benchmarks/demo_contacts.py [--demos 10] [--busy 2] [--episodes 3] [--robots so101,fr3]
    python benchmarks/demo_contacts.py --bags RUN [RUN ...]     # of runs that are there

Runs `frame-ros demo` again and again with busy loops, and prints per demo the sensed contacts
that truth does not know, sensed collisions that truth knows only as expected contacts, contacts
longer than the true ones by more than 0.1 s, true ones that could have been felt and were not, and
the values in which live and bag differ beyond what the bag explains. Bars: none of the five.
Also counted: contacts on the other side (arm or hand) than in truth, true collisions that
were sensed as expected contacts, true contacts that are too weak or too short for the sensors.

Each finished demo is kept in results.jsonl of --directory, and not run again (what is counted is
part of its key); after a change of the code give another directory. A demo that fails or takes
longer than --timeout is tried again next time.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from parts.bars import Bars, busy_loops, parse

from frame_ros.bags.find_bags import find_bags
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.reading import read_episodes
from frame_ros.episodes.sensed_contacts import sensed_contacts
from frame_ros.episodes.true_contacts import true_contacts
from frame_ros.evaluation.contact_comparison import ContactMatch, Verdict, compared_contacts
from frame_ros.evaluation.missed_contacts import MissedContact, WhyMissed
from frame_ros.reports.parity.comparison import compare_live

STOPPING = 60.0  # s in which an interrupted demo stops its nodes
RESULTS = 'results.jsonl'
BARS = {
    'false': 'contacts that truth does not know',
    'false_collisions': 'collisions that truth knows only as expected contacts',
    'overlong': 'contacts longer than the true ones by more than 0.1 s',
    'missed': 'true contacts that could have been felt and were not',
    'different': 'values in which live and bag differ unexplained',
    'unread': 'episodes without truth or contact events',
}


@dataclass
class Tally:
    """Of several episodes."""

    episodes: int = 0
    sensed: int = 0
    true: int = 0
    unread: int = 0  # those without truth or contact events
    false: int = 0
    false_collisions: int = 0
    other_side: int = 0  # contacts on another side than the true ones
    excused: int = 0  # true collisions sensed as expected contacts
    overlong: int = 0
    missed: int = 0
    too_weak: int = 0  # true contacts that the sensors do not feel
    too_short: int = 0  # true contacts that the sensors do not feel
    different: int = 0
    seconds: float = 0.0  # that the demo took
    lines: list[str] = field(default_factory=list)


def main() -> int:
    """Runs the demos and prints a line for each; 1 if a bar is not met or a demo failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--demos', type=int, default=10, help='of each robot')
    parser.add_argument('--busy', type=int, default=2, help='busy loops at the same time')
    parser.add_argument('--episodes', type=int, default=3)
    parser.add_argument('--robots', default='so101,fr3')
    parser.add_argument('--quality', default='', help="of the policy; default: the demo's")
    parser.add_argument('--directory', type=Path, default=Path('runs/demo_contacts'))
    parser.add_argument('--timeout', type=float, default=1800.0, help='s that one demo may take')
    parser.add_argument('--bags', type=Path, nargs='+', default=[], help='compare these, run none')
    args = parse(parser, demos=1, busy=0, episodes=1, robots='so101')
    failed, tallies = 0, [report(folder) for folder in args.bags]
    kept = {} if args.short else read_results(args.directory / RESULTS)
    for robot in [] if args.bags else args.robots.split(','):
        for number in range(args.demos):
            tally = demo(robot, number, args, kept)
            failed += tally is None
            tallies += [] if tally is None else [tally]
    bars = Bars(args)
    for name, text in BARS.items():
        bars.at_most(text, total(tallies, name), 0)
    print(
        f'{len(tallies)} runs, {total(tallies, "episodes")} episodes: {total(tallies, "sensed")} '
        f'contacts sensed, {total(tallies, "other_side")} of them on the other side than the true '
        f'ones; of {total(tallies, "true")} true ones {total(tallies, "too_weak")} too weak and '
        f'{total(tallies, "too_short")} too short for the sensors, and {total(tallies, "excused")} '
        'collisions sensed as expected contacts'
    )
    empty = sum(not tally.episodes for tally in tallies)
    if failed or empty or not tallies:
        print(f'demos that failed: {failed}; without an episode: {empty}', file=sys.stderr)
        return 1
    return bars.exit_status()


def total(tallies: Sequence[Tally], name: str) -> int:
    """The sum of a count."""
    return sum(getattr(tally, name) for tally in tallies)


def demo(robot: str, number: int, args: argparse.Namespace, kept: dict[str, Tally]) -> Tally | None:
    """Of one demo: as kept, or run now and kept from then on. None: it failed."""
    folder = args.directory / f'{robot}-{number:02d}'
    settings = {
        'robot': robot, 'number': number, 'busy': args.busy, 'episodes': args.episodes,
        'quality': args.quality, 'counted': [each.name for each in fields(Tally)],
    }  # fmt: skip
    key = json.dumps(settings, sort_keys=True)
    if key in kept:
        show(folder, kept[key], 'kept')
        return kept[key]
    # Of a demo that was interrupted.
    shutil.rmtree(folder, ignore_errors=True)
    begin = time.monotonic()
    if not run_demo(folder, robot, args):
        return None
    seconds = time.monotonic() - begin
    tally = report(folder, seconds)
    if tally.episodes and not args.short:
        with (args.directory / RESULTS).open('a', encoding='utf-8') as file:
            file.write(json.dumps({'settings': settings, 'tally': asdict(tally)}) + '\n')
    return tally


def read_results(path: Path) -> dict[str, Tally]:
    """Settings as JSON -> tally, of the demos that have ended; a line that was cut is left out."""
    found = {}
    for line in path.read_text(encoding='utf-8').splitlines() if path.is_file() else ():
        try:
            row = json.loads(line)
            found[json.dumps(row['settings'], sort_keys=True)] = Tally(**row['tally'])
        except (ValueError, KeyError, TypeError):
            print(f'{path}: a line is no result and is left out', file=sys.stderr)
    return found


def run_demo(folder: Path, robot: str, args: argparse.Namespace) -> bool:
    """Returns whether the demo ended well."""
    command = ['frame-ros', 'demo', '--robot', robot, '--episodes', str(args.episodes),
               '--no-report', '--directory', str(folder)]  # fmt: skip
    command += ['--quality', args.quality] if args.quality else []
    folder.parent.mkdir(parents=True, exist_ok=True)
    log = folder.with_suffix('.log')
    with busy_loops(args.busy), log.open('wb') as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        try:
            status: int | str = process.wait(args.timeout)
        except subprocess.TimeoutExpired:
            status = f'nothing after {args.timeout:g} s'
        finally:
            stop(process)
    if status:
        print(f'{folder}: the demo ended with {status}; see {log}', file=sys.stderr)
    return status == 0


def stop(process: subprocess.Popen[bytes]) -> None:
    """Interrupts it, so that it stops its nodes; kills it if it does not."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(STOPPING)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def report(folder: Path, seconds: float = 0.0) -> Tally:
    """Prints and returns what the bags of one demo hold. seconds: that it took."""
    tally = Tally(seconds=seconds)
    for bag in sorted(find_bags(folder)):
        for episode in read_episodes(bag):
            _add(tally, episode)
    show(folder, tally, f'{seconds:.0f} s' if seconds else '')
    return tally


def show(folder: Path, tally: Tally, note: str) -> None:
    """Prints what one demo gave."""
    print(
        f'{folder}{note and f" ({note})"}: {tally.episodes} episodes, {tally.sensed} contacts '
        f'sensed, {tally.true} true; false {tally.false}, false collisions '
        f'{tally.false_collisions}, overlong {tally.overlong}, missed {tally.missed}, other side '
        f'{tally.other_side}, collisions excused {tally.excused}, too weak {tally.too_weak}, too '
        f'short {tally.too_short}; live and bag differ in {tally.different} values; without truth '
        f'or events {tally.unread}',
        *tally.lines,
        sep='\n    ',
        flush=True,
    )


def _add(tally: Tally, episode: Episode) -> None:
    tally.episodes += 1
    tally.different += sum(row.differences for row in compare_live(episode))
    bag = episode.open_bag()
    sensed, truth = sensed_contacts(episode, bag), true_contacts(episode, bag)
    states = episode.streams.get('contact')
    is_touched = states is None or bool(states.values['in_contact'].any())
    # Where nothing was sensed there is no event, and no topic of events in the bag.
    if truth is None or (sensed.contacts is None and is_touched):
        tally.unread += 1
        return
    found = compared_contacts(episode, bag)
    if found is None:
        tally.unread += 1
        return
    tally.sensed += len(found.matches)
    tally.true += len(truth.contacts)
    tally.false += len(found.false)
    tally.false_collisions += len(found.false_collisions)
    tally.other_side += len(found.of(Verdict.OTHER_SIDE))
    tally.excused += len(found.excused)
    tally.overlong += len(found.overlong)
    tally.missed += len(found.missed)
    tally.too_weak += sum(each.why is WhyMissed.TOO_WEAK for each in found.unsensed)
    tally.too_short += sum(each.why is WhyMissed.TOO_SHORT for each in found.unsensed)
    for verdict in Verdict:
        if verdict is not Verdict.KNOWN:
            tally.lines += _lines(str(verdict), found.of(verdict), sensed.begin)
    tally.lines += [_unsensed('excused', each, sensed.begin) for each in found.excused]
    tally.lines += [_unsensed(str(each.why), each, sensed.begin) for each in found.unsensed]


def _lines(what: str, matches: Sequence[ContactMatch], begin: int) -> list[str]:
    return [
        f'{what}: {(match.sensed.begin - begin) / 1e9:.2f} s, {match.sensed.duration:.2f} s long '
        f'({match.excess:.2f} s more than truth), {match.sensed.link or "link not known"}, '
        f'{match.sensed.source.name.lower()}, peak {match.sensed.peak_force:.1f} N, true net force '
        f'{match.true_force:.1f} N, {match.sensed.reason}'
        for match in matches
    ]


def _unsensed(what: str, missed: MissedContact, begin: int) -> str:
    true = missed.true
    return (
        f'{what}: {(true.begin - begin) / 1e9:.2f} s, {true.duration:.2f} s long, '
        f'{true.link} on {true.other}, {"expected" if true.is_expected else "unexpected"}, '
        f'presses with {true.peak_force:.1f} N; net force {missed.net_force:.2f} N, '
        f'{missed.lasting_force:.2f} N for {missed.response_time:.3f} s, where '
        f'{missed.threshold:.2f} N are felt'
    )


if __name__ == '__main__':
    sys.exit(main())
