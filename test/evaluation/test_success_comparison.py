# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Pairs, successes, stages and verdicts of two policies' episodes, with the rules for bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.evaluation import (
    Verdict,
    boschloo,
    holm,
    mcnemar_exact,
    newcombe_interval,
    tango_interval,
)
from frame_ros.evaluation.binary.comparison import compare_successes
from frame_ros.evaluation.binary.needed import Aim, needed_episodes, needed_for_mean, needed_pairs
from frame_ros.evaluation.binary.pairing import Unpaired, pair_episodes
from frame_ros.evaluation.binary.partial_credit import paired_credit, unpaired_credit
from frame_ros.evaluation.binary.stages import common_stages, compare_stages, stage_number
from frame_ros.evaluation.binary.strata import (
    Stratum,
    is_balanced,
    stratified_difference,
    stratified_interval,
)
from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome

STAGES = ('grasped', 'lifted', 'placed')


def episode(policy, success, *, pair='', item='cube', name='', reached=None, names=STAGES):
    stages = {} if reached is None else {s: n < reached for n, s in enumerate(names)}
    name = name or f'{policy}-{item}-{pair}'
    return EpisodeOutcome(name, policy, item, 'pick', 10.0, (), success, stages, pair)


def episodes(policy, successes, *, item='cube', paired=True):
    return [
        episode(policy, None if s is None else bool(s), pair=str(n) if paired else '', item=item)
        for n, s in enumerate(successes)
    ]


def test_pairs_by_task_object_and_key():
    first = [
        episode('a', True, pair='1'),
        episode('a', True, pair='1', item='ball'),
        episode('a', True),
        episode('a', True, pair='2'),
        episode('a', False, pair='1'),
    ]
    second = [
        episode('b', True, pair='3'),
        episode('b', True, pair='1'),
        episode('b', False, pair='2', item='ball'),
        episode('b', False, pair='1'),
        episode('b', False, pair='1'),
    ]
    found = pair_episodes(first, second)
    assert found.pairs == ((0, 1), (4, 3))
    assert found.first_left == {
        1: Unpaired.NO_PARTNER, 2: Unpaired.NO_KEY, 3: Unpaired.NO_PARTNER
    }  # fmt: skip
    assert found.second_left == {
        0: Unpaired.NO_PARTNER, 2: Unpaired.NO_PARTNER, 4: Unpaired.SURPLUS
    }  # fmt: skip


keys = st.lists(st.tuples(st.sampled_from('xy'), st.sampled_from(['', '1', '2'])), max_size=9)


@given(keys, keys)
def test_every_episode_is_paired_once_or_left(left, right):
    first = [episode('a', True, pair=pair, item=item) for item, pair in left]
    second = [episode('b', True, pair=pair, item=item) for item, pair in right]
    found = pair_episodes(first, second)
    assert sorted([i for i, _ in found.pairs] + list(found.first_left)) == list(range(len(first)))
    assert sorted([j for _, j in found.pairs] + list(found.second_left)) == list(range(len(second)))
    for i, j in found.pairs:
        assert (first[i].object, first[i].pair) == (second[j].object, second[j].pair) and left[i][1]
    expected = sum(min(left.count(key), right.count(key)) for key in set(left) if key[1])
    assert len(found.pairs) == expected
    # Seen from the other policy the same pairs are made.
    assert sorted(found.pairs) == sorted((i, j) for j, i in pair_episodes(second, first).pairs)


def test_paired_first_and_boschloo_as_sensitivity():
    rng = np.random.default_rng(0)
    a, b = rng.random(60) < 0.8, rng.random(60) < 0.45
    found = compare_successes(episodes('a', a), episodes('b', b))
    assert found.is_paired and found.have == 60 and found.p == mcnemar_exact(a, b)
    assert (found.paired.lower, found.paired.upper) == tango_interval(a, b)
    assert found.paired.difference == pytest.approx(a.mean() - b.mean())
    counts = int(a.sum()), 60, int(b.sum()), 60
    assert found.unpaired.p == found.unpaired.p_boschloo == boschloo(*counts)
    assert (found.unpaired.lower, found.unpaired.upper) == newcombe_interval(*counts)
    assert found.judged().verdict is Verdict.BETTER and not found.remarks
    assert found.stages is None
    swapped = compare_successes(episodes('b', b), episodes('a', a))
    assert swapped.judged().verdict is Verdict.WORSE
    assert swapped.paired.upper == -found.paired.lower
    # Adjusted for others, the same p is not enough.
    assert found.judged(p=0.2).verdict is Verdict.UNDERPOWERED


