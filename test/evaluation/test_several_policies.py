# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Letters, the set of the best, Bonferroni, and verdicts: their claims, as properties."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.evaluation import (
    Verdict,
    best_set,
    bonferroni,
    compact_letters,
    holm,
    judge,
)
from frame_ros.evaluation.statistics.verdict import EXIT_STATUSES, sensitivity_of


def table(count: int, pairs) -> np.ndarray:
    differ = np.zeros((count, count), bool)
    for i, j in pairs:
        differ[i, j] = differ[j, i] = True
    return differ


def shows(letters: list[set], differ: np.ndarray) -> bool:
    """True if all have a letter, and two share one if and only if they do not differ."""
    return all(letters) and all(
        bool(letters[i] & letters[j]) != differ[i, j]
        for i, j in combinations(range(len(letters)), 2)
    )


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 9), st.data())
def test_two_share_a_letter_if_and_only_if_they_do_not_differ(count, data):
    pairs = [pair for pair in combinations(range(count), 2) if data.draw(st.booleans())]
    differ = table(count, pairs)
    letters = [set(each) for each in compact_letters(differ)]
    assert shows(letters, differ)
    # None can be spared.
    for i in range(count):
        for letter in letters[i]:
            fewer = [own - {letter} if i == k else own for k, own in enumerate(letters)]
            assert not shows(fewer, differ)
    # None is within another.
    members = [{i for i, own in enumerate(letters) if c in own} for c in set().union(*letters)]
    assert not any(a < b for a in members for b in members)
    assert 'a' in letters[0]


def test_letters_by_hand():
    assert compact_letters(table(3, [])) == ['a', 'a', 'a']
    assert compact_letters(table(3, [(0, 2)])) == ['a', 'ab', 'b']
    assert compact_letters(table(4, combinations(range(4), 2))) == ['a', 'b', 'c', 'd']
    # A ring of four that do not differ: each shares one letter with each neighbour.
    assert compact_letters(table(4, [(0, 2), (1, 3)])) == ['ab', 'ac', 'cd', 'bd']
    assert compact_letters(np.zeros((0, 0))) == []
    assert compact_letters(table(30, combinations(range(30), 2)))[26:28] == ['a1', 'b1']


def test_letters_that_sweeping_spares():
    # Piepho 2004: insert and absorb alone leaves letters that no pair needs.
    differ = table(5, [(0, 3), (0, 4), (1, 4), (2, 3)])
    letters = compact_letters(differ)
    assert shows([set(each) for each in letters], differ)
    assert sum(map(len, letters)) <= 9


def test_letters_of_many_policies_stay_few():
    # Each differs from all but its three neighbours: without absorbing, thousands of letters.
    pairs = [(i, j) for i, j in combinations(range(30), 2) if j - i > 3]
    letters = compact_letters(table(30, pairs))
    assert letters[0] == 'a' and letters[4] == 'bcde'


def test_tables_that_are_no_comparison_of_pairs_are_refused():
    with pytest.raises(ShapeError):
        compact_letters(np.zeros((2, 3)))
    # p-values, and policies that were not compared: none of them is a difference.
    for value, said in ((0.3, '0.3'), (np.nan, 'nan'), (2, '2')):
        with pytest.raises(ValueRangeError, match=f'differ holds {said}; True or False'):
            compact_letters([[False, value], [value, False]])
    with pytest.raises(ValueRangeError, match='real numbers'):
        compact_letters([['no', 'no'], ['no', 'no']])
    assert compact_letters([[np.nan, 1], [1.0, np.nan]]) == ['a', 'b']
    with pytest.raises(ValueRangeError, match='symmetric'):
        compact_letters(np.array([[0, 1], [0, 0]]))
    with pytest.raises(ValueRangeError, match='letters'):
        # 3^10 largest groups of ten triples.
        compact_letters(np.kron(np.eye(10), np.ones((3, 3))) - np.eye(30) > 0)


@given(st.lists(st.floats(0.0, 1.0), max_size=8))
def test_bonferroni_is_never_below_holm(values):
    found = bonferroni(values)
    assert (found >= holm(values) - 1e-15).all() and (found <= 1.0).all()
    assert found == pytest.approx([min(1.0, p * len(values)) for p in values])


def test_bonferroni_counts_tests_that_were_made():
    np.testing.assert_array_equal(bonferroni([0.1, np.nan, 0.6]), [0.2, np.nan, 1.0])
    for wrong in ([0.1, 1.2], [-0.1], [[0.1]]):
        with pytest.raises((ValueRangeError, ShapeError)):
            bonferroni(wrong)


def matrix(count: int, values: dict) -> np.ndarray:
    found = np.ones((count, count))
    for (i, j), p in values.items():
        found[i, j] = found[j, i] = p
    return found


def test_the_set_of_the_best_by_hand():
    rates = [0.5, 0.9, 0.8, 0.85]
    # Three comparisons: 0.05 / 3 = 0.0167 is the bound.
    p = matrix(4, {(0, 1): 0.001, (1, 2): 0.02, (2, 3): 0.5, (1, 3): 0.6})
    assert best_set(rates, p) == [1, 3, 2]
    assert best_set(rates, p, 0.9) == [1, 3]
    # Left out also by one that is not the best estimate; never by one below it.
    assert best_set(rates, matrix(4, {(2, 3): 0.001})) == [1, 3, 0]
    assert best_set([0.5], [[np.nan]]) == [0]
    assert best_set([0.2, np.nan, 0.9], np.zeros((3, 3))) == [2, 1]
    assert best_set([0.9, 0.9], np.zeros((2, 2))) == [0, 1]


