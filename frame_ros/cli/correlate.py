# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros correlate LABELS.csv BAG...`: human labels of quality against metrics."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

from frame_ros.bags.recording_options import RecordingOptions
from frame_ros.cli.arguments import any_path, given
from frame_ros.cli.metrics import format_table
from frame_ros.core.errors import BagError
from frame_ros.core.option_texts import add_options, from_arguments
from frame_ros.core.options import option, options
from frame_ros.core.plain_text import counted, plain
from frame_ros.evaluation.discrimination.options import StudyOptions

if TYPE_CHECKING:
    from frame_ros.evaluation.discrimination.study import Study

DEFAULT_OUTPUT = 'discrimination.html'
NAMES = ('high', 'medium', 'low')


@options
class CorrelateOptions(StudyOptions, RecordingOptions):
    """The labels and the recordings."""

    title: str = option('', 'heading of the page')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        'labels',
        metavar='LABELS',
        type=given,
        help='a CSV file with the columns episode (id, or bag), label (high, medium, low, failed, '
        'excluded), and possibly rater',
    )
    parser.add_argument(
        'bags', nargs='+', metavar='BAG', type=given, help='a bag, or a folder of bags'
    )
    parser.add_argument(
        '-o',
        '--output',
        type=any_path,
        metavar='FILE',
        help=f'the page to write (default: {DEFAULT_OUTPUT})',
    )
    parser.add_argument(
        '--json', action='store_true', help='print JSON instead of tables; no page unless -o'
    )
    add_options(parser, CorrelateOptions, names={'topics': '--topic'})
    parser.add_argument('-q', '--quiet', action='store_true', help='no progress bar')


def run(args: argparse.Namespace) -> int:
    """Compares labels with metrics, prints tables or JSON, and writes the page.

    Raises:
        BagError: a bag is missing, or none holds an episode.
        SetupError: the labels cannot be read, or the page cannot be written.
        ValueRangeError: a label or a metric is unknown, or no labelled episode was read.
    """
    from frame_ros.bags.find_bags import files_of_bag
    from frame_ros.cli.report.reading import load_episodes, survey_all
    from frame_ros.core.output_files import check_file, refuse_inputs
    from frame_ros.episodes.copies import copy_remarks, with_copies
    from frame_ros.evaluation.discrimination.labels import read_labels
    from frame_ros.evaluation.discrimination.overhead import inference_times, metric_times
    from frame_ros.evaluation.discrimination.study import discrimination_study
    from frame_ros.reports.discrimination_page import study_data, study_page
    from frame_ros.reports.html.study_page import write_study_page
    from frame_ros.robots import load_robot

    options = from_arguments(CorrelateOptions, args)
    ratings = read_labels(args.labels)
    surveys = survey_all([Path(bag) for bag in args.bags], args.quiet)
    output = None if args.json and args.output is None else Path(args.output or DEFAULT_OUTPUT)
    if output is not None:
        output = check_file(output, '--output')
        files = [file for _, s in surveys for bag in s.bags for file in files_of_bag(bag)]
        refuse_inputs(output, [Path(args.labels), *files], '-o')
    choice = options.reading()
    if choice['robot']:
        load_robot(choice['robot'])
    episodes = load_episodes(surveys, args.quiet, **choice)
    unread = [episode for episode in episodes if not episode.streams]
    episodes = [episode for episode in episodes if episode.streams]
    if not episodes:
        raise BagError(f'none of {counted(len(unread), "bag")} holds an episode that can be read')
    episodes, copies = with_copies(episodes)
    study = discrimination_study(episodes, ratings, options, copies)
    study.remarks.extend(copy_remarks(episodes, copies))
    study.remarks.extend(f'{each.path.name}: {"; ".join(each.problems)}' for each in unread)
    times, costs = inference_times(episodes), metric_times(episodes)
    if args.json:
        print(json.dumps(study_data(study, times, costs), indent=2, allow_nan=False))
    else:
        print(as_text(study))
    if output is not None:
        page = write_study_page(study_page(study, times, costs, options.title), output)
        if not args.json:
            print(f'\nthe page: {page}')
    return 0


def as_text(study: Study) -> str:
    """Returns the study as tables for a terminal."""
    from frame_ros.reports.discrimination_page import headline

    parts = [plain(headline(study)), format_table(_group_rows(study))]
    for place, group in enumerate(study.groups):
        parts.append(f'{plain(group.name)}\n{format_table(_metric_rows(study, place))}')
    parts.append(
        "* p < 0.05 after Holm's adjustment for the number of correlations, or of comparisons with "
        'failures, of all groups; p is not adjusted'
    )
    parts += [
        plain(
            f'raters {a.first or "-"} and {a.second or "-"}: kappa {_number(a.kappa)} over '
            f'{counted(a.episodes, "episode")}'
        )
        for a in study.agreements
    ]
    parts += [
        plain(f'left out, {group.name}: {len(places)}: {why}')
        for group in study.groups
        for why, places in group.left_out.items()
    ]
    parts += [plain(f'note: {remark}') for remark in study.remarks]
    return '\n\n'.join(parts)


def _group_rows(study: Study) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        (
            'task',
            'policy',
            'episodes',
            'high',
            'medium',
            'low',
            'unlabelled',
            'failures',
            'left out',
        )
    ]
    for group in study.groups:
        left_out = sum(map(len, group.left_out.values()))
        counts = (*map(len, group.levels.values()), len(group.unlabelled), len(group.failures))
        rows.append((group.task, group.policy, *map(str, (group.episodes, *counts, left_out))))
    return rows


def _metric_rows(study: Study, place: int) -> list[tuple[str, ...]]:
    """Returns the metrics of one group that have a correlation or an effect."""
    from frame_ros.evaluation.discrimination.study import LEVEL

    rows: list[tuple[str, ...]] = [
        ('metric', 'rho', 'p', 'strength', *(f'A12 {name}' for name in NAMES))
    ]
    effects = {(row.metric, row.level): row for row in study.effects if row.group == place}
    for row in (each for each in study.correlations if each.group == place):
        own = [effects[row.metric, level] for level in study.groups[place].levels]
        cells = [_number(e.a12) + ('*' if e.p_holm < LEVEL else '') for e in own]
        if math.isfinite(row.rho) or any(math.isfinite(e.a12) for e in own):
            star = '*' if row.p_holm < LEVEL else ''
            found = (_number(row.rho) + star, _number(row.p), row.strength or '-')
            rows.append((row.metric, *found, *cells))
    return rows


def _number(value: float) -> str:
    return f'{value:.3g}' if math.isfinite(value) else '-'
