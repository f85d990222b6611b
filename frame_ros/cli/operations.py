# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros operations BAG...`: operations of episodes by events, gripper and operator; review."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frame_ros.bags.recording_options import RecordingOptions
from frame_ros.cli.arguments import any_path, given
from frame_ros.cli.metrics import format_table
from frame_ros.core.errors import BagError, FrameRosError, ValueRangeError
from frame_ros.core.option_texts import add_options, from_arguments
from frame_ros.core.plain_text import counted, plain
from frame_ros.evaluation.operations.detector_options import DetectorOptions
from frame_ros.evaluation.operations.options import OperationOptions

if TYPE_CHECKING:
    from frame_ros.episodes.episode import Episode
    from frame_ros.evaluation.operations.label_streams import LabelStreams

HEAD = (
    'episode', 's', 'events', 'detected', 'undecided', 'reviewed', 'operator', 'failures', 'agree'
)  # fmt: skip
FAILURE_HEAD = (
    'policy', 'episodes', 'operations', 'drops', 'other failures', 'safety stops', 'timeouts',
    'stopped',
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        'bags', nargs='+', metavar='BAG', type=given, help='a bag, or a folder of bags'
    )
    parser.add_argument(
        '--zones', type=given, metavar='FILE', help='YAML file of target, source and workspace'
    )
    parser.add_argument(
        '--review',
        type=any_path,
        metavar='FILE',
        help='CSV file to write: candidates of the episodes that disagree, to be reviewed',
    )
    parser.add_argument(
        '--reviewed', type=given, metavar='FILE', help='such a file, after it was edited'
    )
    parser.add_argument('--all', action='store_true', help='review the episodes that agree, too')
    parser.add_argument(
        '--outcomes',
        type=any_path,
        metavar='FILE',
        help='CSV file of outcomes to write, which `frame-ros compare` reads',
    )
    parser.add_argument(
        '--labels',
        choices=('chosen', 'events', 'detected', 'reviewed'),
        default='chosen',
        help='operations of --outcomes: of one source, or the best of each episode (default)',
    )
    parser.add_argument('--json', action='store_true', help='print JSON instead of tables')
    add_options(parser, OperationOptions)
    add_options(parser, DetectorOptions)
    add_options(parser, RecordingOptions, names={'topics': '--topic'})
    parser.add_argument('-q', '--quiet', action='store_true', help='no progress bar')


def run(args: argparse.Namespace) -> int:
    """Prints the operations of every episode, and writes or reads a review.

    Raises:
        BagError: a bag is missing, or none holds an episode.
        RobotError: there is no such robot.
        SetupError: zones or a review cannot be read, or the review cannot be written.
        ValueRangeError: a line of the review is wrong, or names an episode that is not there.
    """
    from frame_ros.bags.find_bags import files_of_bag
    from frame_ros.cli.report.reading import survey_all
    from frame_ros.core.output_files import check_file, refuse_inputs
    from frame_ros.episodes.copies import each_once
    from frame_ros.evaluation.operations.label_streams import label_streams
    from frame_ros.evaluation.operations.review import key_of, read_review, write_review
    from frame_ros.evaluation.operations.zones import read_zones
    from frame_ros.robots import load_robot

    choice = from_arguments(RecordingOptions, args).reading()
    if choice['robot']:
        load_robot(choice['robot'])
    options = from_arguments(OperationOptions, args)
    detector = from_arguments(DetectorOptions, args)
    zones = read_zones(args.zones) if args.zones else ()
    reviewed = read_review(args.reviewed) if args.reviewed else {}
    bags = [bag for _, surveyed in survey_all([Path(b) for b in args.bags], args.quiet)
            for bag in surveyed.bags]  # fmt: skip
    output = check_file(args.review, '--review') if args.review else None
    table = check_file(args.outcomes, '--outcomes') if args.outcomes else None
    inputs = [Path(f).expanduser() for f in (args.reviewed, args.zones) if f]
    inputs += [file for bag in bags for file in files_of_bag(bag)]
    for file, name in ((output, '--review'), (table, '--outcomes')):
        if file is not None:
            refuse_inputs(file, inputs, name)
    episodes, problems = _episodes(bags, choice, args.quiet)
    if not episodes:
        raise BagError(
            f'none of {counted(len(bags), "bag")} holds an episode that can be read: {problems[0]}'
        )
    episodes, copies = each_once(episodes)
    _check_names(args.reviewed, reviewed, [key_of(episode) for episode in episodes])
    streams = [label_streams(each, reviewed, zones, options, detector) for each in episodes]
    if args.json:
        print(json.dumps(as_data(streams, problems), indent=2, allow_nan=False))
    else:
        print(
            '\n\n'.join([as_text(streams, problems), *(plain(f'note: {each}') for each in copies)])
        )
    if table is not None:
        said = write_outcomes(streams, table, args.labels)
        print(said, file=sys.stderr if args.json else sys.stdout)
    if output is not None:
        chosen = [each for each in streams if args.all or not each.has_agreed]
        count = write_review(output, ((s.episode, s.detection.candidates) for s in chosen))
        if not args.json:
            rows, of = counted(count, 'row'), counted(len(chosen), 'episode')
            print(f'\n{rows} of {of} to review: {output}')
    return 0


