# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Kaplan-Meier estimates, scalars and tests against SciPy and numbers worked by hand."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import CensoredData, chi2, ecdf, ks_2samp
from scipy.stats import logrank as scipy_logrank

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.evaluation import (
    completion_fraction,
    human_relative_throughput,
    kaplan_meier,
    ks_distance,
    ks_supremum,
    logrank,
    mtbf_a,
    probability_faster,
    restricted_mean,
    success_at,
    units_per_hour,
)

INF = math.inf
# Whole times: ties of successes, censorings and both arms.
OPERATIONS = st.lists(
    st.tuples(st.integers(0, 12), st.sampled_from(['done', 'censored', 'ghost'])),
    min_size=1,
    max_size=25,
)


def sample_of(rows):
    times = np.array([INF if kind == 'ghost' else float(time) for time, kind in rows])
    return times, np.array([kind != 'censored' for _, kind in rows])


def censored(times, events):
    """For SciPy, which knows no ghosts: censored after all other times."""
    finite = np.where(np.isinf(times), 1e6, times)
    is_done = events & np.isfinite(times)
    return CensoredData(uncensored=finite[is_done], right=finite[~is_done])


def slow_survival(times, events, t):
    """S(t) by its definition."""
    alive = 1.0
    for time in sorted({x for x, event in zip(times, events) if event and x <= t and x < INF}):
        at_risk = sum(x >= time for x in times)
        done = sum(x == time and event for x, event in zip(times, events))
        alive *= 1 - done / at_risk
    return alive


def test_a_curve_worked_by_hand():
    # Seven operations: 1 done, 2 done and censored, 3 done, one ghost, 5 censored, 6 done.
    times = [1.0, 2.0, 2.0, 3.0, INF, 5.0, 6.0]
    events = [1, 1, 0, 1, 1, 0, 1]
    curve = kaplan_meier(times, events)
    assert curve.times.tolist() == [1.0, 2.0, 3.0, 6.0]
    assert curve.at_risk.tolist() == [7, 6, 4, 2]
    assert curve.done.tolist() == [1, 1, 1, 1]
    assert curve.censored_times.tolist() == [2.0, 5.0]
    assert (curve.count, curve.ghosts) == (7, 1)
    survival = [6 / 7, 5 / 7, 15 / 28, 15 / 56]
    assert curve.survival == pytest.approx(survival, abs=1e-15)
    assert curve.cdf([0.0, 0.99, 1.0, 2.5, 100.0]) == pytest.approx(
        [0, 0, 1 / 7, 2 / 7, 41 / 56], abs=1e-15
    )
    assert curve.median == 6.0
    assert curve.quantile([0.1, 0.2, 0.46, 0.74]).tolist() == [1.0, 2.0, 3.0, INF]
    assert curve.restricted_mean(4.0) == pytest.approx(1 + 6 / 7 + 5 / 7 + 15 / 28, abs=1e-14)
    assert curve.asymptote == pytest.approx(41 / 56)


def test_scalars_worked_by_hand():
    times, events = [10.0, 20.0, 30.0, INF], [1, 1, 1, 1]
    # S: 1 to 10 s, then 3/4, 1/2, 1/4 from 30 s on.
    assert restricted_mean(times, events, 40.0) == pytest.approx(10 + 7.5 + 5 + 2.5, abs=1e-13)
    assert completion_fraction(times, events, 40.0) == pytest.approx(0.75)
    assert completion_fraction(times, events, 20.0) == pytest.approx(0.5)
    assert success_at(times, events, 19.9) == pytest.approx(0.25)
    assert units_per_hour(times, events, 40.0) == pytest.approx(3600 / 25)
    assert units_per_hour(times, events, 40.0, 'completed') == pytest.approx(3600 / 20)
    # T < tau, not at tau.
    assert units_per_hour(times, events, 30.0, 'completed') == pytest.approx(3600 / 15)
    assert mtbf_a(times, events, 40.0) == pytest.approx(25 / 0.25)


def test_a_median_is_not_missed_by_rounding():
    # 3/4 * 2/3 is 1/2 in numbers, though not always in floats.
    for count in range(2, 200, 2):
        curve = kaplan_meier(np.arange(1.0, count + 1), np.ones(count))
        assert curve.median == count / 2


@settings(max_examples=200, deadline=None)
@given(OPERATIONS)
def test_curves_are_those_of_scipy_and_of_the_definition(rows):
    times, events = sample_of(rows)
    curve = kaplan_meier(times, events)
    grid = np.arange(0.0, 14.0, 0.5)
    theirs = ecdf(censored(times, events)).sf.evaluate(grid)
    assert np.abs(curve.survival_at(grid) - theirs).max() < 1e-12
    slow = [slow_survival(times, events, t) for t in grid]
    assert np.abs(1 - curve.cdf(grid) - slow).max() < 1e-12
    # Whole times: S is constant between them.
    rmst = sum(slow_survival(times, events, t) for t in range(10))
    assert restricted_mean(times, events, 10.0) == pytest.approx(rmst, abs=1e-12)


