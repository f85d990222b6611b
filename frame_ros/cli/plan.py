# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros plan [OUTCOMES...]`: numbers of rollouts that a comparison of policies needs."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frame_ros.cli.arguments import any_path, given
from frame_ros.cli.metrics import format_table
from frame_ros.core.option_texts import add_options, from_arguments
from frame_ros.core.plain_text import counted, plain
from frame_ros.evaluation.planning.options import PlanOptions

if TYPE_CHECKING:
    from frame_ros.evaluation.planning.detection import DetectionCurve, SmallestNumber
    from frame_ros.evaluation.planning.rollouts_needed import RolloutsNeeded
    from frame_ros.evaluation.planning.study import NumbersPlan, OutcomesPlan, PairPlan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        'outcomes',
        nargs='*',
        metavar='OUTCOMES',
        type=given,
        help='a folder of bags, a bag, a CSV of outcomes, or an eval_info.json of LeRobot; '
        'without any: sample sizes by formula only',
    )
    add_options(parser, PlanOptions)
    parser.add_argument(
        '-o',
        '--output',
        type=any_path,
        metavar='FILE',
        help='a page to write, with the detection curves as figures',
    )
    parser.add_argument('--json', action='store_true', help='print JSON instead of tables')
    parser.add_argument('-q', '--quiet', action='store_true', help='no progress bar')


def run(args: argparse.Namespace) -> int:
    """Computes the numbers, prints them, and writes the page.

    Raises:
        BagError: a path is missing, or holds nothing that can be read.
        SetupError: a file cannot be read, or the page cannot be written.
        ShapeError: there are not two policies.
        ValueRangeError: a file has a mistake, or no number of rollouts gives what was asked for.
    """
    from frame_ros.cli.outcome_reading import outcomes_and_notes
    from frame_ros.cli.progress import Progress
    from frame_ros.evaluation.planning.study import numbers_plan, outcomes_plan
    from frame_ros.reports.html.study_page import write_study_page
    from frame_ros.reports.planning_page import planning_page

    options = from_arguments(PlanOptions, args)
    output = _checked_output(args)
    numbers = numbers_plan(options)
    recorded = None
    notes: list[str] = []
    if args.outcomes:
        outcomes, notes = outcomes_and_notes(args.outcomes)
        with Progress('pairs of policies', args.quiet) as progress:
            recorded = outcomes_plan(outcomes, options, progress)
    if output is not None:
        write_study_page(planning_page(numbers, recorded), output)
    if args.json:
        data: dict[str, Any] = {'numbers': numbers_data(numbers)}
        data |= {'outcomes': outcomes_data(recorded), 'notes': notes} if recorded else {}
        print(json.dumps(data, indent=2, allow_nan=False))
        return 0
    print(numbers_text(numbers))
    if recorded:
        print(
            '\n\n'.join(['', outcomes_text(recorded), *(plain(f'note: {note}') for note in notes)])
        )
    return 0


def _checked_output(args: argparse.Namespace) -> Path | None:
    """Returns the page to write; None: none.

    Raises:
        SetupError: it cannot be written, or is one of the outcomes.
    """
    from frame_ros.core.output_files import check_file, refuse_inputs

    if args.output is None:
        return None
    output = check_file(Path(args.output), '--output')
    refuse_inputs(output, [Path(each) for each in args.outcomes if Path(each).is_file()], '-o')
    return output


def numbers_text(plan: NumbersPlan) -> str:
    """Returns the sample sizes and their table for a terminal."""
    options = plan.options
    origin = ', as of independent policies' if plan.is_independent else ''
    rows: list[tuple[str, ...]] = [
        ('rollouts of each', 'interval of one rate', "power of McNemar's exact test")
    ]
    rows += [
        (str(row.rollouts), f'+-{100 * row.half_width:.1f} points', f'{row.power:.2f}')
        for row in plan.rows
    ]
    return '\n\n'.join(
        [
            f'one success rate of {options.success_rate:g} to +-{100 * options.half_width:g} '
            f'points (Wilson, 95 %): {counted(plan.wilson, "rollout")}',
            f'a difference of {100 * options.difference:g} points between paired policies, power '
            f'{options.power:g}, alpha {options.alpha:g}, discordance {plan.discordance:.3g}'
            f'{origin} (McNemar, Connor): {counted(plan.mcnemar, "pair")}; for the exact test '
            f'{plan.mcnemar_exact}',
            format_table(rows),
        ]
    )


