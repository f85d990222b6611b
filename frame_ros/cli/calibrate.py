# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros calibrate BAG...`: recalibrators and thresholds from recorded episodes."""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from frame_ros.bags.recording_options import RecordingOptions
from frame_ros.cli.arguments import any_path, given
from frame_ros.cli.metrics import format_table
from frame_ros.cli.progress import progress_bar
from frame_ros.core.option_texts import add_options, from_arguments
from frame_ros.core.options import option, options
from frame_ros.core.output_files import check_file, make_folder, refuse_inputs
from frame_ros.core.plain_text import counted, plain
from frame_ros.evaluation.calibration.options import STATISTICS, CalibrationOptions

if TYPE_CHECKING:
    from frame_ros.confidence.calibration import Estimate
    from frame_ros.confidence.score_episode import ScoreEpisode
    from frame_ros.evaluation.calibration.comparison import Comparison
    from frame_ros.evaluation.calibration.score_table import ScoreRow
    from frame_ros.evaluation.calibration.study import CalibrationStudy

FORMAT = 'frame_ros calibration study 1'
DEFAULT_OUTPUT = 'calibration.json'
PAGE = 'calibration.html'


@options
class CalibrateOptions(CalibrationOptions, RecordingOptions):
    """The calibration and the recordings."""

    title: str = option('', 'heading of the page')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        'bags', nargs='+', metavar='BAG', type=given, help='a bag, or a folder of bags'
    )
    parser.add_argument(
        '-o',
        '--output',
        type=any_path,
        metavar='FILE',
        help=f'the calibration file to write (default: {DEFAULT_OUTPUT})',
    )
    parser.add_argument(
        '--report', type=any_path, metavar='FOLDER', help=f'write the page {PAGE} into this folder'
    )
    parser.add_argument('--json', action='store_true', help='print JSON instead of tables')
    add_options(parser, CalibrateOptions, names={'topics': '--topic'})
    parser.add_argument('-q', '--quiet', action='store_true', help='no progress bar')


def run(args: argparse.Namespace) -> int:
    """Calibrates, prints tables or JSON, and writes the calibration file and the page.

    Raises:
        BagError: a bag is missing or not a bag.
        CalibrationError: no episode can be used, the episodes are of different setups, or the
            recalibrator that is named cannot be fitted; the message says what is needed.
        SetupError: an output cannot be written.
    """
    from frame_ros.bags.find_bags import files_of_bag
    from frame_ros.cli.report.reading import survey_all
    from frame_ros.evaluation.calibration.fitting import fitted_file
    from frame_ros.evaluation.calibration.study import study
    from frame_ros.robots import load_robot

    options = from_arguments(CalibrateOptions, args)
    surveys = survey_all([Path(bag) for bag in args.bags], args.quiet)
    bags = [bag for _, survey in surveys for bag in survey.bags]
    output = check_file(Path(args.output or DEFAULT_OUTPUT), '--output')
    refuse_inputs(output, [file for bag in bags for file in files_of_bag(bag)], '--output')
    choice = options.reading()
    if choice['robot']:
        load_robot(choice['robot'])
    folder = make_folder(Path(args.report), '--report') if args.report else None
    episodes = read_scores(bags, args.quiet, choice)
    found = study(episodes, options)
    saved = fitted_file(found)
    saved.save(output)
    page = None
    if folder is not None:
        from frame_ros.reports.calibration_page import calibration_page
        from frame_ros.reports.html.study_page import write_study_page

        page = write_study_page(calibration_page(found, saved, options.title), folder / PAGE)
    if args.json:
        print(json.dumps(as_data(found), indent=2, allow_nan=False))
    else:
        print(as_text(found))
        print(f'\nthe calibration: {output}')
        if page is not None:
            print(f'the page: {page}')
    return 0


