# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Calibration metrics against definitions written out by hand and against scipy."""

from bisect import bisect_left

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from frame_ros.confidence import (
    HistogramBinning,
    brier_parts,
    brier_score,
    calibration_metrics,
    expected_calibration_error,
    failure_auprc,
    failure_auroc,
    maximum_calibration_error,
    negative_log_likelihood,
    reliability_diagram,
)
from frame_ros.confidence.calibration import RAISED_BY_NOISE
from frame_ros.confidence.samples import episode_resamples
from frame_ros.core.errors import ShapeError, ValueRangeError


def binned(confidences, outcomes, bins):
    """The bins of METRICS.md, sample by sample."""
    order = sorted(confidences)
    parts = np.array_split(order, min(bins, len(order)))
    edges = sorted({(a[-1] + b[0]) / 2.0 for a, b in zip(parts, parts[1:])} | {1.0})
    found = [[] for _ in edges]
    for pair in zip(confidences, outcomes):
        found[bisect_left(edges, pair[0])].append(pair)
    return [np.array(each, dtype=float) for each in found if each]


def gaps(confidences, outcomes, bins):
    found = binned(confidences, outcomes, bins)
    sizes = np.array([len(each) for each in found])
    return sizes / sizes.sum(), np.array([abs(np.subtract(*each.mean(axis=0))) for each in found])


samples = st.lists(
    st.tuples(
        st.one_of(st.floats(0.0, 1.0), st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0])), st.booleans()
    ),
    min_size=1,
    max_size=60,
)


@given(samples, st.integers(1, 20))
@settings(max_examples=300, deadline=None)
def test_errors_are_those_of_the_definition(pairs, bins):
    confidences, outcomes = map(list, zip(*pairs))
    share, gap = gaps(confidences, outcomes, bins)
    for q in (1, 2, 3):
        expected = (share @ gap**q) ** (1.0 / q)
        assert expected_calibration_error(confidences, outcomes, bins, q) == pytest.approx(
            expected, abs=1e-9
        )
    assert maximum_calibration_error(confidences, outcomes, bins) == pytest.approx(
        gap.max(), abs=1e-9
    )
    parts = brier_parts(confidences, outcomes, bins)
    assert parts.score == pytest.approx(
        parts.reliability - parts.resolution + parts.uncertainty + parts.within_bins, abs=1e-12
    )
    assert parts.reliability == pytest.approx(share @ gap**2, abs=1e-9)


def test_values_worked_by_hand():
    confidences, outcomes = [0.9, 0.8, 0.3, 0.4], [True, False, False, True]
    # Two bins: 0.3 and 0.4 (success 0.5), 0.8 and 0.9 (success 0.5).
    assert expected_calibration_error(confidences, outcomes, 2) == pytest.approx(0.25)
    assert expected_calibration_error(confidences, outcomes, 2, q=2) == pytest.approx(
        np.sqrt((0.15**2 + 0.35**2) / 2)
    )
    assert maximum_calibration_error(confidences, outcomes, 2) == pytest.approx(0.35)
    assert brier_score(confidences, outcomes) == pytest.approx((0.01 + 0.64 + 0.09 + 0.36) / 4)
    expected = -np.log([0.9, 0.2, 0.7, 0.4]).mean()
    assert negative_log_likelihood(confidences, outcomes) == pytest.approx(expected)
    assert negative_log_likelihood([0.0], [True]) == pytest.approx(-np.log(1e-12))
    lower, upper = reliability_diagram(confidences, outcomes, 2)
    assert (lower.count, lower.confidence, lower.success_rate) == (2, pytest.approx(0.35), 0.5)
    assert lower.upper == pytest.approx(0.6)
    assert upper.interval[0] < 0.5 < upper.interval[1]


@pytest.mark.parametrize('decimals', [1, 9])
def test_discrimination_of_failures(decimals):
    rng = np.random.default_rng(3)
    confidences = np.round(rng.random(200), decimals)
    outcomes = rng.random(200) < confidences
    failed, succeeded = confidences[~outcomes], confidences[outcomes]
    u = stats.mannwhitneyu(succeeded, failed).statistic
    assert failure_auroc(confidences, outcomes) == pytest.approx(u / len(failed) / len(succeeded))
    total = 0.0
    before = 0.0
    for level in np.unique(confidences):
        chosen = confidences <= level
        recall = (chosen & ~outcomes).sum() / len(failed)
        total += (recall - before) * (chosen & ~outcomes).sum() / chosen.sum()
        before = recall
    assert failure_auprc(confidences, outcomes) == pytest.approx(total)
    assert np.isnan(failure_auroc(confidences, np.ones(200)))
    assert np.isnan(failure_auprc(confidences, np.ones(200)))