def test_without_pairs_the_unpaired_test_is_the_primary_one():
    a, b = [1] * 18 + [0] * 2, [1] * 9 + [0] * 11
    found = compare_successes(episodes('a', a, paired=False), episodes('b', b))
    assert found.paired is None and not found.is_paired and found.primary is found.unpaired
    assert found.p == boschloo(18, 20, 9, 20) and found.have == 20
    assert 'episodes of each policy' in found.judged().reason
    fewer = compare_successes(episodes('a', a, paired=False), episodes('b', b[:-1])).judged()
    assert '20 episodes of the first and 19 of the second policy' in fewer.reason
    # Two pairs among forty episodes are no paired study.
    few = [*episodes('a', [1, 0]), *episodes('a', a[1:-1], paired=False)]
    found = compare_successes(few, [*episodes('b', [1, 1]), *episodes('b', b[2:], paired=False)])
    assert found.paired.counts.pairs == 2 and not found.is_paired
    assert any('18 unpaired, as it has no pair key' in remark for remark in found.remarks)


@pytest.mark.parametrize('count', [4, 5])
def test_half_of_the_episodes_in_pairs_make_a_paired_study(count: int):
    first, second = episodes('a', [1] * count), episodes('b', [0] * count)
    first += episodes('a', [1] * (10 - count), paired=False)
    second += episodes('b', [0] * (30 - count), paired=False)
    found = compare_successes(first, second)
    assert found.is_paired == (count == 5) and found.have == (5 if count == 5 else 10)


def test_unknown_outcomes_do_not_count_and_are_named():
    found = compare_successes(episodes('a', [1, None, 0, 1]), episodes('b', [0, 1, 0, None]))
    assert found.pairing.pairs == ((0, 0), (1, 1), (2, 2), (3, 3))
    assert found.paired.counts == (0, 1, 0, 1) and found.pairs == ((0, 0), (2, 2))
    assert found.counted == ((0, 2, 3), (0, 1, 2))
    assert (found.unpaired.trials_a, found.unpaired.trials_b) == (3, 3)
    assert [remark.split(':')[0] for remark in found.remarks] == ['a', 'b']
    assert 'a-cube-1' in found.remarks[0] and 'b-cube-3' in found.remarks[1]


def test_unequal_objects_are_compared_within_objects():
    # Equal on each object; a has the easy one more often.
    first = episodes('a', [1] * 36 + [0] * 4, item='easy', paired=False)
    first += episodes('a', [1] * 2 + [0] * 8, item='hard', paired=False)
    second = episodes('b', [1] * 9 + [0], item='easy', paired=False)
    second += episodes('b', [1] * 8 + [0] * 32, item='hard', paired=False)
    second += episodes('b', [1] * 50, item='other', paired=False)
    found = compare_successes(first, second)
    assert found.unpaired.is_stratified and found.p == 1.0 and found.unpaired.p_boschloo < 0.001
    assert found.unpaired.difference == pytest.approx(0.0, abs=1e-12)
    assert found.unpaired.lower < 0.0 < found.unpaired.upper
    assert (found.unpaired.trials_a, found.unpaired.trials_b) == (50, 50)
    assert 'objects of one policy only do not count: pick other' in found.remarks
    assert any('unequal shares' in remark for remark in found.remarks)
    assert found.judged().verdict is Verdict.UNDERPOWERED


def test_pairs_keep_the_objects_apart():
    first = episodes('a', [1, 1, 1, 0]) + episodes('a', [1, 0, 1], item='ball')
    second = episodes('b', [0, 0, 1, 1]) + episodes('b', [0, 0], item='ball')
    found = compare_successes(first, second)
    # Discordant pairs of the objects, added: 2 and 1 for a, 1 for b.
    assert found.paired.counts == (1, 3, 1, 1)
    assert found.paired.p == pytest.approx(2 * 5 / 16)


