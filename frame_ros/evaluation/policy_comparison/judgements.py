# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Judgements on pairs of policies, from their tests and the facts in which they differ."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from frame_ros.evaluation.binary.needed import Aim
from frame_ros.evaluation.planning.distance_needed import episodes_for_distance
from frame_ros.evaluation.policy_comparison.facts import Difference
from frame_ros.evaluation.policy_comparison.options import ComparisonOptions
from frame_ros.evaluation.policy_comparison.resampled import ResampledCells
from frame_ros.evaluation.policy_comparison.study import (
    PairRow,
    Relation,
    SuccessTest,
    TimesTest,
)
from frame_ros.evaluation.statistics.several_tests import bonferroni, holm
from frame_ros.evaluation.statistics.verdict import (
    Judgement,
    Verdict,
    direction_of,
    judge,
    sensitivity_of,
)
from frame_ros.evaluation.survival.cell import Cell

TIMES = 'macro-averaged KS test'
# Share of the episodes in the test of times from which on it decides.
MOSTLY = 0.5
NO_OBJECT = 'they share no object'
NO_TEST = 'no object has episodes of both with a known outcome'
UNIT = 'episodes of each policy on each object'


@dataclass(frozen=True)
class Tested:
    """Two policies with their tests, before the judgement.

    Attributes:
        timed: share of the episodes on shared objects that are in the test of times.
    """

    first: str
    second: str
    facts: tuple[Difference, ...]
    times: TimesTest | None
    successes: SuccessTest | None
    timed: float
    shares_object: bool
    episodes: int

    def blocking(self, options: ComparisonOptions) -> list[str]:
        """Returns the facts that forbid a comparison, in words."""
        found = [
            each.in_words
            for each in self.facts
            if not each.is_partial and each.fact not in options.may_differ
        ]
        if found:
            return found
        if not self.shares_object:
            return [NO_OBJECT]
        return [] if self.decided_by else [NO_TEST]

    @property
    def decided_by(self) -> str:
        """Name of the test that the judgement rests on; '' without."""
        if self.times is not None and self.timed >= MOSTLY:
            return TIMES
        if self.successes is not None and self.successes.result.primary is not None:
            return self.successes.result.primary.test
        return TIMES if self.times is not None else ''

    @property
    def p(self) -> float:
        """p of that test, not adjusted; NaN without."""
        return own_p(self)


def aim_of(options: ComparisonOptions, comparisons: int = 1) -> Aim:
    """Returns the difference that a test shall find."""
    return Aim(options.smallest_difference, options.power, options.alpha, comparisons)


def judged_pairs(
    tested: Sequence[Tested], cells: ResampledCells, options: ComparisonOptions
) -> list[PairRow]:
    """Returns the pairs with p-values adjusted for the number of pairs, and judgements.

    Pairs that are not comparable count in no adjustment.
    """
    counted = [each for each in tested if not each.blocking(options)]
    adjusted = iter(_adjusted(counted))
    return [
        _row(each, _refusal(each, options), '')
        if each.blocking(options)
        else _judged(next(adjusted), len(counted), cells, options)
        for each in tested
    ]


def _refusal(each: Tested, options: ComparisonOptions) -> Judgement:
    facts = each.blocking(options)
    return judge(math.nan, [], have=0, needed=None, differing_facts=facts)


def _judged(
    each: Tested, comparisons: int, cells: ResampledCells, options: ComparisonOptions
) -> PairRow:
    return _row(each, _judgement(each, comparisons, cells, options), each.decided_by)


