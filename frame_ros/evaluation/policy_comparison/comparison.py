# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The comparison of policies over many episodes. PhAIL."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome
from frame_ros.evaluation.outcomes.outcome_set import OutcomeSet
from frame_ros.evaluation.policy_comparison.estimates import EpisodeSets
from frame_ros.evaluation.policy_comparison.facts import (
    OBJECT,
    TIME_LIMIT,
    Difference,
    differences,
    facts_of,
)
from frame_ros.evaluation.policy_comparison.follow_up import differing_limits
from frame_ros.evaluation.policy_comparison.further_rollouts import with_further_rollouts
from frame_ros.evaluation.policy_comparison.groups import Grouped, grouped
from frame_ros.evaluation.policy_comparison.judgements import (
    Tested,
    direction,
    judged_pairs,
    own_p,
)
from frame_ros.evaluation.policy_comparison.options import ComparisonOptions
from frame_ros.evaluation.policy_comparison.resampled import ResampledCells, resampled_cells
from frame_ros.evaluation.policy_comparison.rows import Rows
from frame_ros.evaluation.policy_comparison.rules import rules_of
from frame_ros.evaluation.policy_comparison.scores import Score
from frame_ros.evaluation.policy_comparison.shares import (
    condition_rows,
    failure_row,
    label_rows,
    rankings,
)
from frame_ros.evaluation.policy_comparison.study import CellRow, PairRow, Study
from frame_ros.evaluation.policy_comparison.success_tests import success_test
from frame_ros.evaluation.policy_comparison.times_tests import times_test
from frame_ros.evaluation.statistics.best_set import best_set
from frame_ros.evaluation.statistics.letters import compact_letters
from frame_ros.evaluation.statistics.verdict import Judgement, Verdict

# Scores that policies are ranked by: the first that every policy has.
HEADLINES = ('hrt', 'rmst', 'success_rate')


def compare_policies(
    outcomes: OutcomeSet | Iterable[EpisodeOutcome], options: ComparisonOptions | None = None
) -> Study:
    """Compares policies: scores with intervals, tests of all pairs, verdicts.

    Resamples are of whole episodes and shared by all scores of a cell; each cell has a stream of
    its own, so that other policies do not change its numbers.

    Raises:
        ValueRangeError: there is no episode of a policy, or no policy has a name that the options
            give.
    """
    options = options or ComparisonOptions()
    read = outcomes if isinstance(outcomes, OutcomeSet) else OutcomeSet(tuple(outcomes))
    sets = EpisodeSets()
    data = grouped(read.outcomes, options)
    cells = resampled_cells(data.groups, options)
    rows = Rows(data, cells, options, sets)
    means = [rows.mean_row(policy) for policy in data.groups]
    headline = _headline(means, data)
    order = _order(means, headline, rows.scores, data)
    tested = [_tested(*pair, data, cells, options, sets) for pair in combinations(order, 2)]
    pairs = with_further_rollouts(judged_pairs(tested, cells, options), cells, options)
    estimates = _signed(means, headline, rows.scores)
    return Study(
        options=options,
        episodes=data.episodes,
        policies=data.policies,
        human=data.human,
        objects=data.objects,
        headline_score=headline,
        scores=rows.scores,
        cells=tuple(
            rows.cell_row(policy, name) for policy, own in data.groups.items() for name in own
        ),
        means=tuple(means),
        failures=tuple(failure_row(policy, data, options, sets) for policy in data.groups),
        conditions=tuple(condition_rows(data, options, sets)),
        labels=tuple(label_rows(data, cells, options, sets)),
        rankings=tuple(rankings(means, rows.scores, data.human)),
        pairs=tuple(pairs),
        letters=_letters(order, pairs),
        best=_best(order, pairs, estimates, options),
        verdict=_verdict(pairs, data.policies, options),
        rules=tuple(rules_of(data, cells, options, sets)),
        left_out=(*read.excluded, *read.unread),
        notes=read.notes,
        sets=tuple(sets.sets),
    )


def _headline(means: Sequence[CellRow], data: Grouped) -> str:
    own = [row for row in means if row.policy in data.policies]
    for id in HEADLINES:
        if all(id in row.scores and math.isfinite(row.scores[id].value) for row in own):
            return id
    return HEADLINES[-1]