def read_scores(bags: list[Path], is_quiet: bool, choice: dict[str, Any]) -> list[ScoreEpisode]:
    """Returns the episodes of all bags as calibration takes them."""
    from frame_ros.evaluation.read_scores import read_score_episodes

    read = read_score_episodes(bags, os.cpu_count() or 1, **choice)
    return [
        each for of_bag in progress_bar(read, 'reading', is_quiet, len(bags)) for each in of_bag
    ]


def as_data(found: CalibrationStudy) -> dict[str, Any]:
    """Returns a study as plain JSON values, None for what is not available."""
    from frame_ros.reports.model.numbers import json_safe

    given, limits = found.given, found.thresholds
    data: dict[str, Any] = json_safe(
        {
            'format': FORMAT,
            'episodes': len(given),
            'successes': given.successes,
            'failures': given.failures,
            'left_out': [{'episode': name, 'reason': why} for name, why in given.left_out],
            'expected_duration': found.expected_duration,
            'longest_duration': found.longest_duration,
            'saved': found.saved_kind,
            'scores': found.scores,
            'confidences': {row.name: row.metrics for row in found.confidences},
            'aggregates': {row.name: row.metrics for row in found.aggregates},
            'dimensions': found.dimensions,
            'horizon': found.horizon,
            'comparisons': found.comparisons,
            'thresholds': {
                'horizon': {name: each.thresholds for name, each in limits.horizon.items()},
                'guarantees': [attrs.asdict(each) for each in limits.guarantees],
            },
            'notes': found.notes,
        }
    )
    return data


def as_text(found: CalibrationStudy) -> str:
    """Returns a study as tables for a terminal."""
    from frame_ros.reports.calibration_page import headline, verdict

    given = found.given
    counts = (
        f'{counted(len(given), "episode")}: {counted(given.successes, "success")}, '
        f'{counted(given.failures, "failure")}'
    )
    parts = [f'{plain(headline(found))}\n{counts}', *map(plain, verdict(found))]
    if found.aggregates:
        rows: list[tuple[str, ...]] = [('confidence', *STATISTICS)]
        rows += [(each.name, *_cells(each.metrics)) for each in found.aggregates]
        parts.append(f'the confidence of an episode, by aggregate\n{format_table(rows)}')
    parts += [_comparison_text(each) for each in found.comparisons.values()]
    if found.scores:
        areas: list[tuple[str, ...]] = [('score', 'AUROC first', 'mean', 'worst')]
        areas += [_score_cells(each) for each in found.scores if each.auroc or each.is_constant]
        about = (
            'failures against successes (AUROC: 1 separates them, 0.5 is chance; intervals: page)'
        )
        parts.append(f'{about}\n{format_table(areas)}')
    more = [f'not fitted: {name}, {kind}: {why}' for name, kind, why in found.thresholds.refused]
    more += [f'left out: {name}: {why}' for name, why in given.left_out]
    more += [f'note: {note}' for note in found.notes]
    return '\n\n'.join([*parts, *map(plain, more)])


def _comparison_text(comparison: Comparison) -> str:
    from frame_ros.reports.calibration_page import MOMENTS

    rows: list[tuple[str, ...]] = [('recalibrator', 'parameters', *STATISTICS)]
    for each in comparison.candidates:
        cells = _cells(each.metrics) if each.metrics else ('-',) * len(STATISTICS)
        rows.append((each.kind, f'{each.parameters}', *cells))
    refused = [f'{each.kind}: {each.problem}' for each in comparison.candidates if each.problem]
    heading = f'on held-out episodes, {MOMENTS[comparison.moments]}'
    return '\n'.join([heading, format_table(rows), *refused])


def _cells(metrics: Mapping[str, Estimate]) -> tuple[str, ...]:
    return tuple(_number(metrics[name].value) for name in STATISTICS)


def _score_cells(row: ScoreRow) -> tuple[str, ...]:
    if row.is_constant:
        return row.score, 'constant', '-', '-'
    return row.score, *(_number(area.value) for area in row.auroc.values())


def _number(value: float) -> str:
    return f'{value:.3g}' if math.isfinite(value) else '-'
