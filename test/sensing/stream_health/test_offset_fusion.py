# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""An offset that separate motions show, against least squares over all of them at once."""

from itertools import combinations

import numpy as np
import pytest

from frame_ros.core.time import SECOND
from frame_ros.sensing.stream_health.offset_fusion import WALK, OffsetFusion, TimeOffset


def estimate(seconds, deviation, at, span=1.0):
    """Of the motion of `span` s until `at`, s."""
    return TimeOffset(seconds, deviation, 1.0, round(at * SECOND), '', span=round(span * SECOND))


def least_squares(estimates):
    """The offset now and its deviation, of a random walk that all of them saw, by one system of
    equations: a row for each estimate and for each step of the walk.
    """
    count = len(estimates)
    rows, values = [], []
    for i, each in enumerate(estimates):
        rows.append(np.eye(count)[i] / each.deviation)
        values.append(each.seconds / each.deviation)
    for i, (one, other) in enumerate(zip(estimates, estimates[1:], strict=False)):
        step = WALK * np.sqrt((other.stamp - one.stamp) / SECOND)
        rows.append((np.eye(count)[i + 1] - np.eye(count)[i]) / step)
        values.append(0.0)
    found = np.linalg.lstsq(np.array(rows), np.array(values), rcond=None)[0]
    covariance = np.linalg.inv(np.array(rows).T @ np.array(rows))
    return found[-1], np.sqrt(covariance[-1, -1])


def test_separate_motions_count_as_in_least_squares_over_all():
    rng = np.random.default_rng(1)
    fusion, given = OffsetFusion(), []
    for at in np.cumsum(rng.uniform(1.0, 4.0, 12)):
        deviation = rng.uniform(0.001, 0.004)
        given.append(estimate(0.02 + deviation * rng.normal(), deviation, at))
        fusion.add(given[-1])
        seconds, deviation = least_squares(given)
        assert fusion.best.seconds == pytest.approx(seconds, abs=1e-9)
        assert fusion.best.deviation == pytest.approx(deviation, abs=1e-9)


@pytest.mark.parametrize('seed', range(5))
def test_of_windows_that_overlap_those_count_that_leave_the_least_deviation(seed):
    rng = np.random.default_rng(seed)
    given = [
        estimate(0.02 + 0.001 * rng.normal(), rng.uniform(0.002, 0.005), 2.0 + 0.4 * i, 1.1)
        for i in range(10)
    ]
    fusion = OffsetFusion()
    for each in given:
        fusion.add(each)
    chains = [
        chain
        for size in range(1, 5)
        for chain in combinations(given, size)
        if all(b.stamp - b.span >= a.stamp for a, b in zip(chain, chain[1:], strict=False))
    ]

    def deviation_now(chain):
        return np.hypot(
            least_squares(chain)[1], WALK * np.sqrt((given[-1].stamp - chain[-1].stamp) / SECOND)
        )

    best = min(chains, key=deviation_now)
    assert len(best) > 1
    assert fusion.best.seconds == pytest.approx(least_squares(best)[0], abs=1e-9)
    assert fusion.best.deviation == pytest.approx(least_squares(best)[1], abs=1e-9)


def test_deviations_are_honest_and_clocks_that_run_apart_are_followed():
    errors, drift = [], 5e-5  # s/s
    for seed in range(40):
        rng, fusion = np.random.default_rng(seed), OffsetFusion()
        for i in range(30):
            at, deviation = 3.0 * i, rng.uniform(0.0015, 0.005)
            fusion.add(estimate(0.02 + drift * at + deviation * rng.normal(), deviation, at))
            if i > 5:
                errors.append((fusion.best.seconds - 0.02 - drift * at) / fusion.best.deviation)
        assert fusion.best.deviation < 0.0015
        assert abs(fusion.best.seconds - 0.02 - drift * at) < 0.005
    assert 0.7 < np.std(errors) < 1.3


def test_one_motion_that_misleads_does_not_count_and_a_change_that_two_show_does():
    fusion = OffsetFusion()
    for i in range(4):
        fusion.add(estimate(0.001, 0.002, 2.0 * i))
    assert not fusion.add(estimate(0.040, 0.002, 9.0))
    assert not fusion.add(estimate(0.041, 0.002, 9.2))  # of the same motion
    fusion.add(estimate(0.001, 0.002, 11.0))
    assert fusion.best.seconds == pytest.approx(0.001)
    for at in (13.0, 13.5):
        assert not fusion.add(estimate(-0.02, 0.002, at))
    assert not fusion.add(estimate(-0.02, 0.002, 15.0), is_certain=False)
    assert fusion.add(estimate(-0.02, 0.002, 15.0))
    assert fusion.best.seconds == pytest.approx(-0.02)
    assert 0.002 / np.sqrt(2) < fusion.best.deviation < 0.002


def test_a_shift_forgets_what_was_found_since():
    fusion = OffsetFusion()
    fusion.add(estimate(0.001, 0.002, 1.0))
    fusion.add(estimate(0.009, 0.001, 4.0))
    fusion.shift(0.020, 0.0015, 3 * SECOND)
    assert fusion.best.seconds == pytest.approx(0.021)
    assert fusion.best.deviation == pytest.approx(0.0025)
    fusion.shift(0.010, 0.001, 0)  # nothing is known of the time before
    assert fusion.best.unavailable
    fusion.add(estimate(0.003, 0.002, 9.0))
    fusion.add(estimate(0.003, 0.002, 12.0))
    assert fusion.best.seconds == pytest.approx(0.003)
