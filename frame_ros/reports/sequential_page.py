# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The page of a sequential study: its decision, the statistic between its stopping boundaries, and
the difference with its interval after every pair.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from frame_ros.core.plain_text import counted
from frame_ros.evaluation.sequential.bounded import BoundedTest
from frame_ros.evaluation.sequential.decision import Decision
from frame_ros.evaluation.sequential.pairing import BY_KEY, BY_ROW
from frame_ros.evaluation.sequential.plan import SequentialPlan
from frame_ros.evaluation.sequential.study import Step
from frame_ros.reports.comparison_figures.sequential import Path, sequential_figure
from frame_ros.reports.html.study_page import Figure, Part, StudyPage, Table
from frame_ros.reports.model.numbers import readable

Boundary = tuple[list[int], list[float]]
HOW_PAIRED = BY_KEY, BY_ROW


def sequential_page(
    plan: SequentialPlan,
    first: str,
    second: str,
    steps: Sequence[Step],
    headline: str,
    remarks: Sequence[str] = (),
) -> StudyPage:
    """Returns the page of a study.

    Args:
        plan: of the study.
        first: the policy that is judged.
        second: the policy that it is compared with.
        steps: the state after every pair, from the first.
        headline: the decision in a sentence.
        remarks: what the reader of the outcomes noticed; how pairs were found makes no number
            doubtful.
    """
    figures = [_statistic(plan, first, second, steps), _difference(first, second, steps)]
    return StudyPage(
        title=f'{first} against {second}, pair by pair',
        kicker='frame_ros sequential',
        headline=headline,
        verdict=[f'{text.capitalize()}.' for text in remarks if text in HOW_PAIRED],
        warnings=[text for text in remarks if text not in HOW_PAIRED],
        facts=[
            ('Pairs', f'{len(steps)}' + (f' of at most {plan.most}' if plan.most else '')),
            ('Method', plan.method),
            ('Level', f'{plan.alpha:g}'),
            ('Side', plan.side),
        ],
        parts=[
            Part('Course of the study', [], figures if steps else [], 'course'),
            Part('Pairs', [], [_table(steps)], 'pairs', is_folded=True),
        ],
    )


def _statistic(plan: SequentialPlan, first: str, second: str, steps: Sequence[Step]) -> Figure:
    """Returns evidence, or wins less losses, between the boundaries of the method."""
    pairs = [step.pairs for step in steps]
    decided = steps and steps[-1].decision is not Decision.CONTINUE
    stop = pairs[-1] if decided else None
    words = {Decision.BETTER: f'{first} is better', Decision.WORSE: f'{second} is better'}
    verdict = words.get(steps[-1].decision, 'no difference found') if steps else ''
    if plan.method == 'betting':
        path = Path(pairs, [step.evidence for step in steps], stop, verdict)
        limit = [1, max([*pairs, plan.most])], [1 / plan.alpha] * 2
        return sequential_figure(
            {'evidence': path}, {'enough for a claim': limit}, 'evidence (e-value)',
            f'Evidence that {first} and {second} differ, by betting; {1 / plan.alpha:g} is enough '
            'whenever it is looked at.', plan.most or None, is_logarithmic=True,
        )  # fmt: skip
    path = Path(pairs, [step.wins - step.losses for step in steps], stop, verdict)
    test = BoundedTest(plan)
    boundaries = {
        f'boundary: {text}': boundary(test.decide, steps, decision, plan.most)
        for decision, text in words.items()
        if plan.side in ('both', decision.value)
    }
    return sequential_figure(
        {'wins less losses': path}, boundaries, f'pairs won less pairs lost by {first}',
        f'Pairs that only {first} did less those that only {second} did, with the boundaries of '
        f'the method {plan.method} for the discordant pairs that were seen; for pairs to come, as '
        'if their share stayed as it is.', plan.most,
    )  # fmt: skip


def boundary(
    decide: Callable[[int, int, int], Decision],
    steps: Sequence[Step],
    wanted: Decision,
    most: int,
) -> Boundary:
    """Returns numbers of pairs and, after each, the wins less losses nearest to 0 at which the test
    decides so, with as many discordant pairs as were seen; for pairs to come, as if their share
    stayed as it is. NaN where nothing decides so.

    Args:
        decide: decision of (pairs, wins, losses).
        steps: the state after every pair.
        wanted: the decision.
        most: planned number of pairs.
    """
    seen = [step.wins + step.losses for step in steps]
    share = seen[-1] / len(seen) if seen else 0.0
    every = [*seen, *(round(share * pairs) for pairs in range(len(seen) + 1, most + 1))]
    values = []
    for pairs, discordant in enumerate(every, 1):
        found = [
            2 * wins - discordant
            for wins in range(discordant + 1)
            if decide(pairs, wins, discordant - wins) is wanted
        ]
        values.append(float(min(found, key=abs)) if found else float(np.nan))
    return list(range(1, len(every) + 1)), values


def _difference(first: str, second: str, steps: Sequence[Step]) -> Figure:
    """Returns the difference of the success rates with its confidence sequence."""
    pairs = [step.pairs for step in steps]
    limits = {
        'lower end': (pairs, [100 * step.lower for step in steps]),
        'upper end': (pairs, [100 * step.upper for step in steps]),
    }
    return sequential_figure(
        {'difference': Path(pairs, [100 * step.difference for step in steps])},
        limits, 'difference of success (points)',
        f'Success rate of {first} less that of {second}, with an interval that is valid after '
        'every pair at once.', reading='',
    )  # fmt: skip


def _table(steps: Sequence[Step]) -> Table:
    rows = [
        [
            f'{step.pairs}', f'{step.wins}', f'{step.losses}', f'{100 * step.difference:+.1f}',
            f'{100 * step.lower:+.1f} to {100 * step.upper:+.1f}', readable(step.evidence, 3),
            step.decision.value,
        ]
        for step in steps
    ]  # fmt: skip
    header = ('pairs', 'won', 'lost', 'difference (points)', 'interval', 'evidence', 'decision')
    return Table(header, rows, counted(len(rows), 'pair'), frozenset(range(6)))