def write_outcomes(streams: Sequence[LabelStreams], path: Path, labels: str) -> str:
    """Writes the outcomes of episodes by one source of labels; returns how many there were.

    Raises:
        SetupError: the file cannot be written.
        ValueRangeError: no episode has such labels.
    """
    from frame_ros.evaluation.operations.label_streams import Labels
    from frame_ros.evaluation.operations.stream_outcomes import stream_outcomes
    from frame_ros.evaluation.outcomes.csv_writing import write_outcomes_csv

    outcomes = stream_outcomes(streams, Labels(labels))  # type: ignore[call-arg]
    if not outcomes:
        raise ValueRangeError(
            f'none of {counted(len(streams), "episode")} has labels of the kind {labels}'
        )
    write_outcomes_csv(outcomes, path)
    left_out = len(streams) - len(outcomes)
    more = f'; left out: {counted(left_out, "episode")} without such labels' if left_out else ''
    return f'\noutcomes of {counted(len(outcomes), "episode")}: {path}{more}'


def _episodes(
    bags: Sequence[Path], choice: Mapping[str, Any], is_quiet: bool
) -> tuple[list[Episode], list[str]]:
    """Returns the episodes of bags, without their metrics, and why others could not be read."""
    from frame_ros.bags.reader import Bag
    from frame_ros.cli.progress import progress_bar
    from frame_ros.episodes.reading import read_bag

    def parts() -> Iterable[list[Episode]]:
        for path in bags:
            try:
                yield read_bag(Bag(path), **choice)
            except (FrameRosError, OSError) as error:
                problems.append(str(error))
                yield []

    problems: list[str] = []
    found = [e for part in progress_bar(parts(), 'reading', is_quiet, len(bags)) for e in part]
    return found, problems or ['there is none']


def _check_names(
    path: str | None, reviewed: Mapping[tuple[str, str], Any], known: Sequence[tuple[str, str]]
) -> None:
    for key, each in reviewed.items():
        if known.count(key) > 1:
            raise ValueRangeError(
                f'{path}, line {each.lines[0]}: {known.count(key)} of the bags given are called '
                f'{key[0]} and hold an episode {key[1]}: give them one at a time'
            )
        if key not in known:
            raise ValueRangeError(
                f'{path}, line {each.lines[0]}: the bags given hold no episode {key[1]!r} in a bag '
                f'{key[0]!r}'
            )


def as_text(streams: Sequence[LabelStreams], problems: Sequence[str]) -> str:
    """Returns the operations as tables for a terminal."""
    parts = [format_table([HEAD, *map(_row, streams)]), format_table(_failure_rows(streams))]
    agreed = [each.has_agreed for each in streams]
    known = [each for each in agreed if each is not None]
    if known:
        parts.append(
            f'the detector agrees with the expected successes in {sum(known)} of {len(known)} '
            f'episodes; {len(agreed) - len(known)} more cannot be compared'
        )
    for each in streams:
        if each.has_agreed is False or each.detection.problem:
            parts.append('\n'.join(map(plain, _disagreement(each))))
    notes = [f'note: {e.episode.episode_id}: {n}' for e in streams for n in _notes(e)]
    notes += [f'not read: {each}' for each in problems if each != 'there is none']
    return '\n\n'.join([*parts, *(['\n'.join(map(plain, notes))] if notes else [])])


