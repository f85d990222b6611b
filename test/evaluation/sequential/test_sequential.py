# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Sequential tests of two policies against enumeration of all studies, and plain models."""

from __future__ import annotations

from functools import cache
from itertools import product
from math import comb, exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frame_ros.core.errors import ValueRangeError
from frame_ros.evaluation import Verdict
from frame_ros.evaluation.sequential.betting import PRIOR, BettingTest, log_evidence
from frame_ros.evaluation.sequential.boundaries import boundaries, fewest_pairs
from frame_ros.evaluation.sequential.bounded import BoundedTest
from frame_ros.evaluation.sequential.confidence_sequence import DifferenceSequence
from frame_ros.evaluation.sequential.decision import CODES, Decision
from frame_ros.evaluation.sequential.lai import (
    DISCORDANCES,
    EFFECTS,
    LARGEST,
    NULL_WEIGHTS,
    PAIR_COSTS,
)
from frame_ros.evaluation.sequential.lai import lai_table as lai
from frame_ros.evaluation.sequential.operating_characteristics import (
    characteristics,
    claim_rates,
    independent,
)
from frame_ros.evaluation.sequential.plan import SequentialPlan
from frame_ros.evaluation.sequential.study import SequentialStudy, sequential_test

CONTINUE, BETTER, WORSE, NONE = range(4)
PAIRS = ((True, False), (False, True), (True, True))  # a win, a loss, equal


def enumerated(table, win, loss):
    """Probabilities of the decisions and mean number of pairs, over every sequence of pairs."""
    found, mean = np.zeros(4), 0.0
    for sequence in product(range(3), repeat=len(table) - 1):
        probability = np.prod([(win, loss, 1 - win - loss)[kind] for kind in sequence])
        wins = losses = n = 0
        code = table[0][0, 0]
        while code == CONTINUE:
            wins, losses = wins + (sequence[n] == 0), losses + (sequence[n] == 1)
            n += 1
            code = table[n][wins + losses, wins]
        found[code] += probability
        mean += n * probability
    return found, mean


@pytest.mark.parametrize('method', ['lai', 'barnard'])
@pytest.mark.parametrize('is_two_sided', [True, False])
def test_characteristics_are_those_of_every_study(method, is_two_sided):
    table = boundaries(method, 8, 0.3, is_two_sided).table
    for win, loss in ((0.3, 0.15), (0.25, 0.25), (0.0, 0.6), (0.5, 0.5)):
        exact = characteristics(table, win, loss)
        found, mean = enumerated(table, win, loss)
        assert [exact.better, exact.worse, exact.no_difference] == pytest.approx(found[1:])
        assert exact.mean_pairs == pytest.approx(mean)
        if win == loss:
            rate = claim_rates(table, np.array([win + loss]))
            assert rate == pytest.approx(found[BETTER] + found[WORSE])


@settings(deadline=None, max_examples=25)
@given(
    most=st.integers(16, 40),
    alpha=st.floats(0.02, 0.5),
    method=st.sampled_from(['lai', 'barnard']),
    is_two_sided=st.booleans(),
)
def test_no_null_has_more_than_alpha(most, alpha, method, is_two_sided):
    found = boundaries(method, most, alpha, is_two_sided)
    rates = claim_rates(found.table, np.linspace(0, 1, 301))
    assert max(rates.max(), found.type_one) <= alpha
    assert found.type_one > 0 and rates[0] == 0
    for p in (0.05, 0.5, 0.8):
        null = characteristics(found.table, *independent(p, p))
        assert null.better + null.worse <= alpha + 1e-12
        assert null.better == pytest.approx(null.worse) or not is_two_sided


def test_nearly_all_of_alpha_is_used():
    for is_two_sided in (True, False):
        assert 0.047 < boundaries('lai', 60, 0.05, is_two_sided).type_one <= 0.05