def test_what_is_not_comparable():
    nothing = compare_successes([], episodes('b', [1, 0]))
    assert nothing.judged().verdict is Verdict.NOT_COMPARABLE and math.isnan(nothing.p)
    assert nothing.have == 0 and nothing.needed is None
    unknown = compare_successes(episodes('a', [None]), episodes('b', [1, 0]))
    assert 'a has no episode of which success' in unknown.judged().reason
    other = compare_successes(episodes('a', [1], item='x'), episodes('b', [1], item='y'))
    assert 'no task and object in common' in other.judged().reason


def test_one_episode_and_all_successes():
    one = compare_successes(episodes('a', [1]), episodes('b', [0]))
    assert one.p == 1.0 and one.judged().verdict is Verdict.UNDERPOWERED
    assert one.paired.lower == pytest.approx(-0.586901371245525) and one.paired.upper == 1.0
    assert 'there is one pair: no test can find a difference' in one.remarks
    for n, verdict in ((5, Verdict.UNDERPOWERED), (200, Verdict.INDISTINGUISHABLE)):
        same = compare_successes(episodes('a', [1] * n), episodes('b', [1] * n))
        assert same.p == 1.0 and same.paired.difference == 0.0
        assert same.paired.upper == pytest.approx(3.841458820694124 / (n + 3.841458820694124))
        assert same.judged().verdict is verdict
    assert same.judged(comparisons=6).needed is None


def test_the_number_needed_grows_with_power_and_comparisons_and_finds_the_margin():
    aim = Aim()
    assert needed_pairs(8, 38, aim) < needed_pairs(8, 38, Aim(power=0.9))
    assert needed_pairs(8, 38, aim) < needed_pairs(8, 38, Aim(comparisons=6))
    assert needed_pairs(0, 1, aim) > needed_pairs(0, 1000, aim) >= needed_pairs(0, 10**6, aim)
    # Discordance (8 + 1) / (38 + 2); the exact test summed outcome by outcome has a power of 0.7990
    # with 186 pairs, and 0.8015 with 187.
    assert needed_pairs(8, 38, aim) == 187
    # 0.6 against 0.7: (1.96 sqrt(0.455) + 0.842 sqrt(0.45))^2 / 0.01 = 355.9.
    assert needed_episodes(64, 98, Aim()) == 356
    rng = np.random.default_rng(1)
    count = needed_episodes(649, 998, Aim(margin=0.3))
    found = [
        boschloo(int(x), count, int(y), count) <= 0.05
        for x, y in rng.binomial(count, [0.8, 0.5], (400, 2))
    ]
    assert 0.72 < np.mean(found) < 0.9
    assert needed_for_mean(1.0, Aim(margin=0.5)) == 32
    for wrong in ({'margin': 0.0}, {'power': 1.0}, {'level': 0.0}, {'comparisons': 0}):
        with pytest.raises(ValueRangeError):
            Aim(**wrong)


strata = st.lists(
    st.tuples(*[st.integers(0, 9)] * 4).filter(lambda s: s[0] + s[1] and s[2] + s[3]),
    min_size=1, max_size=4,
)  # fmt: skip


@given(strata)
def test_the_stratified_interval_holds_its_difference(rows):
    found = [Stratum(x, x + f, y, y + g) for x, f, y, g in rows]
    low, high = stratified_interval(found)
    assert -1.0 <= low <= stratified_difference(found) <= high <= 1.0
    if len(found) == 1:
        assert (low, high) == pytest.approx(newcombe_interval(*found[0]), abs=1e-12)
    if is_balanced(found):
        total = np.sum(found, axis=0)
        expected = total[0] / total[1] - total[2] / total[3]
        assert stratified_difference(found) == pytest.approx(expected, abs=1e-12)
        assert (low, high) == pytest.approx(newcombe_interval(*total), abs=1e-12)