@settings(max_examples=200, deadline=None)
@given(OPERATIONS, OPERATIONS)
def test_logrank_is_that_of_scipy(first, second):
    a, b = sample_of(first), sample_of(second)
    ours = logrank(a, b)
    with np.errstate(all='ignore'):
        theirs = scipy_logrank(censored(*a), censored(*b))
    if ours.variance == 0:
        assert (ours.statistic, ours.p) == (0.0, 1.0)
        return
    assert abs(ours.statistic) == pytest.approx(abs(theirs.statistic), abs=1e-9)
    assert ours.p == pytest.approx(theirs.pvalue, abs=1e-9)


def test_stratified_logrank_adds_counts_and_pooled_joins_samples():
    random = np.random.default_rng(0)
    a = {name: (random.exponential(30 + 20 * i, 40), np.ones(40)) for i, name in enumerate('xyz')}
    b = {name: (random.exponential(40 + 20 * i, 30), np.ones(30)) for i, name in enumerate('xyw')}
    both = logrank(a, b)
    parts = [logrank(a[name], b[name]) for name in 'xy']
    difference = sum(part.observed - part.expected for part in parts)
    chi_squared = difference**2 / sum(part.variance for part in parts)
    assert both.statistic**2 == pytest.approx(chi_squared, rel=1e-12)
    assert both.p == pytest.approx(chi2.sf(chi_squared, 1), rel=1e-9)
    assert (both.strata, both.only_first, both.only_second) == (('x', 'y'), ('z',), ('w',))
    joined = [np.concatenate([each[name][0] for name in 'xy']) for each in (a, b)]
    pooled = scipy_logrank(*(CensoredData(uncensored=times) for times in joined))
    assert logrank(a, b, 'pooled').p == pytest.approx(pooled.pvalue, rel=1e-9)


def test_logrank_of_policies_that_share_no_object_is_unknown():
    for variant in ('stratified', 'pooled'):
        found = logrank({'x': ([1.0], [1])}, {'y': ([2.0], [1])}, variant)
        assert np.isnan([found.statistic, found.p]).all() and found.strata == ()
        assert (found.only_first, found.only_second) == (('x',), ('y',))


def test_logrank_is_positive_where_the_first_is_faster():
    fast, slow = ([1.0, 2, 3, 4, 5], [1] * 5), ([6.0, 7, 8, 9, INF], [1] * 5)
    assert logrank(fast, slow).statistic > 0 > logrank(slow, fast).statistic


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=20),
    st.lists(st.integers(0, 9), min_size=1, max_size=20),
)
def test_distances_without_censoring_are_those_of_scipy(first, second):
    a, b = (np.array(each, float) for each in (first, second))
    ours = ks_supremum((a, np.ones(len(a))), (b, np.ones(len(b))), INF)
    with np.errstate(all='ignore'):
        theirs = ks_2samp(a, b, method='asymp')
    assert ours.distance == pytest.approx(theirs.statistic, abs=1e-12)
    if ours.sign:
        gap = (a <= ours.time).mean() - (b <= ours.time).mean()
        assert gap == pytest.approx(ours.sign * ours.distance)


@settings(max_examples=100, deadline=None)
@given(OPERATIONS, OPERATIONS, st.integers(1, 13))
def test_who_is_faster_is_counted_over_pairs(first, second, tau):
    a, b = sample_of(first), sample_of(second)
    both = probability_faster(a, b, tau) + probability_faster(b, a, tau)
    assert both == pytest.approx(1.0, abs=1e-12)
    assert ks_distance(a, b, tau) == pytest.approx(ks_distance(b, a, tau), abs=1e-12)
    if a[1].all() and b[1].all():
        x, y = (np.where(each[0] > tau, INF, each[0]) for each in (a, b))
        pairs = np.where(x[:, None] == y, 0.5, x[:, None] < y)
        assert probability_faster(a, b, tau) == pytest.approx(pairs.mean(), abs=1e-12)


def test_the_place_of_the_largest_distance_is_not_moved_by_rounding():
    """Of equal gaps it is that of the first, counted in whole numbers."""
    for first, second in whole_times():
        found = ks_supremum((first, np.ones(len(first))), (second, np.ones(len(second))), INF)
        assert found.time == exact_place(first, second)


def whole_times():
    random = np.random.default_rng(0)
    for _ in range(400):
        yield random.integers(1, 9, 7).astype(float), random.integers(1, 9, 5).astype(float)


def exact_place(first, second):
    times = np.union1d(first, second)
    counts = [np.searchsorted(np.sort(each), times, 'right') for each in (first, second)]
    return times[np.argmax(np.abs(counts[0] * len(second) - counts[1] * len(first)))]