def test_intervals_are_those_of_a_loop_over_resampled_episodes():
    rng = np.random.default_rng(5)
    episodes = rng.integers(0, 15, size=80)
    confidences = np.round(rng.random(80), 2)
    outcomes = rng.random(80) < confidences
    found = calibration_metrics(confidences, outcomes, episodes, resamples=40, seed=9)
    values = []
    for counts in episode_resamples(len(set(episodes)), 40, 9):
        chosen = np.repeat(np.arange(80), counts[np.unique(episodes, return_inverse=True)[1]])
        c, y = confidences[chosen], outcomes[chosen]
        values.append(
            {
                'ece_1': expected_calibration_error(c, y),
                'ece_2': expected_calibration_error(c, y, q=2),
                'mce': maximum_calibration_error(c, y),
                'brier': brier_score(c, y),
                'nll': negative_log_likelihood(c, y),
                'auroc': failure_auroc(c, y),
                'auprc': failure_auprc(c, y),
            }
        )
    for name in values[0]:
        expected = np.percentile([row[name] for row in values], (2.5, 97.5))
        if name in RAISED_BY_NOISE:
            value = found[name].value
            lower, upper = 2.0 * value - expected[::-1]
            expected = max(lower, 0.0), max(upper, value)
            expected = expected if found[name].lower else (0.0, expected[1])
        assert (found[name].lower, found[name].upper) == pytest.approx(tuple(expected)), name
    assert found['ece_1'].value == expected_calibration_error(confidences, outcomes)


def test_the_interval_of_a_calibration_error_holds_the_true_one():
    """The error of a plug-in estimate is above the true one, and that of a resample above it."""
    rng = np.random.default_rng(3)
    covered = []
    for _ in range(60):
        confidences = rng.beta(4.0, 2.0, 500)
        outcomes = rng.random(500) < np.clip(confidences - 0.05, 0.0, 1.0)
        found = calibration_metrics(confidences, outcomes, resamples=200, statistics=('ece_1',))
        covered.append(found['ece_1'].lower <= 0.05 <= found['ece_1'].upper)
        assert found['ece_1'].lower <= found['ece_1'].value <= found['ece_1'].upper
    assert np.mean(covered) > 0.8


@pytest.mark.parametrize('samples', [1, 4])
def test_the_interval_of_a_calibrated_policy_begins_at_zero(samples):
    """In all but 2.5 % of studies; reflected intervals alone did so in 39 % with 50 episodes."""
    rng = np.random.default_rng(4)
    names, held = ('ece_1', 'ece_2', 'mce', 'reliability'), []
    for _ in range(60):
        confidences = rng.beta(4.0, 2.0, 50)
        outcomes = rng.random(50) < confidences
        rows = [np.repeat(each, samples) for each in (confidences, outcomes, np.arange(50))]
        found = calibration_metrics(*rows, resamples=200, statistics=names)
        held.append([found[name].lower == 0.0 for name in names])
    assert np.mean(held, axis=0).min() > 0.9
    wrong = calibration_metrics(np.full(50, 0.9) - rng.random(50) / 20, rng.random(50) < 0.5)
    assert all(wrong[name].lower > 0.0 for name in names)


def test_a_calibrated_policy_has_a_small_error():
    rng = np.random.default_rng(0)
    confidences = rng.random(20_000)
    outcomes = rng.random(20_000) < confidences
    assert expected_calibration_error(confidences, outcomes) < 0.02
    assert expected_calibration_error(confidences**0.3, outcomes) > 0.2


