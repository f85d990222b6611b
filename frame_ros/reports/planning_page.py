# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The page of a plan: sample sizes by formula, and of recorded outcomes detection curves and the
rollouts that are still needed.
"""

from __future__ import annotations

from frame_ros.core.plain_text import counted
from frame_ros.evaluation.planning.rollouts_needed import RolloutsNeeded
from frame_ros.evaluation.planning.study import NumbersPlan, OutcomesPlan, PairPlan
from frame_ros.reports.comparison_figures.detection import Rates, detection_figure
from frame_ros.reports.html.study_page import (
    GOOD,
    PLAIN,
    QUIET,
    Cell,
    Figure,
    Part,
    StudyPage,
    Table,
)
from frame_ros.reports.model.numbers import UNAVAILABLE, readable

DOUBT = (
    'Detection rates take the recorded episodes as the truth, noise included: they are too high, '
    'above all of pairs that hardly differ, and beyond the recorded number an extrapolation.'
)


def planning_page(
    numbers: NumbersPlan, recorded: OutcomesPlan | None = None, title: str = ''
) -> StudyPage:
    """Returns the page of a plan. recorded: of outcomes, if there are any."""
    options = numbers.options
    parts = [_needed_part(recorded), *_curves_part(recorded)] if recorded else []
    return StudyPage(
        title=title or 'Rollouts that a comparison needs',
        kicker='frame_ros plan',
        headline=_headline(numbers, recorded),
        warnings=[DOUBT] if recorded and any(each.curves for each in recorded.plans) else [],
        facts=[
            ('Power', f'{100 * options.power:g} %'),
            ('Level', f'{options.alpha:g}'),
            *([('Pairs of policies', f'{len(recorded.plans)}')] if recorded else []),
        ],
        parts=[*parts, _numbers_part(numbers)],
    )


def _headline(numbers: NumbersPlan, recorded: OutcomesPlan | None) -> str:
    if recorded is None:
        return (
            f'{counted(numbers.mcnemar_exact, "pair")} find a difference of '
            f'{100 * numbers.options.difference:g} points with power '
            f'{100 * numbers.options.power:g} %'
        )
    open_pairs = [plan for plan in recorded.plans if not _is_resolved(plan)]
    total = counted(len(recorded.plans), 'pair')
    if not open_pairs:
        return f'All {total} of policies are resolved: no more rollouts are needed'
    names = '; '.join(f'{plan.first} and {plan.second}' for plan in open_pairs[:3])
    more = f' and {len(open_pairs) - 3} more' if len(open_pairs) > 3 else ''
    return f'{len(open_pairs)} of {total} of policies need more rollouts: {names}{more}'


def _is_resolved(plan: PairPlan) -> bool:
    return any(each.is_resolved for each in (plan.times, plan.pairs) if each is not None)


def _needed_part(plan: OutcomesPlan) -> Part:
    rows: list[list[str | Cell]] = []
    for pair in plan.plans:
        found = [each for each in (pair.times, pair.pairs) if each is not None]
        rows += [[pair.first, pair.second, *_needed_cells(each)] for each in found]
        if not found:
            empty = Cell(UNAVAILABLE, QUIET, pair.lacking)
            rows.append([pair.first, pair.second, *([empty] * 5), pair.lacking])
    header = (
        'first', 'second', 'test', 'effect', 'p', 'present', 'needed at this effect', 'in words'
    )  # fmt: skip
    text = (
        'Numbers are episodes per object and policy (macro-KS), or pairs over all objects '
        '(McNemar). Shaded: the test finds the difference already.'
    )
    table = Table(header, rows, numbers=frozenset((3, 4, 5, 6)))
    return Part('Rollouts that are needed', [text], [table], 'needed')


def _needed_cells(needed: RolloutsNeeded) -> list[str | Cell]:
    tone = GOOD if needed.is_resolved else PLAIN
    number = needed.at_observed
    return [
        needed.test,
        readable(needed.effect, 3),
        Cell(readable(needed.p, 2), tone, strength=0.5 if needed.is_resolved else 0.0),
        f'{needed.present}',
        UNAVAILABLE if number is None else f'{number:,}',
        needed.words,
    ]


def _curves_part(plan: OutcomesPlan) -> list[Part]:
    figure = curves_figure(plan)
    if figure is None:
        return []
    texts = []
    if plan.effect:
        texts.append(
            f'The bridges take a design effect of {plan.effect.value:.2f}: '
            f'{plan.effect.source.meaning}.'
        )
    return [Part('Detection rates', texts, [figure], 'detection')]


def curves_figure(plan: OutcomesPlan) -> Figure | None:
    """Returns the detection curves of all pairs with those of the bridges; None without times."""
    curves: dict[str, dict[str, Rates]] = {}
    predicted: dict[str, Rates] = {}
    available: dict[str, int] = {}
    for pair in (each for each in plan.plans if each.curves):
        name = f'{pair.first} vs. {pair.second}'
        curves[name] = {each.test: (each.episodes, each.rates) for each in pair.curves.values()}
        numbers = next(iter(pair.curves.values())).episodes
        if len(pair.predicted) == len(numbers):
            predicted[name] = numbers, pair.predicted
        if pair.times is not None:
            available[name] = pair.times.present
    if not curves:
        return None
    options = plan.options
    return detection_figure(curves, predicted, options.power, available, options.alpha)


def _numbers_part(plan: NumbersPlan) -> Part:
    options = plan.options
    origin = ', as of independent policies' if plan.is_independent else ''
    texts = [
        f'One success rate of {options.success_rate:g} to ±{100 * options.half_width:g} points '
        f'(Wilson, 95 %): {counted(plan.wilson, "rollout")}.',
        f'A difference of {100 * options.difference:g} points between paired policies at a '
        f'discordance of {plan.discordance:.3g}{origin} (McNemar, Connor): '
        f'{counted(plan.mcnemar, "pair")}; '
        f'for the exact test {plan.mcnemar_exact:,}.',
    ]
    rows = [
        [f'{row.rollouts:,}', f'±{100 * row.half_width:.1f} points', f'{row.power:.2f}']
        for row in plan.rows
    ]
    table = Table(
        ('rollouts of each', 'interval of one rate', "power of McNemar's exact test"),
        rows, numbers=frozenset((0, 1, 2)),
    )  # fmt: skip
    return Part('Sample sizes by formula', texts, [table] if rows else [], 'formulas')
