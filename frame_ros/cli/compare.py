# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros compare PATH...`: the better policy, and how sure that is."""

from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from frame_ros.cli.arguments import any_path, given
from frame_ros.cli.metrics import format_table
from frame_ros.core.errors import ValueRangeError
from frame_ros.core.option_texts import add_options, from_arguments
from frame_ros.core.options import option, options
from frame_ros.core.plain_text import plain
from frame_ros.evaluation.outcomes.options import OutcomeOptions
from frame_ros.evaluation.outcomes.selection import SelectionOptions
from frame_ros.evaluation.policy_comparison.options import ComparisonOptions

if TYPE_CHECKING:
    from frame_ros.evaluation.outcomes.outcome_set import OutcomeSet
    from frame_ros.evaluation.policy_comparison.study import CellRow, Study

DEFAULT_OUTPUT = 'comparison.html'
UNREAD = 1
MOST_LINES = 10
# Scores in the table of the terminal; all are in the page and in JSON.
SHOWN = ('hrt', 'rmst', 'median', 'completion', 'mtbf_a', 'auc', 'success_rate', 'stage_credit')


@options
class CompareOptions(ComparisonOptions, SelectionOptions, OutcomeOptions):
    """The recordings and the comparison."""

    title: str = option('', 'heading of the page')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        'paths',
        nargs='+',
        metavar='PATH',
        type=given,
        help='a bag, a folder of bags, eval_info.json of lerobot-eval, or a CSV file of outcomes; '
        'LABEL=PATH names the policy of all its episodes',
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
    add_options(parser, CompareOptions)
    parser.add_argument('-q', '--quiet', action='store_true', help='no progress bar')


def run(args: argparse.Namespace) -> int:
    """Compares the policies, prints tables or JSON, and writes the page; returns the exit status of
    the verdict, or 0 if no pair was asked for; 1 if then a bag could not be read.

    Raises:
        BagError: a path is missing, or holds nothing that can be read.
        SetupError: a file cannot be read, or the page cannot be written.
        ValueRangeError: there is no outcome of a policy, or an option names none.
    """
    from frame_ros.core.output_files import check_file, refuse_inputs
    from frame_ros.evaluation.policy_comparison.comparison import compare_policies
    from frame_ros.reports.comparison.data import comparison_data
    from frame_ros.reports.comparison_page import comparison_page
    from frame_ros.reports.html.study_page import write_study_page

    choice = from_arguments(CompareOptions, args)
    output = None if args.json and args.output is None else Path(args.output or DEFAULT_OUTPUT)
    if output is not None:
        output = check_file(output, '--output')
        refuse_inputs(output, _inputs(args.paths), '-o')
    outcomes = _read(args.paths, choice, args.quiet)
    study = compare_policies(outcomes, choice)
    if args.json:
        print(json.dumps(comparison_data(study), indent=2, allow_nan=False))
    else:
        print(as_text(study))
    if output is not None:
        page = comparison_page(study, choice.title, output.parent)
        write_study_page(page, output)
        if not args.json:
            print(f'\nthe page: {output}')
    return exit_status(study, bool(outcomes.unread))


def exit_status(study: Study, is_unread: bool) -> int:
    """Returns the exit status of a study: that of the verdict on the pair that was asked for."""
    if study.verdict is not None:
        return study.verdict[2].verdict.exit_status
    return UNREAD if is_unread else 0


def _inputs(paths: list[str]) -> list[Path]:
    """Returns the files among the arguments, also of LABEL=PATH, and those of their bags."""
    from frame_ros.bags.find_bags import files_of_bag
    from frame_ros.cli.report.outputs import bags_at

    given = [text for each in paths for text in (each, each.partition('=')[2])]
    candidates = [text for text in given if text and Path(text).exists()]
    files = [Path(text) for text in candidates if Path(text).is_file()]
    return [*files, *(file for bag in bags_at(candidates) for file in files_of_bag(bag))]