def test_bars_of_two_hundred_pairs():
    one = BoundedTest(SequentialPlan(side='better'))
    near = one.characteristics(*independent(0.75, 0.60))
    far = one.characteristics(*independent(0.90, 0.60))
    assert near.better >= 0.9 and near.mean_pairs <= 105 and far.mean_pairs <= 32
    two = BoundedTest(SequentialPlan()).characteristics(*independent(0.75, 0.60))
    assert 0.84 < two.better < near.better and two.mean_pairs < 122
    rng = np.random.default_rng(3)
    claims = 0
    for _ in range(200):
        study = SequentialStudy(SequentialPlan(side='better'))
        for first, second in rng.random((200, 2)) < (0.75, 0.60):
            if study.update(first, second).decision is not Decision.CONTINUE:
                break
        claims += study.step.decision is Decision.BETTER
    assert abs(claims / 200 - near.better) < 4 * sqrt(near.better * (1 - near.better) / 200)


@pytest.mark.parametrize('is_two_sided', [True, False])
def test_lai_minimises_the_risk_of_a_plain_model(is_two_sided):
    most, penalty = 7, 1.3
    table = lai(most, is_two_sided, log(penalty))

    @cache
    def joint(wins, losses, equal):
        """Weights of null, first better, first worse, and costs, of one sequence of pairs."""
        null = better = worse = cost = mass = 0.0
        for q, weight, fee in zip(DISCORDANCES, NULL_WEIGHTS, PAIR_COSTS, strict=True):
            base = q ** (wins + losses) * (1 - q) ** equal * 0.5 ** (wins + losses)
            null, mass = null + weight * base, mass + base
            for drift, price in EFFECTS:
                sign = min(drift / sqrt(most * q), LARGEST)
                up = base * (1 + sign) ** wins * (1 - sign) ** losses
                down = base * (1 - sign) ** wins * (1 + sign) ** losses
                better, cost = better + up, cost + up * price * fee / most
                if is_two_sided:
                    worse, cost = worse + down, cost + down * price * fee / most
        return null * penalty, better, worse, cost, mass

    @cache
    def risk(wins, losses, equal):
        null, better, worse, cost, mass = joint(wins, losses, equal)
        stops = {BETTER: null + worse, NONE: better + worse}
        if is_two_sided:
            stops[WORSE] = null + better
        if wins + losses + equal < most:
            stops[CONTINUE] = cost + sum(
                risk(wins + a, losses + b, equal + c)[0]
                for a, b, c in ((1, 0, 0), (0, 1, 0), (0, 0, 1))
            )
        code = min(stops, key=stops.get)
        others = sorted(stops.values())
        return stops[code], code, (others[1] - others[0]) / mass

    seen = set()
    for n in range(most + 1):
        for m in range(n + 1):
            for wins in range(m + 1):
                _, code, margin = risk(wins, m - wins, n - m)
                if margin > 1e-9:
                    assert table[n][m, wins] == code, (n, m, wins)
                seen.add(code)
    assert len(seen) == (4 if is_two_sided else 3)


@pytest.mark.parametrize('method', ['lai', 'barnard'])
def test_more_wins_are_no_less_evidence(method):
    rank = {WORSE: 0, CONTINUE: 1, NONE: 1, BETTER: 2}
    for is_two_sided in (True, False):
        table = boundaries(method, 60, 0.05, is_two_sided).table
        for n, codes in enumerate(table):
            for m in range(n + 1):
                row = [rank[code] for code in codes[m, : m + 1]]
                assert row == sorted(row)
                if is_two_sided:
                    assert row == [2 - each for each in reversed(row)]
        assert CONTINUE not in [code for m in range(61) for code in table[-1][m, : m + 1]]


def test_a_side_is_the_other_with_the_policies_swapped():
    better, worse = (BoundedTest(SequentialPlan(side=s, most=30)) for s in ('better', 'worse'))
    for n, wins, losses in ((9, 8, 0), (9, 0, 8), (30, 12, 11), (12, 2, 3)):
        assert better.decide(n, wins, losses) == worse.decide(n, losses, wins).reversed
    one, other = better.characteristics(0.4, 0.1), worse.characteristics(0.1, 0.4)
    assert (one.better, one.worse) == (other.worse, other.better) and one.better > 0.5


