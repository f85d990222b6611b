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
from frame_ros.evaluation.policy_comparison.options import ComparisonOptions
from frame_ros.evaluation.statistics.verdict import Verdict
from frame_ros.reports.comparison.words import warnings

FAST = ComparisonOptions(resamples=200)


def limited(policy: str, limit: float, count: int = 40, seed: int = 0):
    """Episodes of one operation, exponential times of 100 s on average, to the limit in s."""
    times = np.random.default_rng(seed).exponential(100.0, count)
    found = []
    for number, time in enumerate(times):
        ending = Ending.SUCCESS if time < limit else Ending.TIMEOUT
        end = min(float(time), limit)
        made = episode(f'{policy} {number}', policy, [end], is_success=time < limit)
        found.append(replace(made, operations=(Operation(0.0, end, ending),)))
    return found


def verdict(outcomes, options=FAST) -> Verdict:
    """The verdict on the only pair."""
    return compare_policies(outcomes, options).pairs[0].judgement.verdict


def test_limits_that_differ_are_no_difference_of_equal_policies():
    """Without this the one with the longer limit is better in nearly all of such studies."""
    for seed in range(5):
        outcomes = [*limited('a', 60.0, seed=seed), *limited('b', 240.0, seed=seed + 100)]
        study = compare_policies(outcomes, FAST)
        judgement = study.pairs[0].judgement
        assert judgement.verdict is Verdict.NOT_COMPARABLE
        words = ("'60 s' against '240 s'", "'240 s' against '60 s'")
        assert judgement.reason in [f'time limits differ: {each}' for each in words]
        (text,) = (each for each in warnings(study) if 'followed' in each)
        assert 'a 60 s at most' in text and 'others were followed for longer' in text
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