def _read(paths: list[str], choice: CompareOptions, is_quiet: bool) -> OutcomeSet:
    """Returns the outcomes, with a bar while bags are read.

    Raises:
        BagError, SetupError, ValueRangeError: as `read_outcomes`; or none holds an outcome.
    """
    from frame_ros.evaluation.outcomes.giving import how_to_give
    from frame_ros.evaluation.outcomes.reading import read_outcomes
    from frame_ros.evaluation.outcomes.selection import selected

    bar = None
    if not is_quiet and sys.stderr.isatty():
        from tqdm import tqdm

        bar = tqdm(desc='bags', file=sys.stderr, leave=False)

    def progress(count: int, total: int) -> None:
        if bar is not None:
            bar.total = total
            bar.update(count - bar.n)

    try:
        found = read_outcomes(paths, choice, progress)
    finally:
        if bar is not None:
            bar.close()
    if not found.outcomes:
        reasons = dict.fromkeys(each.reason for each in (*found.excluded, *found.unread))
        raise ValueRangeError(
            f'no outcome to compare in {", ".join(paths)}: {"; ".join(list(reasons)[:3])}'
            + how_to_give(found)
        )
    kept, notes = selected(found.outcomes, choice)
    return replace(found, outcomes=tuple(kept), notes=(*found.notes, *notes))


def as_text(study: Study) -> str:
    """Returns the study as tables for a terminal."""
    from frame_ros.reports.comparison.words import (
        headline,
        remarks_of_successes,
        verdict_lines,
        warnings,
    )

    parts = [*map(plain, (headline(study), *verdict_lines(study)))]
    parts.append(format_table(_score_rows(study)))
    if study.pairs:
        parts.append(format_table(_pair_rows(study)))
    left_out = study.left_out[:MOST_LINES]
    parts += [plain(f'left out: {each.name}: {each.reason}') for each in left_out]
    if len(study.left_out) > MOST_LINES:
        parts.append(f'left out: {len(study.left_out) - MOST_LINES} more')
    parts += [plain(f'note: {text}') for text in dict.fromkeys(warnings(study))]
    remarks = list(dict.fromkeys(remarks_of_successes(study)))
    parts += [plain(f'note: {text}') for text in remarks[:MOST_LINES]]
    if len(remarks) > MOST_LINES:
        parts.append(f'note: {len(remarks) - MOST_LINES} more on successes are in the page')
    return '\n\n'.join(parts)


def _score_rows(study: Study) -> list[tuple[str, ...]]:
    from frame_ros.reports.comparison.words import known_scores, ordered_means

    scores = [score for score in known_scores(study)[0] if score.id in SHOWN]
    header = ('policy', '', 'episodes', 'operations', *(score.name for score in scores))
    rows: list[tuple[str, ...]] = [header]
    for row in ordered_means(study):
        count = str(len(study.sets[row.episodes].places))
        cells = [_score_text(study, row, score.id) for score in scores]
        rows.append(
            (row.policy, study.letters.get(row.policy, ''), count, str(row.operations), *cells)
        )
    return rows


def _score_text(study: Study, row: CellRow, id: str) -> str:
    from frame_ros.reports.comparison.words import interval_text, score_of, value_text

    score, estimate = score_of(study, id), row.scores[id]
    ends = interval_text(score, estimate)
    text = value_text(score, estimate.value) + (f' ({ends})' if ends else '')
    return text.replace('\u00a0', ' ')


def _pair_rows(study: Study) -> list[tuple[str, ...]]:
    from frame_ros.reports.comparison.words import deciding_p, further_rollouts, outcome_words

    rows: list[tuple[str, ...]] = [
        ('first', 'second', 'outcome', 'verdict', f'p ({study.options.correction})', 'decided by',
         'more rollouts')
    ]  # fmt: skip
    for pair in study.pairs:
        p = deciding_p(study, pair)
        rows.append(
            (
                pair.first,
                pair.second,
                outcome_words(pair),
                pair.judgement.verdict.value,
                f'{p:.3g}' if math.isfinite(p) else '-',
                pair.decided_by or '-',
                further_rollouts(pair) or '-',
            )
        )
    return rows
