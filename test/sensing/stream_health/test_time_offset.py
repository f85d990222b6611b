# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The offset between two streams' stamps, from a motion that both show."""

import math

import numpy as np
import pytest

from frame_ros.core.time import SECOND
from frame_ros.sensing.stream_health.offset_fusion import TimeOffset
from frame_ros.sensing.stream_health.time_offset import TimeOffsetEstimator


def signal(t):
    """(3,) of a motion that begins at 1 s, with different frequencies."""
    t = max(t - 1.0, 0.0)
    return np.array([math.sin(5.0 * t), math.sin(3.0 * t * t), 0.3 * t])


def run(
    offset, noise=0.02, seconds=5.0, gain=1.0, has_known_sign=True, disturbance=0.0, push=0.0,
    share=0.2,
):  # fmt: skip
    """push: of this size, for this share of each second; 1: of another size each 0.15 s."""
    rng = np.random.default_rng(3)
    estimator = TimeOffsetEstimator(0.003, 0.8, has_known_sign)
    times = [(0.01 * i, 0) for i in range(int(seconds / 0.01))]
    times += [(0.005 * i + 0.0013, 1) for i in range(int(seconds / 0.005))]
    for t, kind in sorted(times):
        if kind == 0:
            estimator.add_reference(SECOND + round(t * SECOND), signal(t))
        else:
            values = gain * signal(t - offset) + rng.normal(0.0, noise, 3) + 7.0
            strength = 1.0 if share < 1.0 else math.sin(37.0 * (t // 0.15))
            values += push * strength * (t % 1.0 < share) * np.array([1.0, -2.0, 0.5])
            values += disturbance * rng.normal(size=3).cumsum()
            estimator.add_measured(SECOND + round(t * SECOND), values)
    return estimator.newest


@pytest.mark.parametrize('offset', [-0.05, -0.02, 0.0, 0.004, 0.02, 0.05, 0.1])
def test_the_offset_is_found(offset):
    found = run(offset)
    assert abs(found.seconds - offset) < max(4.0 * found.deviation, 0.001)
    assert found.deviation < 0.003


@pytest.mark.parametrize('offset', [-0.02, 0.0, 0.05])
@pytest.mark.parametrize('push', [1.0, -5.0, 50.0])
def test_pushes_on_the_robot_meanwhile_are_left_out(offset, push):
    found = run(offset, push=push)
    assert abs(found.seconds - offset) < max(4.0 * found.deviation, 0.001)
    assert found.deviation < 0.003


def test_the_offset_is_not_known_where_something_touches_the_robot_all_the_time():
    assert math.isnan(run(0.02, push=5.0, share=1.0).seconds)


def test_signals_without_noise_have_the_offset_of_their_stamps():
    # What fits exactly leaves nothing over: its deviation is 0.
    estimator = TimeOffsetEstimator(0.003, 0.8)
    for i in range(1300):
        values = np.array([math.sin(0.06 * i) + 0.3 * math.sin(0.022 * i), math.cos(0.042 * i)])
        estimator.add_reference(SECOND + i * SECOND // 100, values)
        estimator.add_measured(SECOND + i * SECOND // 100, values)
    assert estimator.newest.seconds == pytest.approx(0.0, abs=1e-4)


def test_a_sensor_that_reads_the_other_way_round_has_the_same_offset():
    found = run(0.03, gain=-2.0, has_known_sign=False)
    assert found.seconds == pytest.approx(0.03, abs=0.002)


def test_without_motion_it_is_not_known():
    found = run(0.02, seconds=0.9)
    assert math.isnan(found.seconds) and 'no motion' in found.unavailable


def test_noise_alone_is_no_offset():
    assert math.isnan(run(0.02, noise=0.3, gain=0.0).seconds)


def test_a_ramp_does_not_determine_it():
    estimator = TimeOffsetEstimator(0.003, 0.8)
    rng = np.random.default_rng(0)
    for i in range(800):
        stamp = SECOND + i * SECOND // 200
        estimator.add_reference(stamp, np.array([0.01 * i]))
        estimator.add_measured(stamp, np.array([0.01 * i + 0.01 * rng.normal()]))
    assert math.isnan(estimator.newest.seconds)


def given(monkeypatch, estimator, estimates):
    """Makes the estimator find these, s -> (offset, deviation), and again 0.2 s later; yields each
    second.
    """
    # As if samples had gone on coming.
    monkeypatch.setattr(estimator, '_restart_after_gap', lambda *_: None)
    for second, (value, deviation) in estimates.items():
        for part in (0.0, 0.2):  # two that follow each other agree
            stamp = SECOND + round((second + part) * SECOND)
            found = TimeOffset(value, deviation, 1.0, stamp, '', span=SECOND // 2)
            monkeypatch.setattr(estimator, 'estimate', lambda found=found: found)
            estimator.add_reference(stamp, np.zeros(3))
            estimator.add_measured(stamp, np.zeros(3))
        yield second


@pytest.mark.parametrize('scatter', [0.0, 0.04])
def test_a_cable_that_looks_like_another_offset_in_each_motion_is_none(monkeypatch, scatter):
    estimator = TimeOffsetEstimator(0.003, 0.8)
    uncertain = {3.0 * i: (0.048 + scatter * (-1) ** i, 0.008) for i in range(40)}
    for _ in given(monkeypatch, estimator, uncertain):
        assert math.isnan(estimator.newest.seconds)
    list(given(monkeypatch, estimator, {120.0: (0.048, 0.0045)}))
    assert math.isnan(estimator.newest.seconds) == bool(scatter)


def test_estimates_of_separate_motion_count_together(monkeypatch):
    estimates = {0.0: (-0.0200, 0.001), 1.0: (-0.0160, 0.0029), 2.0: (-0.0210, 0.001),
                 3.0: (0.0010, 0.0029), 4.0: (0.0015, 0.0029)}  # fmt: skip
    estimator, found = TimeOffsetEstimator(0.003, 0.8), {}
    for second in given(monkeypatch, estimator, estimates):
        found[second] = estimator.newest.seconds
    assert found[0.0] == -0.0200
    assert -0.0200 < found[1.0] < -0.0190  # weights go as 1 to 8
    assert -0.0206 < found[2.0] < -0.0200
    # One that contradicts does not count before another agrees with it.
    assert found[3.0] == found[2.0]
    assert found[4.0] == pytest.approx(0.00125, abs=1e-5)


def test_a_pause_takes_no_estimate_away():
    estimator, found = TimeOffsetEstimator(0.003, 0.95), TimeOffset(0.05, 0.001, 1.0, SECOND, '')
    for stamp in (SECOND, 2 * SECOND):
        estimator.newest = found
        estimator.add_reference(stamp, np.zeros(3))
        estimator.add_measured(stamp, np.zeros(3))
    assert estimator.newest is found and estimator.estimate().unavailable
    assert found.deviation_at(2 * SECOND) > found.deviation
    estimator.reset()
    assert estimator.newest.unavailable
