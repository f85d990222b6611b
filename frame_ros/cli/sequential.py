# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros sequential OUTCOMES.csv`: two policies pair by pair, with valid early stopping."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frame_ros.cli.arguments import any_path, given, output_file
from frame_ros.cli.metrics import format_table
from frame_ros.core.option_texts import add_options, from_arguments
from frame_ros.core.options import option, options
from frame_ros.core.plain_text import counted, plain
from frame_ros.evaluation.sequential.decision import Decision
from frame_ros.evaluation.sequential.plan import SequentialPlan

if TYPE_CHECKING:
    from frame_ros.evaluation.sequential.pairing import PairStream
    from frame_ros.evaluation.sequential.study import Step


@options
class PolicyChoice:
    """The policies."""

    first: str = option('', "the policy that is judged; '': the first of the file")
    second: str = option('', "the policy that it is compared with; '': the other of the file")


@options
class SequentialOptions(SequentialPlan, PolicyChoice):
    """The plan and the policies."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        'outcomes',
        metavar='OUTCOMES',
        type=given,
        help='a CSV file in the order of the study: a row per episode with the columns policy, '
        'success and possibly pair; or a row per pair with a column named after each policy',
    )
    add_options(parser, SequentialOptions)
    parser.add_argument(
        '--state',
        type=output_file,
        metavar='FILE',
        help='keeps the plan and the pairs seen; later calls with another plan, or with altered '
        'outcomes, are refused',
    )
    parser.add_argument(
        '-o',
        '--output',
        type=any_path,
        metavar='FILE',
        help='a page to write: the course between the stopping boundaries',
    )
    parser.add_argument('--json', action='store_true', help='print JSON instead of a table')


def run(args: argparse.Namespace) -> int:
    """Prints the state after each pair, and returns the exit status of the verdict: 10 better, 11
    worse, 13 no difference found, 14 another pair is needed.

    Raises:
        SetupError: the outcomes or the state cannot be read or written, or contradict each other.
        ValueRangeError: an outcome cannot be, or the planned maximum is too small.
    """
    from frame_ros.core.output_files import check_file, refuse_inputs
    from frame_ros.evaluation.sequential.kept_study import load_study, save_study
    from frame_ros.evaluation.sequential.pairing import read_pairs
    from frame_ros.evaluation.sequential.study import SequentialStudy
    from frame_ros.reports.html.study_page import write_study_page
    from frame_ros.reports.sequential_page import sequential_page

    output = None if args.output is None else check_file(Path(args.output), '--output')
    if output is not None:
        refuse_inputs(output, [Path(each) for each in (args.outcomes, args.state) if each], '-o')
    chosen = from_arguments(SequentialOptions, args)
    plan = SequentialPlan(**chosen.settings())
    stream = read_pairs(args.outcomes, chosen.first, chosen.second)
    study = SequentialStudy(plan)
    if args.state is not None:
        refuse_inputs(args.state, [Path(args.outcomes)], '--state')
        kept = load_study(args.state)
        if kept is not None:
            kept.check(plan, stream, args.state)
        save_study(args.state, plan, stream)
    steps = []
    for pair in stream.pairs:
        if study.step.decision is Decision.CONTINUE:
            steps.append(study.update(pair.first, pair.second))
    if output is not None:
        words = sentence(plan, stream, study.step)
        page = sequential_page(plan, stream.first, stream.second, steps, words, stream.remarks)
        write_study_page(page, output)
    if args.json:
        print(json.dumps(as_data(plan, stream, steps, study.step), indent=2, allow_nan=False))
    else:
        print(as_text(plan, stream, steps, study.step))
    return study.step.decision.verdict.exit_status


def as_data(
    plan: SequentialPlan, stream: PairStream, steps: list[Step], last: Step
) -> dict[str, Any]:
    """Returns the study as JSON has it."""
    return {
        'plan': plan.settings(),
        'first': stream.first,
        'second': stream.second,
        'decision': last.decision.value,
        'meaning': last.decision.meaning,
        'exit_status': last.decision.verdict.exit_status,
        'pairs': last.pairs,
        'unused_pairs': len(stream.pairs) - last.pairs,
        'steps': [_step_data(step) for step in steps],
        'remarks': list(stream.remarks),
    }


def _step_data(step: Step) -> dict[str, Any]:
    return {
        'pairs': step.pairs,
        'first_successes': step.first_successes,
        'second_successes': step.second_successes,
        'wins': step.wins,
        'losses': step.losses,
        'difference': step.difference,
        'lower': step.lower,
        'upper': step.upper,
        'evidence': min(step.evidence, 1e300),
        'decision': step.decision.value,
    }


def as_text(plan: SequentialPlan, stream: PairStream, steps: list[Step], last: Step) -> str:
    """Returns the study as a table for a terminal, with the decision in words."""
    head = ('pair', 'outcomes', 'won', 'lost', 'difference', f'{1 - plan.alpha:.0%} interval')
    rows: list[tuple[str, ...]] = [(*head, 'evidence', 'decision')]
    rows += [_row(step, pair) for step, pair in zip(steps, stream.pairs)]
    parts = [format_table(rows)] if steps else []
    parts.append(plain(sentence(plan, stream, last)))
    unused = len(stream.pairs) - last.pairs
    if unused:
        parts.append(
            f'note: the decision fell after {counted(last.pairs, "pair")}; of later ones {unused} '
            'not used'
        )
    parts += [plain(f'note: {remark}') for remark in stream.remarks]
    return '\n\n'.join(parts)


def sentence(plan: SequentialPlan, stream: PairStream, last: Step) -> str:
    """Returns the decision in words."""
    first, second = stream.first, stream.second
    of = f' of at most {plan.most}' if plan.most else ''
    words = {
        Decision.CONTINUE: f'continue: no decision on {first} against {second} yet',
        Decision.BETTER: f'stop: {first} is better than {second}',
        Decision.WORSE: f'stop: {first} is worse than {second}',
        Decision.NO_DIFFERENCE: f'stop: no difference of {first} and {second} was found, which '
        'does not mean that they are equal'
        if plan.side == 'both'
        else f'stop: {first} was not shown to be {plan.side} than {second}',
    }
    sides = {
        'both': '',
        'better': ', only better can be claimed',
        'worse': ', only worse can be claimed',
    }
    return (
        f'{words[last.decision]}; {counted(last.pairs, "pair")}{of}, {plan.method}, '
        f'alpha = {plan.alpha:g}{sides[plan.side]}'
    )


def _row(step: Step, pair: Any) -> tuple[str, ...]:
    marks = '+-' if pair.first > pair.second else '-+' if pair.first < pair.second else '++'
    return (
        pair.name,
        '--' if marks == '++' and not pair.first else marks,
        str(step.wins),
        str(step.losses),
        f'{step.difference:+.2f}',
        f'{step.lower:+.2f} to {step.upper:+.2f}',
        f'{step.evidence:.3g}',
        step.decision.value,
    )
