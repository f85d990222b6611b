# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Policies whose operations were followed for different times: no difference of the policies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from comparison_outcomes import episode

from frame_ros.core.options import evolved
from frame_ros.evaluation.outcomes.operation import Ending, Operation
from frame_ros.evaluation.policy_comparison.comparison import compare_policies
from frame_ros.evaluation.policy_comparison.follow_up import differing_limits
from frame_ros.evaluation.policy_comparison.options import ComparisonOptions
from frame_ros.evaluation.statistics.verdict import Verdict
from frame_ros.evaluation.survival.samples import as_cell
from frame_ros.reports.comparison.words import warnings

FAST = ComparisonOptions(resamples=200)
IN_WORDS = (
    "time limits differ: '60 s' against '240 s'",
    "time limits differ: '240 s' against '60 s'",
)


def limited(policy: str, limit: float, count: int = 40, seed: int = 0, **others):
    """Episodes of one operation, exponential times of 100 s on average, to the limit in s."""
    times = np.random.default_rng(seed).exponential(100.0, count)
    found = []
    for number, time in enumerate(times):
        ending = Ending.SUCCESS if time < limit else Ending.TIMEOUT
        end = min(float(time), limit)
        made = episode(f'{policy} {number}', policy, [end], is_success=time < limit, **others)
        found.append(replace(made, operations=(Operation(0.0, end, ending),)))
    return found


def ended(name: str, policy: str, time: float, ending: Ending, **others):
    """An episode of one operation."""
    made = episode(name, policy, [time], is_success=ending is Ending.SUCCESS, **others)
    return replace(made, operations=(Operation(0.0, time, ending),))


def judgement(outcomes, options=FAST):
    """The judgement on the only pair."""
    return compare_policies(outcomes, options).pairs[0].judgement


def verdict(outcomes, options=FAST) -> Verdict:
    """The verdict on the only pair."""
    return judgement(outcomes, options).verdict


def test_limits_that_differ_are_no_difference_of_equal_policies():
    """Without this the one with the longer limit is better in nearly all of such studies."""
    for seed in range(5):
        outcomes = [*limited('a', 60.0, seed=seed), *limited('b', 240.0, seed=seed + 100)]
        study = compare_policies(outcomes, FAST)
        found = study.pairs[0].judgement
        assert found.verdict is Verdict.NOT_COMPARABLE and found.reason in IN_WORDS
        (text,) = (each for each in warnings(study) if 'followed' in each)
        assert 'but for a few: a 60 s;' in text and 'others were followed for longer' in text
        assert '--tau 60' in text


def test_up_to_the_shorter_limit_they_are_compared():
    outcomes = [*limited('a', 60.0), *limited('b', 240.0, seed=1)]
    short = evolved(FAST, tau=60.0)
    assert verdict(outcomes, short) in (Verdict.UNDERPOWERED, Verdict.INDISTINGUISHABLE)
    differing = evolved(FAST, may_differ=('time_limit',))
    assert verdict(outcomes, differing) in (Verdict.BETTER, Verdict.WORSE, Verdict.CROSSING)


@pytest.mark.parametrize('limits', [(60.0, 60.0), (240.0, 240.0), (240.0, 300.0)])
def test_the_same_limits_and_those_beyond_the_horizon_are_compared(limits):
    outcomes = [*limited('a', limits[0]), *limited('b', limits[1], seed=1)]
    assert verdict(outcomes) is not Verdict.NOT_COMPARABLE


def test_a_limit_after_which_nothing_was_done_is_none():
    """Both would have been done by then: what was cut off is known."""
    done = [episode(f'b {number}', 'b', [40.0 + number]) for number in range(10)]
    cut = [episode(f'a {number}', 'a', [None]) for number in range(10)]
    at_60 = [replace(each, operations=(Operation(0.0, 60.0, Ending.TIMEOUT),)) for each in cut]
    assert verdict([*at_60, *done]) is Verdict.WORSE or verdict([*at_60, *done]) is Verdict.BETTER


def test_one_that_was_stopped_is_no_limit():
    slow = [episode(f'b {number}', 'b', [100.0 + number]) for number in range(10)]
    fast = [episode(f'a {number}', 'a', [20.0 + number]) for number in range(9)]
    stopped = episode('a 9', 'a', [None])
    assert verdict([*fast, stopped, *slow]) is Verdict.BETTER


STRAGGLERS = [(70.0, Ending.TIMEOUT), (61.0, Ending.SUCCESS), (70.0, Ending.SUCCESS)]