def test_strata_by_hand():
    found = [Stratum(3, 4, 1, 4), Stratum(1, 2, 0, 6)]
    # Weights 16/8 and 12/8: (2 * 0.5 + 1.5 * 0.5) / 3.5.
    assert stratified_difference(found) == pytest.approx(0.5)
    # Rates 4/7 3/4 + 3/7 1/2 and 4/7 1/4; trials 1 / (16/49/4 + 9/49/2) and 1 / (16/49/4 + 9/49/6).
    sizes = 49 / (16 / 4 + 9 / 2), 49 / (16 / 4 + 9 / 6)
    counts = 4.5 / 7 * sizes[0], sizes[0], 1 / 7 * sizes[1], sizes[1]
    assert stratified_interval(found) == pytest.approx(newcombe_interval(*counts), abs=1e-12)
    assert not is_balanced(found) and is_balanced(found[:1])
    with pytest.raises(ShapeError):
        stratified_difference([Stratum(1, 1, 0, 0)])
    with pytest.raises(ValueRangeError):
        stratified_difference([Stratum(3, 1, 0, 1)])


@pytest.mark.parametrize('trials', [[(1, 2)] * 10, [(3, 2), (2, 3)] * 5, [(20, 1), (1, 20)] * 3])
@pytest.mark.parametrize('is_spread', [False, True])
def test_the_stratified_interval_covers_with_few_episodes_of_an_object(trials, is_spread):
    rng = np.random.default_rng(4)
    sizes = np.array(trials)
    rate = np.linspace(0.3, 0.97, len(sizes)) if is_spread else np.full(len(sizes), 0.6)
    weights = sizes.prod(axis=1) / sizes.sum(axis=1)
    rates = np.stack([rate, rate - 0.15], axis=1)
    wanted = float(weights @ (rates[:, 0] - rates[:, 1]) / weights.sum())
    held = []
    for drawn in rng.binomial(sizes, rates, (400, *sizes.shape)).tolist():
        rows = [Stratum(x, n, y, m) for (x, y), (n, m) in zip(drawn, trials)]
        low, high = stratified_interval(rows)
        held.append(low <= wanted <= high)
    # The squares of the objects' own intervals, added, hold it in 79 to 89 % of these.
    assert np.mean(held) > 0.93


def staged(policy, numbers, **settings):
    return [
        episode(policy, n == 3, pair=str(i), reached=n, **settings) for i, n in enumerate(numbers)
    ]


def test_stages_of_pairs():
    a, b = np.array([3, 3, 2, 1, 3, 2, 3, 3]), np.array([1, 2, 2, 0, 0, 3, 1, 1])
    found = compare_successes(staged('a', a), staged('b', b)).stages
    assert found.stages == STAGES and not found.remarks
    for number, row in enumerate(found.rows):
        assert row.p == mcnemar_exact(a > number, b > number) == row.paired.p
        assert row.unpaired.p == boschloo(int((a > number).sum()), 8, int((b > number).sum()), 8)
    adjusted = [row.p_holm for row in found.rows]
    assert adjusted == pytest.approx(holm([row.p for row in found.rows]))
    credit = found.paired
    assert credit.is_paired and credit.mean_a == pytest.approx(a.mean() / 3)
    assert credit.difference == pytest.approx((a - b).mean() / 3)
    # Differences 2, 1, 0, 1, 3, -1, 2, 2: of 128 choices of signs, 6 and their mirror images.
    signs = np.array(np.meshgrid(*[[-1, 1]] * 8)).reshape(8, -1)
    expected = np.mean(np.abs((a - b) @ signs) >= (a - b).sum())
    assert credit.p == pytest.approx(expected, abs=1e-12)
    assert credit.lower < credit.difference < credit.upper
    assert not found.unpaired.is_paired and found.unpaired.p_rank <= 1.0