def _row(each: LabelStreams) -> tuple[str, ...]:
    from frame_ros.evaluation.operations.candidates import Verdict

    chosen = each.chosen
    ghosts = sum(operation.is_ghost for operation in chosen.operations)
    operator = chosen.operator_count
    return (
        each.episode.episode_id,
        f'{chosen.duration:.1f}',
        *(str(s.successes) if s else '-' for s in (each.events, each.automatic)),
        str(each.detection.count(Verdict.UNKNOWN)) if each.automatic else '-',
        str(each.reviewed.successes) if each.reviewed else '-',
        '-' if operator is None else str(operator),
        str(ghosts),
        {True: 'yes', False: 'no', None: '-'}[each.has_agreed],
    )


def _failure_rows(streams: Sequence[LabelStreams]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [FAILURE_HEAD]
    for policy, counts in _failures(streams).items():
        rows.append(
            (
                policy, str(counts.episodes), str(counts.operations),
                _rate(counts.drops, counts.drop_rate),
                _rate(counts.failures, counts.failure_rate),
                _rate(counts.safety_stops, counts.safety_stop_rate),
                _rate(counts.timeouts, counts.timeout_rate), str(counts.stopped),
            )
        )  # fmt: skip
    return rows


def _failures(streams: Sequence[LabelStreams]) -> dict[str, Any]:
    from frame_ros.evaluation.operations.failures import failure_counts
    from frame_ros.evaluation.policy_labels import policy_labels

    groups: dict[str, list[Any]] = {}
    for name, each in zip(policy_labels([s.episode for s in streams]), streams):
        groups.setdefault(name, []).append(each.chosen.operations)
    return {name: failure_counts(group) for name, group in groups.items()}


def _rate(count: int, share: float) -> str:
    return f'{count} ({share:.1%})' if share == share else '-'


def _disagreement(each: LabelStreams) -> list[str]:
    if each.detection.problem:
        return [f'{each.episode.episode_id}: not detected: {each.detection.problem}']
    found = each.automatic.successes if each.automatic else 0
    lines = [
        f'{each.episode.episode_id} disagrees: {counted(found, "success")} detected, '
        f'{each.expected} expected'
    ]
    for candidate in each.detection.candidates:
        lines.append(
            f'  {candidate.time:7.2f} s  {candidate.kind:<7}  {candidate.verdict:<7}  '
            f'{candidate.reason}'
        )
    return lines


def _notes(each: LabelStreams) -> list[str]:
    sources = (each.events, each.automatic, each.reviewed)
    notes = [note for source in sources if source is not None for note in source.notes]
    return list(dict.fromkeys([*notes, *each.detection.notes]))


def as_data(streams: Sequence[LabelStreams], problems: Sequence[str]) -> dict[str, Any]:
    """Returns the same as JSON takes it; times in s."""
    return {
        'episodes': [_episode_data(each) for each in streams],
        'failures': {name: vars(counts) for name, counts in _failures(streams).items()},
        'unread': [each for each in problems if each != 'there is none'],
    }


def _episode_data(each: LabelStreams) -> dict[str, Any]:
    sources = {'events': each.events, 'detected': each.automatic, 'reviewed': each.reviewed}
    return {
        'bag': str(each.episode.path),
        'episode': each.episode.episode_id,
        'duration': each.chosen.duration,
        'operations': {
            name: [
                {'begin': o.begin, 'end': o.end, 'ending': o.ending.value}
                for o in source.operations
            ]
            for name, source in sources.items()
            if source is not None
        },
        'chosen': each.chosen.label_source.value,
        'candidates': [
            {'time': c.time, 'kind': c.kind.value, 'verdict': c.verdict.value, 'reason': c.reason}
            for c in each.detection.candidates
        ],
        'operator_count': each.chosen.operator_count,
        'expected': each.expected,
        'agrees': each.has_agreed,
        'interventions': each.chosen.interventions,
        'problem': each.detection.problem,
        'notes': _notes(each),
    }