def test_the_best_is_in_its_set_as_often_as_is_claimed():
    """Four policies, three of them equally good, by exact tests of 40 episodes each."""
    rng = np.random.default_rng(5)
    successes = rng.binomial(40, [0.7, 0.7, 0.7, 0.4], (400, 4))
    missed = excluded = 0
    for row in successes:
        p = matrix(4, {(i, j): fisher(row[i], row[j]) for i, j in combinations(range(4), 2)})
        found = best_set(row / 40, p)
        missed += any(i not in found for i in range(3))
        excluded += 3 not in found
    assert missed <= 0.05 * 400 and excluded >= 0.5 * 400


def fisher(x: int, y: int) -> float:
    return min(1.0, 2.0 * stats.hypergeom.cdf(min(x, y), 80, x + y, 40))


def test_bad_sets_are_refused():
    for estimates, p in [([], []), ([1.0], [1.0]), ([0.1, 0.2], np.ones((3, 3)))]:
        with pytest.raises(ShapeError):
            best_set(estimates, p)
    with pytest.raises(ValueRangeError):
        best_set([0.1, 0.2], matrix(2, {(0, 1): 1.5}))
    with pytest.raises(ValueRangeError, match='confidence'):
        best_set([0.1, 0.2], np.ones((2, 2)), 1.0)


EACH = 'episodes of each policy'


def test_the_rules_of_verdicts_in_their_order():
    def verdict(p=0.01, differences=(0.1,), have=50, needed=100, **rest):
        return judge(p, differences, have=have, needed=needed, **rest)

    assert verdict().verdict is Verdict.BETTER
    assert verdict(differences=(-0.1,)).verdict is Verdict.WORSE
    assert verdict(differences=(-0.1, -0.3, 0.0, math.nan)).verdict is Verdict.WORSE
    assert verdict(differences=(-0.1, 0.3)).verdict is Verdict.CROSSING
    assert verdict(differences=(0.0,)).verdict is Verdict.CROSSING
    under = verdict(p=0.06)
    assert under.verdict is Verdict.UNDERPOWERED and under.needed == 100
    assert '100 are needed' in under.text('x', 'y') and under.text('x', 'y').startswith(
        'Too few episodes to say if x'
    )
    assert verdict(p=0.06, needed=math.inf).needed is None
    assert verdict(p=0.06, needed=None).verdict is Verdict.UNDERPOWERED
    assert verdict(p=0.06, needed=50).verdict is Verdict.INDISTINGUISHABLE
    assert verdict(p=0.06, level=0.1).verdict is Verdict.BETTER
    assert 'with 1 episode of each policy;' in verdict(p=1.0, have=1, unit=EACH).reason
    apart = verdict(p=1.0, have=1, unit=EACH, counts=(2, 1))
    assert 'with 2 episodes of the first and 1 of the second policy;' in apart.reason
    assert apart.reason.endswith('100 of each are needed')
    other = verdict(differing_facts=['task: a against b'])
    assert other.verdict is Verdict.NOT_COMPARABLE and 'task: a against b' in other.reason
    nothing = verdict(p=math.nan, have=0)
    assert nothing.verdict is Verdict.NOT_COMPARABLE and 'no pairs' in nothing.reason
    for wrong in ({'p': 1.1}, {'p': math.nan}, {'level': 0.0}):
        with pytest.raises(ValueRangeError):
            verdict(**wrong)


def test_exit_statuses_are_distinct_and_no_others():
    assert sorted(EXIT_STATUSES.values()) == [10, 11, 12, 13, 14, 15]
    assert Verdict.BETTER.exit_status == 10 and Verdict.NOT_COMPARABLE.exit_status == 15
    assert Verdict.BETTER.reversed is Verdict.WORSE and Verdict.WORSE.reversed is Verdict.BETTER
    assert Verdict.CROSSING.reversed is Verdict.CROSSING
    assert all(each.meaning for each in Verdict)


def test_the_page_has_these_exit_statuses():
    page = Path(__file__).resolve().parents[2] / 'docs' / 'paired-tests.md'
    rows = [line.split('|')[1:-1] for line in page.read_text().splitlines() if '|' in line]
    named = {}
    for verdicts, _, statuses in (row for row in rows if len(row) == 3):
        if statuses.strip()[:1].isdigit():
            pairs = zip(verdicts.split(','), statuses.split(','), strict=True)
            named |= {name.strip().replace(' ', '_'): int(status) for name, status in pairs}
    assert named == {str(verdict): status for verdict, status in EXIT_STATUSES.items()}


@pytest.mark.parametrize('have', [1, 5, 8, 20, 451, 5000])
def test_the_smallest_difference_that_is_found_is_that_of_the_formula(have):
    found = sensitivity_of(lambda difference: 4.5 / difference**2, have, 0.1, 0.8)
    exact = math.ceil(100 * math.sqrt(4.5 / have)) / 100
    assert found.detectable == (exact if exact < 1 else None)
    assert ('no difference' in found.text) is (exact >= 1)
    judgement = judge(0.3, [0.1], have=have, needed=450, sensitivity=found)
    assert judgement.detectable == found.detectable and found.text in judgement.reason
    assert 'for one of 10 points' in judgement.reason


@pytest.mark.parametrize('none', [None, math.inf])
def test_differences_that_no_number_finds_are_passed_over(none):
    found = sensitivity_of(lambda difference: none if difference < 0.5 else 20, 30, 0.1, 0.8)
    assert found.detectable == 0.5
    assert sensitivity_of(lambda difference: none, 30, 0.1, 0.8).detectable is None