def test_the_bootstrap_interval_is_that_of_drawn_pairs():
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 4, 50), rng.integers(0, 3, 50)
    found = paired_credit(a, b, 3, Aim(), 20_000, 1)
    means = (a - b)[rng.integers(50, size=(20_000, 50))].mean(axis=1) / 3
    means = found.difference + np.sqrt(50 / 49) * (means - found.difference)
    assert (found.lower, found.upper) == pytest.approx(
        tuple(np.quantile(means, (0.025, 0.975))), abs=0.01
    )
    assert found == paired_credit(a, b, 3, Aim(), 20_000, 1)
    groups = {('', 'x'): (a[:30], b[:10]), ('', 'y'): (a[30:], b[10:])}
    unpaired = unpaired_credit(groups, 3, Aim(), 20_000, 1)
    weights = 30 * 10 / 40, 20 * 40 / 60
    parts = a[:30].mean() - b[:10].mean(), a[30:].mean() - b[10:].mean()
    assert unpaired.difference == pytest.approx(np.average(parts, weights=weights) / 3)
    assert unpaired.lower < unpaired.difference < unpaired.upper


@pytest.mark.parametrize(('trials', 'objects'), [((2, 3), 10), ((5, 4), 5), ((10, 10), 1)])
def test_the_bootstrap_interval_covers_with_few_episodes_of_an_object(trials, objects):
    rng = np.random.default_rng(5)
    wanted = sum(0.8**k - 0.7**k for k in range(1, 5)) / 4
    held = []
    for seed in range(300):
        strata = {
            ('', str(place)): tuple(
                (rng.random((count, 4)) < share).cumprod(axis=1).sum(axis=1)
                for count, share in zip(trials, (0.8, 0.7))
            )
            for place in range(objects)
        }
        found = unpaired_credit(strata, 4, Aim(), 500, seed)
        held.append(found.lower <= wanted <= found.upper)
    # Of two and three episodes of each object, resamples as they are hold it in 84 %.
    assert np.mean(held) > 0.9


def test_degenerate_stages():
    same = paired_credit(np.array([2, 2]), np.array([1, 1]), 3, Aim(), 100)
    assert np.isnan([same.lower, same.upper]).all() and 'same difference' in same.remark
    assert same.p == 0.5
    flat = unpaired_credit({('', ''): (np.array([3]), np.array([3]))}, 3, Aim(), 100)
    assert flat.p == 1.0 and np.isnan(flat.lower) and flat.needed > 100
    assert 'no policy varies within an object' in flat.remark
    one = {('', 'x'): (np.array([3, 0]), np.array([1])), ('', 'y'): (np.array([2]), np.array([0]))}
    found = unpaired_credit(one, 3, Aim(), 100)
    assert np.isnan([found.lower, found.upper]).all() and 'has one episode of a pol' in found.remark
    with pytest.raises(ShapeError):
        paired_credit(np.array([], int), np.array([], int), 3, Aim())
    with pytest.raises(ValueRangeError, match='0 to 3'):
        paired_credit(np.array([4]), np.array([0]), 3, Aim())
    with pytest.raises(ShapeError):
        unpaired_credit({}, 3, Aim())


def test_stages_that_differ_between_episodes():
    short = ('grasped', 'placed')
    first, second = staged('a', [3, 1, 2]), staged('b', [2, 0, 1], names=short)
    assert common_stages([*first, *second]) == (short, ('lifted',))
    # An episode that was lifted, not placed, has one of both; one stopped before lifting, too.
    assert [stage_number(each, short) for each in first] == [2, 1, 1]
    found = compare_stages(first, second, [(0, 0), (1, 1), (2, 2)])
    assert found.stages == short and 'lifted' in found.remarks[0]
    back = staged('b', [1], names=STAGES[::-1])
    assert common_stages([*first, *back])[0] == ()
    assert compare_stages(first, back, []) is None
    assert compare_stages(first, episodes('b', [1, 0]), []) is None
    some = compare_stages([*first, *episodes('a', [1])], staged('b', [1]), [])
    assert some.paired is None and '1 of 5 episodes have no stages' in some.remarks[0]
    assert all(row.paired is None and row.p == row.unpaired.p for row in some.rows)


def test_a_stage_counts_only_with_those_before_it():
    outcome = EpisodeOutcome(
        'x', 'a', 'cube', '', 1.0, (), False, {'grasped': True, 'lifted': False, 'placed': True}
    )
    assert stage_number(outcome, STAGES) == 1