def test_the_signs_of_three_form_a_cycle():
    """PhAIL, appendix I: each pair's largest gap lies in another region."""
    done = np.ones(10)
    a = np.repeat([20.0, INF], [6, 4]), done
    b = np.repeat([10.0, 30.0], [1, 9]), done
    c = np.repeat([10.0, INF], [5, 5]), done
    found = [ks_supremum(x, y, 40.0) for x, y in ((a, b), (b, c), (c, a))]
    assert [each.time for each in found] == [20.0, 30.0, 10.0]
    assert [each.sign for each in found] == [1, 1, 1]
    assert [each.distance for each in found] == pytest.approx([0.5, 0.5, 0.5])


def test_throughput_against_a_human_over_shared_objects():
    human = {'spoon': ([10.0], [1]), 'towel': ([20.0], [1]), 'only': ([5.0], [1])}
    policy = {'towel': ([40.0], [1]), 'spoon': ([INF], [1]), 'mine': ([5.0], [1])}
    found = human_relative_throughput(policy, human, 100.0)
    assert found.per_object == {'towel': pytest.approx(0.5), 'spoon': pytest.approx(0.1)}
    assert found.macro == pytest.approx(0.3)
    assert (found.only_policy, found.only_human) == (('mine',), ('only',))
    nothing = human_relative_throughput({'x': human['spoon']}, {'y': human['spoon']})
    assert math.isnan(nothing.macro) and not nothing.per_object


def test_a_sample_without_successes_is_flat():
    for times, events in (([30.0, 20.0], [0, 0]), ([INF, INF], [1, 1]), ([240.0], [0])):
        curve = kaplan_meier(times, events)
        assert curve.cdf(1e9) == curve.asymptote == 0.0
        assert curve.median == INF
        assert curve.restricted_mean(240.0) == 240.0
        assert math.isnan(curve.units_per_hour(240.0, 'completed'))
        assert curve.units_per_hour(240.0) == 15.0
        assert curve.mtbf_a(240.0) == 240.0
        assert ks_supremum((times, events), ([1.0], [1]), 240.0) == (1.0, 1.0, -1)


def test_a_sample_that_is_all_done_never_fails():
    assert mtbf_a([1.0, 2.0], [1, 1], 10.0) == INF


@pytest.mark.parametrize(
    'times, events, error, words',
    [
        ([-1.0], [1], ValueRangeError, '-1 s'),
        ([math.nan], [1], ValueRangeError, 'nan s'),
        ([INF], [0], ValueRangeError, 'infinite time that is censored'),
        ([1.0], [2], ValueRangeError, 'event of 2'),
        ([1.0], [math.nan], ValueRangeError, 'event of nan'),
        ([1.0, 2.0], [1], ShapeError, r'\(2,\)'),
        ([], [], ShapeError, 'at least 1'),
        ([[1.0]], [[1]], ShapeError, r'\(1, 1\)'),
        (['soon'], [1], ValueRangeError, 'real numbers'),
    ],
)
def test_samples_that_cannot_be_meant_are_refused(times, events, error, words):
    with pytest.raises(error, match=words):
        kaplan_meier(times, events)


@pytest.mark.parametrize('tau', [0.0, -1.0, math.nan, INF, None, '240', True])
def test_an_integration_cap_is_positive_and_finite(tau):
    with pytest.raises(ValueRangeError, match='tau'):
        restricted_mean([1.0], [1], tau)


def test_other_values_that_cannot_be_meant_are_refused():
    curve = kaplan_meier([1.0], [1])
    for call in (
        lambda: curve.cdf(math.nan),
        lambda: curve.quantile(0.0),
        lambda: curve.quantile(1.1),
        lambda: curve.units_per_hour(1.0, 'other'),
        lambda: logrank(([1.0], [1]), ([1.0], [1]), 'other'),
        lambda: ks_distance(([1.0], [1], [1]), ([1.0], [1]), 10.0),
    ):
        with pytest.raises(ValueRangeError):
            call()
    with pytest.raises(ShapeError, match='by object'):
        logrank({'x': ([1.0], [1])}, ([1.0], [1]))
    with pytest.raises(ShapeError, match='expected'):
        ks_distance([1.0, 2.0, 3.0, 4.0], ([1.0], [1]), 10.0)


def test_the_examples_of_the_page_run():
    page = Path(__file__).resolve().parents[2] / 'docs' / 'time-to-success.md'
    blocks = re.findall('```python\n(.*?)```', page.read_text(), re.DOTALL)
    assert len(blocks) == 3
    names = {}
    for block in blocks:
        exec(block, names)
    assert names['curve'].cdf(30.0) == pytest.approx(0.25)
    assert names['curve'].median == 31.5
    assert names['found'].ks.shape == (500,)