@pytest.mark.parametrize(('time', 'ending'), STRAGGLERS)
def test_one_that_was_followed_for_longer_hides_no_limit(time, ending):
    for seed in range(3):
        outcomes = [*limited('a', 60.0, seed=seed), *limited('b', 240.0, seed=seed + 100)]
        late = ended('a late', 'a', time, ending)
        for tau in (240.0, 300.0):
            found = judgement([*outcomes, late], evolved(FAST, tau=tau))
            assert found.verdict is Verdict.NOT_COMPARABLE and found.reason in IN_WORDS
    study = compare_policies([*outcomes, late], FAST)
    (text,) = (each for each in warnings(study) if 'followed' in each)
    assert 'but for a few: a 60 s;' in text and '--tau 60' in text
    alike = [*limited('a', 60.0), *limited('b', 60.0, seed=1)]
    assert verdict([*alike, late]) in (Verdict.UNDERPOWERED, Verdict.INDISTINGUISHABLE)


def test_a_limit_on_one_object_is_found_where_another_was_stopped_then():
    outcomes = [
        *limited('a', 60.0),
        *limited('b', 240.0, seed=1),
        *limited('a', 240.0, 200, seed=2, object='box'),
        *limited('b', 240.0, 200, seed=3, object='box'),
        ended('a stopped', 'a', 58.0, Ending.STOPPED, object='box'),
    ]
    found = judgement(outcomes)
    assert found.verdict is Verdict.NOT_COMPARABLE
    assert "'60 s on cube'" in found.reason and "'240 s on cube'" in found.reason


def test_limits_that_differ_the_other_way_on_another_object_are_named():
    """The largest of either policy are the same."""
    outcomes = [
        *limited('a', 60.0),
        *limited('b', 240.0, seed=1),
        *limited('a', 240.0, seed=2, object='box'),
        *limited('b', 60.0, seed=3, object='box'),
    ]
    found = judgement(outcomes)
    assert found.verdict is Verdict.NOT_COMPARABLE
    first, second = found.reason.removeprefix('time limits differ: ').split(' against ')
    assert {first.split(' s on ')[0], second.split(' s on ')[0]} == {"'60", "'240"}
    assert first.split(' s on ')[1] == second.split(' s on ')[1]


@pytest.mark.parametrize('may_differ', [(), ('time_limit',)])
def test_names_of_limits_of_which_some_agree_leave_the_times_to_be_looked_at(may_differ):
    short = [replace(each, conditions={'time_limit': '60'}) for each in limited('a', 60.0)]
    long = [replace(each, conditions={'time_limit': '240'}) for each in limited('b', 240.0)]
    one = ended('a 240', 'a', 70.0, Ending.SUCCESS, conditions={'time_limit': '240'})
    found = judgement([*short, one, *long], evolved(FAST, may_differ=may_differ))
    assert (found.verdict is Verdict.NOT_COMPARABLE) is not may_differ
    assert may_differ or found.reason in IN_WORDS


def followed(random, count, limit):
    """(count,) s: until when operations would be followed, of one policy on one object."""
    if limit == 'jitter':
        return 60.0 + random.uniform(0.0, 6.0, count)
    if limit == 'any time':
        return random.exponential(100.0, count)
    if limit == 'mixed':
        return np.where(random.random(count) < 0.8, 60.0, 240.0)
    if limit == 'stops':
        stop = random.uniform(0.0, 60.0, count)
        return np.where(random.random(count) < 0.3, stop, 60.0)
    return np.full(count, float(limit))


def found_differing(limits, objects, count, tau=240.0, mean=90.0, studies=100) -> int:
    """In how many studies of equal policies the limits differ."""
    found = 0
    for seed in range(studies):
        random, pairs = np.random.default_rng(seed), {}
        for number in range(objects):
            arms = []
            for limit in limits:
                times = random.exponential(mean, count)
                until = followed(random, count, limit)
                arms.append(as_cell((np.minimum(times, until), times <= until)))
            pairs[f'object {number}'] = (arms[0], arms[1])
        found += differing_limits(pairs, tau, 0.1) is not None
    return found


@pytest.mark.parametrize(('objects', 'count'), [(1, 80), (1, 20), (4, 6), (8, 3)])
def test_differing_limits_are_found_of_few_operations_of_many_objects(objects, count):
    """Of 8 objects with 3 operations each it were 55 of 100 when each object counted by itself."""
    assert found_differing((60.0, 240.0), objects, count) >= 95
    assert found_differing((240.0, 60.0), objects, count, tau=300.0) >= 95
    assert found_differing(('stops', 240.0), objects, count) >= 85


@pytest.mark.parametrize(('objects', 'count'), [(1, 80), (1, 20), (4, 20), (4, 6), (8, 3)])
def test_like_limits_are_seldom_taken_to_differ(objects, count):
    assert not found_differing((60.0, 60.0), objects, count)
    assert not found_differing((240.0, 240.0), objects, count, tau=300.0)
    for limit in ('jitter', 'stops', 'any time'):
        assert found_differing((limit, limit), objects, count) <= 3, limit
    if count >= 80:
        assert not found_differing(('mixed', 'mixed'), objects, count)
    assert not found_differing((60.0, 240.0), objects, count, mean=8.0)  # that hides nothing