def _signed(means: Sequence[CellRow], id: str, scores: Sequence[Score]) -> dict[str, float]:
    """Returns policy -> headline score, larger is better."""
    sign = next(1.0 if each.higher_is_better else -1.0 for each in scores if each.id == id)
    return {row.policy: sign * row.scores[id].value for row in means}


def _order(means: Sequence[CellRow], id: str, scores: Sequence[Score], data: Grouped) -> list[str]:
    """Returns the policies, the best first, those without the score last."""
    values = _signed(means, id, scores)
    return sorted(
        data.policies,
        key=lambda p: (math.isnan(values[p]), -values[p] if values[p] == values[p] else 0.0),
    )


def _tested(
    first: str,
    second: str,
    data: Grouped,
    cells: ResampledCells,
    options: ComparisonOptions,
    sets: EpisodeSets,
) -> Tested:
    a, b = data.groups[first], data.groups[second]
    shared = [name for name in a if name in b]
    own = [[groups[name] for name in shared or groups] for groups in (a, b)]
    places = [[place for group in groups for place in group.places] for groups in own]
    facts = [facts_of(data.episodes[place] for place in of_policy) for of_policy in places]
    number = sets.number(f'{first} and {second}', [*places[0], *places[1]])
    times = times_test(first, second, data, cells, options, sets)
    tested = {each.object for each in times.objects} if times else set[str]()
    timed = [sum(len(each.timed) for each in of if each.object in tested) for of in own]
    # Objects that only one of them has are a rule of their own.
    apart = [each for each in differences(*facts) if each.fact != OBJECT or not shared]
    return Tested(
        first,
        second,
        tuple(_with_limits(apart, first, second, cells, options)),
        times,
        success_test(places[0], places[1], data, options, sets) if shared else None,
        min(count / len(of_policy) for count, of_policy in zip(timed, places)),
        bool(shared),
        number,
    )


def _with_limits(
    found: list[Difference],
    first: str,
    second: str,
    cells: ResampledCells,
    options: ComparisonOptions,
) -> list[Difference]:
    """Returns the differing facts, and the time limits where times show them, unless episodes name
    limits that forbid a comparison by themselves.
    """
    a, b = cells[first], cells[second]
    if any(each.fact == TIME_LIMIT and not each.is_partial for each in found):
        return found
    pairs = {name: (own.cell, b[name].cell) for name, own in a.items() if name in b}
    limits = differing_limits(pairs, options.tau, options.smallest_difference)
    return [*found, limits] if limits else found


def _differs(pair: PairRow) -> bool:
    return pair.judgement.verdict in (Verdict.BETTER, Verdict.WORSE, Verdict.CROSSING)


def _letters(order: Sequence[str], pairs: Sequence[PairRow]) -> dict[str, str]:
    table = np.zeros((len(order), len(order)), np.bool_)
    for pair in pairs:
        i, j = order.index(pair.first), order.index(pair.second)
        table[i, j] = table[j, i] = _differs(pair)
    return dict(zip(order, compact_letters(table)))


def _best(
    order: Sequence[str],
    pairs: Sequence[PairRow],
    estimates: dict[str, float],
    options: ComparisonOptions,
) -> tuple[str, ...]:
    """Returns the policies that cannot be distinguished from the best."""
    table = np.full((len(order), len(order)), math.nan)
    for pair in pairs:
        p = own_p(pair)
        # The first has the better estimate: a test that speaks for neither, or against it, does not
        # leave out the second.
        if not math.isnan(p) and direction(pair) is Verdict.BETTER:
            i, j = order.index(pair.first), order.index(pair.second)
            table[i, j] = table[j, i] = p
    places = best_set([estimates[policy] for policy in order], table, 1.0 - options.alpha)
    return tuple(order[place] for place in places)


def _verdict(
    pairs: Sequence[PairRow], policies: Sequence[str], options: ComparisonOptions
) -> tuple[str, str, Judgement] | None:
    """Returns candidate, baseline and judgement of the pair asked for, or of the only one."""
    baseline, candidate = options.baseline, options.candidate
    if len(policies) == 2:
        baseline = baseline or next(each for each in policies if each != candidate)
        candidate = candidate or next(each for each in policies if each != baseline)
    for pair in pairs:
        if (pair.first, pair.second) == (candidate, baseline):
            return candidate, baseline, pair.judgement
        if (pair.second, pair.first) == (candidate, baseline):
            turned = replace(pair.judgement, verdict=pair.judgement.verdict.reversed)
            return candidate, baseline, turned
    return None