def outcomes_text(plan: OutcomesPlan) -> str:
    """Returns detection rates and rollouts that are needed, for a terminal."""
    parts = []
    if plan.effect and plan.correlation:
        error = plan.effect.error
        fit = '' if math.isnan(error) else f' (root mean square difference {error:.3f})'
        parts.append(
            f'design effect {plan.effect.value:.2f}, {plan.effect.source.meaning}{fit}; by the '
            f'correlation within episodes ({plan.correlation.correlation:.2f}) '
            f'{plan.correlation.value:.2f}'
        )
    parts += [_pair_text(each, plan.options) for each in plan.plans]
    parts.append(
        'Detection rates take the recorded episodes as the truth, noise included: they are too '
        'high, above all of pairs that hardly differ, and beyond the recorded number an '
        'extrapolation.'
    )
    return '\n\n'.join(parts)


def _pair_text(plan: PairPlan, options: PlanOptions) -> str:
    lines = [plain(f'{plan.first} and {plan.second}')]
    if plan.curves:
        numbers = next(iter(plan.curves.values())).episodes
        rows: list[tuple[str, ...]] = [
            (
                'detection rate at',
                *(counted(n, 'episode') for n in numbers),
                f'{options.power:g} at',
            )
        ]
        for curve in plan.curves.values():
            found = _smallest_text(curve.smallest(options.power), curve)
            rows.append((curve.test, *(f'{rate:.2f}' for rate in curve.rates), found))
        rows.append(('macro-KS by bridges', *(f'{rate:.2f}' for rate in plan.predicted), ''))
        lines.append(format_table(rows))
    for needed in filter(None, (plan.times, plan.pairs)):
        lines.append(plain(f'{needed.test}: {needed.words}'))
    if plan.lacking:
        lines.append(plain(f'note: {plan.lacking}'))
    return '\n'.join(lines)


def _smallest_text(found: SmallestNumber, curve: DetectionCurve) -> str:
    if found.episodes is None:
        return f'more than {curve.episodes[-1]}'
    high = found.high or f'more than {curve.episodes[-1]}'
    return f'{found.episodes} ({found.low} to {high})'


def numbers_data(plan: NumbersPlan) -> dict[str, Any]:
    """Returns the sample sizes as --json prints them."""
    options = plan.options
    return {
        'success_rate': options.success_rate,
        'half_width': options.half_width,
        'wilson_rollouts': plan.wilson,
        'difference': options.difference,
        'discordance': plan.discordance,
        'discordance_is_of_independent_policies': plan.is_independent,
        'power': options.power,
        'alpha': options.alpha,
        'mcnemar_pairs': plan.mcnemar,
        'mcnemar_exact_pairs': plan.mcnemar_exact,
        'rows': [row._asdict() for row in plan.rows],
    }


def outcomes_data(plan: OutcomesPlan) -> dict[str, Any]:
    """Returns detection rates and rollouts that are needed as --json prints them."""
    return {
        'design_effect': plan.effect and plan.effect.value,
        'design_effect_by_correlation': plan.correlation and plan.correlation.value,
        'pairs': [
            {
                'first': each.first,
                'second': each.second,
                'curves': [_curve_data(curve, plan.options) for curve in each.curves.values()],
                'macro_ks_by_bridges': list(each.predicted),
                'macro_ks': _needed_data(each.times),
                'mcnemar': _needed_data(each.pairs),
                'lacking': each.lacking,
            }
            for each in plan.plans
        ],
    }


def _curve_data(curve: DetectionCurve, options: PlanOptions) -> dict[str, Any]:
    return {
        'test': curve.test,
        'episodes': list(curve.episodes),
        'rates': curve.rates.tolist(),
        'intervals': curve.intervals.tolist(),
        'smallest': curve.smallest(options.power)._asdict(),
    }


def _needed_data(needed: RolloutsNeeded | None) -> dict[str, Any] | None:
    return vars(needed) if needed else None