def test_bad_input_is_named():
    with pytest.raises(ShapeError, match='one per confidence'):
        expected_calibration_error([0.5, 0.5], [True])
    with pytest.raises(ShapeError, match='not empty'):
        brier_score([], [])
    with pytest.raises(ValueRangeError, match='between 0 and 1'):
        brier_score([1.5], [True])
    with pytest.raises(ValueRangeError, match='not finite'):
        brier_score([float('nan')], [True])
    with pytest.raises(ValueRangeError, match='other values than 0 and 1'):
        brier_score([0.5], [2])
    with pytest.raises(ValueRangeError, match='q is 0'):
        expected_calibration_error([0.5], [True], q=0)
    with pytest.raises(ValueRangeError, match='q is nan'):
        expected_calibration_error([0.5], [True], q=float('nan'))
    for q in ('a', None):
        with pytest.raises(ValueRangeError, match=f'q is {q!r}; a number of 1 or more'):
            expected_calibration_error([0.5], [True], q=q)
    for bins in (0, 1.5, 'a'):
        with pytest.raises(ValueRangeError, match=f'bins is {bins!r}; a whole number of 1 or more'):
            expected_calibration_error([0.5], [True], bins=bins)
        with pytest.raises(ValueRangeError, match=f'bins is {bins!r}; a whole number'):
            HistogramBinning(bins)
    with pytest.raises(ValueRangeError, match='confidences: 1 of the values are masked'):
        brier_score(np.ma.array([0.5, 0.2], mask=[0, 1]), [True, False])


def test_of_large_norms_the_largest_gap_remains():
    """The powers themselves vanish: 0.2 ** 1000 is 0, and anything to the power 1 / infinity 1."""
    for q in (1000, 1e6, float('inf')):
        found = expected_calibration_error([0.1, 0.8], [False, True], q=q)
        assert found == pytest.approx(0.2, rel=1e-3)
    assert expected_calibration_error([0.0, 1.0], [False, True], q=float('inf')) == 0.0


def test_more_bins_than_samples_take_no_memory():
    many = 10**12
    found = expected_calibration_error([0.1, 0.8], [False, True], bins=many)
    assert found == expected_calibration_error([0.1, 0.8], [False, True], bins=2)
    assert len(HistogramBinning(many).fit([0.1, 0.8], [False, True]).values) == 2
    labels = [0, 0, 0, 1]
    of_many, of_few = (
        calibration_metrics([0.1, 0.2, 0.4, 0.8], [0, 0, 1, 1], labels, bins, resamples=50)
        for bins in (many, 12)
    )
    assert of_many['ece_1'] == of_few['ece_1']


def test_resamples_without_failures_are_left_out_while_they_are_few():
    rng = np.random.default_rng(1)
    confidences = rng.random(50)
    outcomes = np.arange(50) >= 5
    found = calibration_metrics(confidences, outcomes, resamples=400)['auroc']
    failed = np.arange(50) < 5
    values = []
    for counts in episode_resamples(50, 400, 0):
        if counts[failed].sum():
            chosen = np.repeat(np.arange(50), counts)
            values.append(failure_auroc(confidences[chosen], outcomes[chosen]))
    assert 0 < 400 - len(values) < 20
    assert (found.lower, found.upper) == pytest.approx(tuple(np.percentile(values, (2.5, 97.5))))
    few = calibration_metrics(confidences, np.arange(50) >= 2, resamples=400)
    assert np.isnan(few['auroc'].lower) and np.isfinite(few['brier'].lower)


def test_resamples_that_all_agree_are_no_interval():
    """All failures below all successes: an AUROC of 1 in each resample, not a certain one."""
    found = calibration_metrics(np.linspace(0.1, 0.9, 40), np.arange(40) >= 8)
    assert found['auroc'].value == 1.0 and np.isnan(found['auroc'].lower)
    assert found['brier'].lower < found['brier'].value < found['brier'].upper


def test_an_error_of_zero_by_chance_is_no_certain_one():
    """Seven of ten, said to be 0.7: reflected at 0, the interval would be from 0 to 0."""
    found = calibration_metrics(np.full(10, 0.7), np.arange(10) < 7)
    assert found['ece_1'].value == pytest.approx(0.0, abs=1e-12)
    assert np.isnan(found['ece_1'].lower) and np.isnan(found['ece_1'].upper)


def test_unknown_statistics_and_numbers_of_resamples_are_refused():
    with pytest.raises(ValueRangeError, match="no statistic is called 'gain'"):
        calibration_metrics([0.1, 0.2], [0, 1], statistics=('gain',))
    with pytest.raises(ValueRangeError, match='-1 resamples'):
        calibration_metrics([0.1, 0.2], [0, 1], resamples=-1)