def test_what_cannot_be_claimed_is_refused():
    assert [fewest_pairs(0.05, False), fewest_pairs(0.05, True)] == [5, 6]
    for plan in (SequentialPlan(most=5), SequentialPlan(most=4, side='better')):
        with pytest.raises(ValueRangeError, match='at least'):
            SequentialStudy(plan)
    with pytest.raises(ValueRangeError, match='most'):
        SequentialPlan(most=301)
    with pytest.raises(ValueRangeError, match='most'):
        SequentialPlan(most=0)
    with pytest.raises(ValueRangeError, match='alpha'):
        SequentialPlan(alpha=0.0)
    with pytest.raises(ValueRangeError, match='planned'):
        BoundedTest(SequentialPlan(most=12)).decide(13, 1, 1)
    with pytest.raises(ValueRangeError, match='disjoint|probabilities'):
        characteristics(boundaries('lai', 10, 0.05, True).table, 0.7, 0.7)


# Betting


@pytest.mark.parametrize('side', ['both', 'better', 'worse'])
@pytest.mark.parametrize('p', [0.2, 0.5, 0.8])
def test_the_bet_wins_nothing_on_average_under_its_null(side, p):
    n = 12
    wins = np.arange(n + 1)
    weights = [comb(n, w) * p**w * (1 - p) ** (n - w) for w in wins]
    mean = float(np.exp(log_evidence(wins, n - wins, side)) @ weights)
    is_null = p == 0.5 or (side, p) in (('better', 0.2), ('worse', 0.8))
    assert mean == pytest.approx(1) if p == 0.5 else (mean < 1) == is_null


def test_the_bet_is_the_mean_of_bets_of_a_mixture():
    p = (np.arange(200_000) + 0.5) / 200_000
    for wins, losses in ((0, 0), (3, 1), (0, 7), (20, 9)):
        density = (p * (1 - p)) ** (PRIOR - 1)
        density /= density.sum()
        won = (2 * p) ** wins * (2 * (1 - p)) ** losses
        assert exp(log_evidence(wins, losses)) == pytest.approx(won @ density, rel=1e-6)
        upper = 2 * (won * density)[p > 0.5].sum()
        assert exp(log_evidence(wins, losses, 'better')) == pytest.approx(upper, rel=1e-6)


@pytest.mark.parametrize('side', ['both', 'better'])
def test_stopping_whenever_one_likes_keeps_the_error_rate(side):
    alpha = 0.2
    test = BettingTest(SequentialPlan(alpha=alpha, most=0, method='betting', side=side))
    going, claimed = {(0, 0): 1.0}, 0.0
    for n in range(1, 121):
        later: dict[tuple[int, int], float] = {}
        for (w, l_), weight in going.items():
            for state in ((w + 1, l_), (w, l_ + 1)):
                later[state] = later.get(state, 0.0) + weight / 2
        going = {}
        for state, weight in later.items():
            if test.decide(n, *state) is Decision.CONTINUE:
                going[state] = weight
            else:
                claimed += weight
    assert 0.5 * alpha < claimed <= alpha


def test_no_maximum_and_much_evidence():
    test = BettingTest(SequentialPlan(most=0, method='betting'))
    assert test.decide(10_000, 0, 0) is Decision.CONTINUE
    assert test.decide(9_000, 5000, 0) is Decision.BETTER
    assert test.decide(9_000, 0, 5000) is Decision.WORSE
    assert float(log_evidence(0, 5000, 'better')) < 0
    ended = BettingTest(SequentialPlan(most=20, method='betting'))
    assert ended.decide(20, 3, 3) is Decision.NO_DIFFERENCE
    with pytest.raises(ValueRangeError, match='counts'):
        log_evidence(-1, 3)


@pytest.mark.parametrize(('win', 'loss'), [(0.25, 0.25), (0.5, 0.1), (0.0, 0.4)])
def test_the_interval_misses_the_difference_at_most_alpha_of_the_time(win, loss):
    alpha, n = 0.4, 6
    missed = 0.0
    for sequence in product(range(3), repeat=n):
        interval, is_missed = DifferenceSequence(alpha), False
        for kind in sequence:
            lower, upper = interval.update(*PAIRS[kind])
            is_missed |= not lower <= win - loss <= upper
        if is_missed:
            missed += float(np.prod([(win, loss, 1 - win - loss)[kind] for kind in sequence]))
    assert missed <= alpha