def _adjusted(tested: Sequence[Tested]) -> list[Tested]:
    """Returns the pairs with p-values adjusted for their number.

    The tests that decide are one family, whether of times or of successes. Another test is adjusted
    as if those of its kind decided all pairs that have one.
    """
    decisive = [each.p for each in tested]
    times = [each.times.p if each.times else each.p for each in tested]
    successes = [_first_known(each.successes, each.p) for each in tested]
    methods = (bonferroni, holm)
    of_all, of_times, of_successes = (
        list(zip(*(method(p).tolist() for method in methods))) for p in (decisive, times, successes)
    )
    found = []
    for place, own in enumerate(tested):
        is_of_times = own.decided_by == TIMES
        if own.times is not None:
            row = (of_all if is_of_times else of_times)[place]
            own = replace(own, times=replace(own.times, p_bonferroni=row[0], p_holm=row[1]))
        if own.successes is not None and not math.isnan(own.successes.result.p):
            row = (of_successes if is_of_times else of_all)[place]
            test = replace(own.successes, p_bonferroni=row[0], p_holm=row[1])
            own = replace(own, successes=test)
        found.append(own)
    return found


def _first_known(test: SuccessTest | None, other: float) -> float:
    return other if test is None or math.isnan(test.result.p) else test.result.p


def _row(each: Tested, judgement: Judgement, decided_by: str) -> PairRow:
    return PairRow(
        each.first, each.second, each.facts, each.times, each.successes, decided_by, judgement,
        each.episodes,
    )  # fmt: skip


def own_p(pair: Tested | PairRow) -> float:
    """Returns p of the test that a judgement rests on, not adjusted; NaN without."""
    if pair.decided_by == TIMES and pair.times is not None:
        return pair.times.p
    return pair.successes.result.p if pair.decided_by and pair.successes else math.nan


def adjusted_p(test: TimesTest | SuccessTest, options: ComparisonOptions) -> float:
    """Returns the p-value that judgements follow."""
    return test.p_holm if options.correction == 'holm' else test.p_bonferroni


def _judgement(
    each: Tested, comparisons: int, cells: ResampledCells, options: ComparisonOptions
) -> Judgement:
    if each.decided_by == TIMES and each.times is not None:
        p = adjusted_p(each.times, options)
        a, b = (
            {test.object: cells[policy][test.object].cell for test in each.times.objects}
            for policy in (each.first, each.second)
        )
        aim = aim_of(options, comparisons)

        def needed(margin: float) -> int | None:
            level = aim.shared_level
            return episodes_for_distance(a, b, margin, options.tau, aim.power, level)

        counts = _fewest(a), _fewest(b)
        have = min(counts)
        is_found = p <= options.alpha  # what could have been found counts only where nothing was
        return judge(
            p,
            times_differences(each.times),
            have=have,
            needed=None if is_found else needed(aim.margin),
            level=options.alpha,
            unit=UNIT,
            counts=counts,
            sensitivity=None if is_found else sensitivity_of(needed, have, aim.margin, aim.power),
        )
    if each.successes is None:
        raise AssertionError('a pair without any test is not comparable')
    return each.successes.result.judged(adjusted_p(each.successes, options), comparisons)


def _fewest(cells: Mapping[str, Cell]) -> int:
    """Returns the episodes on the object that has fewest."""
    return min(int(cell.episodes[-1]) + 1 for cell in cells.values())


def direction(pair: PairRow) -> Verdict:
    """Returns in favour of whom the test that decides speaks, whatever its p: crossing if in favour
    of neither.
    """
    if pair.decided_by == TIMES and pair.times is not None:
        return direction_of(times_differences(pair.times))
    primary = pair.successes.result.primary if pair.decided_by and pair.successes else None
    return direction_of([primary.difference] if primary else [])


def times_differences(times: TimesTest) -> list[float]:
    """Returns the advantages of the first that are clear: those that must agree for a verdict.

    They are the scores whose intervals exclude 0, the difference of RMST with its sign, and the
    times at which the CDFs are clearly apart. If none is clear, dominance decides; CDFs that cross
    without any clear difference give no direction. PhAIL, section 3.3.
    """
    clear = [each.value for each in times.differences.values() if each.excludes_zero]
    clear += [1.0] * times.clear_first + [-1.0] * times.clear_second
    if clear:
        return [*clear, times.differences['rmst'].value]
    dominance = {Relation.FIRST_ABOVE: 1.0, Relation.SECOND_ABOVE: -1.0}
    return [dominance[times.relation]] if times.relation in dominance else []
