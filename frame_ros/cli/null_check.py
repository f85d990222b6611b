# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros null-check OUTCOMES...`: type I errors of the tests of two policies."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from frame_ros.cli.arguments import given
from frame_ros.cli.metrics import format_table
from frame_ros.core.errors import SetupError
from frame_ros.core.option_texts import add_options, from_arguments
from frame_ros.core.options import option, options
from frame_ros.core.plain_text import plain
from frame_ros.evaluation.null_calibration.calibration import LEVELS, NullOptions

if TYPE_CHECKING:
    from frame_ros.evaluation.null_calibration.calibration import NullCalibration


@options
class NullCheckOptions(NullOptions):
    """Trials without a difference."""

    strata: tuple[str, ...] = option(
        (), 'conditions, such as tote, within which labels are shuffled besides the object'
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        'outcomes',
        nargs='*',
        metavar='OUTCOMES',
        type=given,
        help='a folder of bags, a bag, a CSV of outcomes, or an eval_info.json of LeRobot',
    )
    parser.add_argument(
        '--generated',
        action='store_true',
        help='generate the episodes instead: two policies that do not differ, 4 objects, 40 '
        'episodes of 8 operations, with drops and censoring',
    )
    add_options(parser, NullCheckOptions)
    parser.add_argument('--json', action='store_true', help='print JSON instead of a table')
    parser.add_argument('-q', '--quiet', action='store_true', help='no progress bar')


def run(args: argparse.Namespace) -> int:
    """Counts the rejections, and prints them.

    Raises:
        BagError: a path is missing, or holds nothing that can be read.
        SetupError: neither outcomes nor --generated, or both.
        ShapeError: nothing can be split or shuffled.
        ValueRangeError: a file has a mistake, or no episode has the condition of --strata.
    """
    from frame_ros.cli.outcome_reading import outcomes_and_notes
    from frame_ros.cli.progress import Progress
    from frame_ros.evaluation.null_calibration.calibration import (
        generated_calibration,
        null_calibration,
    )

    options = from_arguments(NullCheckOptions, args)
    if bool(args.outcomes) == args.generated:
        raise SetupError('either OUTCOMES or --generated is needed, and not both')
    notes: list[str] = []
    with Progress('trials' if args.generated else 'scenarios', args.quiet) as progress:
        if args.generated:
            if options.strata:
                raise SetupError('--strata is of recorded outcomes, not of --generated ones')
            found = generated_calibration(options, progress=progress)
        else:
            outcomes, notes = outcomes_and_notes(args.outcomes)
            found = null_calibration(outcomes, options, options.strata, progress)
    found = replace(found, remarks=(*notes, *found.remarks))
    print(json.dumps(as_data(found), indent=2, allow_nan=False) if args.json else as_text(found))
    return 0


def as_text(found: NullCalibration) -> str:
    """Returns the table of appendix J, with 95 % intervals."""
    rows: list[tuple[str, ...]] = [
        ('scenario', 'test', 'trials', 'mean p', *(f'p < {level:g}' for level in LEVELS))
    ]
    for row in found.rows:
        rates = (
            f'{rate:.3f} ({low:.3f} to {high:.3f})'
            for rate, (low, high) in zip(row.rates, row.intervals)
        )
        name = _scenario(row.scenario, row.kind)
        rows.append((name, row.test, str(row.trials), f'{row.mean_p:.3f}', *rates))
    rows.append(('nominal', '', '', '0.500', *(f'{level:.3f}' for level in LEVELS)))
    options = found.options
    parts = [
        format_table(rows),
        f'{options.trials} trials of each scenario, {options.resamples} resamples each, tau '
        f'{options.tau:g} s, seed {options.seed}; 95 % Wilson intervals. Exact tests of few '
        'outcomes (McNemar, Boschloo) reject less often than nominal; the logrank tests take '
        'operations of an episode as independent, and reject too often where they are not.',
        *(plain(f'note: {remark}') for remark in found.remarks),
    ]
    return '\n\n'.join(parts)


def _scenario(name: str, kind: str) -> str:
    words = {'split': 'halves', 'human_split': 'halves, human', 'permutation': 'shuffled'}
    return f'{name} ({words[kind]})' if kind in words else name


def as_data(found: NullCalibration) -> dict[str, Any]:
    """Returns what --json prints."""
    options = found.options
    return {
        'options': {
            'trials': options.trials,
            'resamples': options.resamples,
            'tau': options.tau,
            'seed': options.seed,
        },
        'levels': list(LEVELS),
        'rows': [
            {
                'scenario': row.scenario,
                'kind': str(row.kind),
                'test': row.test,
                'trials': row.trials,
                'mean_p': row.mean_p,
                'rates': list(row.rates),
                'intervals': [list(each) for each in row.intervals],
            }
            for row in found.rows
        ],
        'remarks': list(found.remarks),
    }