def test_the_interval_only_narrows_and_mirrors():
    rng = np.random.default_rng(0)
    interval, mirrored = DifferenceSequence(), DifferenceSequence()
    widths = []
    for first, second in rng.random((400, 2)) < (0.9, 0.5):
        lower, upper = interval.update(first, second)
        widths.append(upper - lower)
        assert mirrored.update(second, first) == pytest.approx((-upper, -lower))
    assert widths == sorted(widths, reverse=True)
    assert 0.2 < lower < 0.4 < upper < 0.6
    with pytest.raises(ValueRangeError, match='alpha'):
        DifferenceSequence(1.0)


# Studies


@pytest.mark.parametrize(('alpha', 'side'), [(0.05, 'both'), (0.01, 'better'), (0.05, 'worse')])
def test_a_bet_on_so_few_pairs_that_it_can_never_claim_is_refused(alpha, side):
    with pytest.raises(ValueRangeError, match='most is 2; at least ') as refused:
        BettingTest(SequentialPlan(alpha=alpha, most=2, method='betting', side=side))
    least = int(str(refused.value).split('at least ')[1].split()[0])
    test = BettingTest(SequentialPlan(alpha=alpha, most=least, method='betting', side=side))
    all_won = (least, 0) if side != 'worse' else (0, least)
    assert test.decide(least, *all_won) in (Decision.BETTER, Decision.WORSE)
    before = BettingTest(SequentialPlan(alpha=alpha, most=0, method='betting', side=side))
    one_less = [max(each - 1, 0) for each in all_won]
    assert before.decide(least - 1, *one_less) is Decision.CONTINUE


@pytest.mark.parametrize('method', ['lai', 'barnard', 'betting'])
def test_a_study_ends_with_its_decision(method):
    plan = SequentialPlan(method=method, most=40)
    steps = sequential_test([True] * 40, [False] * 40, plan)
    assert [step.decision for step in steps[:-1]] == [Decision.CONTINUE] * (len(steps) - 1)
    last = steps[-1]
    assert last.decision is Decision.BETTER and 5 < last.pairs == last.wins < 15
    assert last.difference == 1 and last.losses == 0 and last.upper == 1
    assert sequential_test([False] * 40, [True] * 40, plan)[-1].decision is Decision.WORSE
    equal = sequential_test([True] * 40, [True] * 40, plan)[-1]
    assert equal.decision is Decision.NO_DIFFERENCE and equal.difference == 0
    study = SequentialStudy(plan)
    for _ in steps:
        study.update(True, False)
    with pytest.raises(ValueRangeError, match='ended'):
        study.update(True, False)


def test_decisions_have_statuses_of_their_own():
    statuses = [decision.verdict.exit_status for decision in CODES]
    assert len(set(statuses)) == 4 and Decision.BETTER.verdict is Verdict.BETTER
    assert [d.reversed for d in CODES] == [CODES[0], CODES[2], CODES[1], CODES[3]]


@pytest.mark.parametrize('outcome', [2, float('nan'), None, 'no', 0.5])
def test_outcomes_that_are_no_outcome_change_nothing(outcome):
    study, interval = SequentialStudy(SequentialPlan(most=20)), DifferenceSequence()
    for update in (study.update, interval.update):
        for pair in ((outcome, False), (True, outcome)):
            with pytest.raises(ValueRangeError, match='an outcome is .*; true or false'):
                update(*pair)
    assert study.step.pairs == 0 and (interval.lower, interval.upper) == (-1.0, 1.0)
    step = study.update(np.True_, 0)
    assert (step.wins, step.losses, type(step.losses)) == (1, 0, int)


def test_bad_outcomes_are_refused():
    with pytest.raises(ValueRangeError, match='2 and 1'):
        sequential_test([True, True], [False])
    with pytest.raises(ValueRangeError, match='true or false'):
        sequential_test([0.5], [1])
    assert sequential_test([], []) == []
