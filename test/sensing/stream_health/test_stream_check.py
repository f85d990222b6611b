# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Streams that lie are found, and those that stand still by right are not."""

import numpy as np
import pytest

from frame_ros.core.time import SECOND
from frame_ros.sensing.stream_health.options import StreamHealthOptions
from frame_ros.sensing.stream_health.rate import StampRate
from frame_ros.sensing.stream_health.stream_check import StreamCheck

RATE = 100.0
STEP = round(SECOND / RATE)


def feed(check, rows, is_moving=False, begin=SECOND, step=STEP):
    """Gives samples; returns the verdicts and the next stamp."""
    verdicts = []
    for i, row in enumerate(rows):
        verdicts.append(check.update(begin + i * step, np.asarray(row, float), is_moving))
    return verdicts, begin + len(rows) * step


def noisy(count, sigma=0.05, step=1 / 16, seed=0, channels=6):
    rng = np.random.default_rng(seed)
    values = rng.normal(0.0, sigma, (count, channels)) + np.arange(channels)
    return np.rint(values / step) * step


def first_wrong(verdicts):
    return next((i for i, verdict in enumerate(verdicts) if verdict.unavailable), None)


def test_a_frozen_sensor_is_found_soon_and_healthy_again_with_its_next_new_value():
    check = StreamCheck('abcdef')
    verdicts, stamp = feed(check, noisy(600))
    assert first_wrong(verdicts) is None and check.is_judged_standing
    frozen, stamp = feed(check, [noisy(1, seed=3)[0]] * 200, begin=stamp)
    found = first_wrong(frozen)
    assert found is not None and found / RATE < 1.0 and 'frozen' in frozen[found].unavailable
    assert all(verdict.unavailable for verdict in frozen[found:])
    again, _ = feed(check, noisy(50, seed=4), begin=stamp)
    assert first_wrong(again) is None
    fault = check.faults[0]
    assert fault.kind == 'frozen' and fault.begin <= fault.found <= fault.end
    assert fault.found - fault.begin < SECOND


@pytest.mark.parametrize(
    'rest',
    [
        np.zeros((3000, 6)),  # an ideal sensor
        np.tile([1.0, 2.0, 0.0, 0.0, 5.0, 1.0], (3000, 1)),  # encoders at rest
        np.repeat(noisy(100), 30, axis=0),  # new values at a thirtieth of the rate
    ],
)
def test_what_stands_still_by_right_is_not_frozen(rest):
    check = StreamCheck('abcdef')
    verdicts, _ = feed(check, rest)
    assert first_wrong(verdicts) is None


def test_a_value_between_two_steps_proves_nothing_when_it_comes_to_rest_on_one():
    """Noise of a tenth of a step: it hops while it lies between two, and later lies in one."""
    rng = np.random.default_rng(1)
    between = np.rint(0.5 + rng.normal(0.0, 0.1, (1500, 6)))
    middle = np.rint(rng.normal(0.0, 0.1, (1500, 6)))
    verdicts, _ = feed(StreamCheck('abcdef'), np.vstack((between, middle)) * 0.0065)
    assert first_wrong(verdicts) is None


def test_a_push_on_a_sensor_without_noise_does_not_make_its_rest_a_freeze():
    pushed = np.rint(np.random.default_rng(2).normal(0.0, 20.0, (200, 6)))
    rest = np.zeros((500, 6))
    verdicts, _ = feed(StreamCheck('abcdef'), np.vstack((rest, pushed, rest)))
    assert first_wrong(verdicts) is None


def test_values_that_change_in_motion_and_never_at_rest_are_judged_in_motion_alone():
    check = StreamCheck('ab')
    ramp = np.cumsum(np.ones((300, 2)), axis=0)
    verdicts, stamp = feed(check, ramp, is_moving=True)
    assert first_wrong(verdicts) is None and check.is_judged_moving
    rest, stamp = feed(check, [ramp[-1]] * 1000, begin=stamp)
    assert first_wrong(rest) is None
    moving, stamp = feed(check, ramp, is_moving=True, begin=stamp)
    assert first_wrong(moving) is None
    frozen, _ = feed(check, [ramp[-1]] * 200, is_moving=True, begin=stamp)
    assert first_wrong(frozen) is not None and first_wrong(frozen) / RATE < 1.0


def test_a_motor_without_current_is_not_frozen():
    check = StreamCheck('abcdef', has_idle_zero=True)
    _, stamp = feed(check, noisy(600, sigma=0.02, step=0.0065))
    off, _ = feed(check, np.zeros((500, 6)), begin=stamp)
    assert first_wrong(off) is None


def test_repeats_are_marked_and_no_freeze():
    """A kilohertz stream of which up to 30 ms are sent again now and then."""
    rng = np.random.default_rng(5)
    rows, sent = rng.normal(size=(4000, 7)), 0
    for begin in range(2000, 4000, 150):
        length = int(rng.integers(1, 31))
        rows[begin : begin + length] = rows[begin - 1]
        sent += length
    check = StreamCheck('abcdefg')
    verdicts, _ = feed(check, rows, is_moving=True, step=SECOND // 1000)
    assert sum(verdict.is_repeat for verdict in verdicts) == check.repeats == sent
    assert first_wrong(verdicts) is None
    assert 0.02 < check.longest_repeat <= 0.031


@pytest.mark.parametrize('force_range', [0.0, 145.0])
def test_an_axis_at_the_end_of_its_range_is_saturated(force_range):
    check = StreamCheck('abcdef', ranges=[force_range] * 6)
    verdicts, stamp = feed(check, noisy(800))
    assert first_wrong(verdicts) is None
    rows = noisy(100, seed=7)
    rows[:, 2] = 145.0
    found, stamp = feed(check, rows, begin=stamp)
    index = first_wrong(found)
    assert index is not None and index / RATE < 1.0
    assert found[index].unavailable.startswith('saturated: c stays at 145')
    again, _ = feed(check, noisy(100, seed=8), begin=stamp)
    assert not again[-1].unavailable


def test_a_large_but_living_force_is_not_saturated():
    check = StreamCheck('abcdef', ranges=[0.0] * 6)
    _, stamp = feed(check, noisy(800))
    rows = noisy(300, seed=9)
    rows[:, 2] += 60.0
    found, _ = feed(check, rows, begin=stamp)
    assert first_wrong(found) is None


def test_rate_and_jitter_are_measured_and_judged_where_asked():
    rng = np.random.default_rng(0)
    stamps = SECOND + np.cumsum(np.rint(SECOND * (0.02 + rng.uniform(-0.005, 0.005, 500))))
    check = StreamCheck('a', StreamHealthOptions(largest_jitter=0.001))
    verdicts = [check.update(int(stamp), np.array([float(i)]), None)
                for i, stamp in enumerate(stamps)]  # fmt: skip
    assert check.rate.rate == pytest.approx(50.0, rel=0.02)
    assert check.rate.jitter == pytest.approx(np.diff(stamps).std() / SECOND, rel=1e-6)
    assert 'jitter' in verdicts[-1].unavailable
    seldom = StreamCheck('a', StreamHealthOptions(least_rate=60.0))
    verdicts = [seldom.update(int(stamp), np.array([float(i)]), None)
                for i, stamp in enumerate(stamps)]  # fmt: skip
    assert 'the least is 60 Hz' in verdicts[-1].unavailable


def test_a_clock_that_is_set_back_leaves_no_negative_interval():
    rate = StampRate()
    for step in range(100):
        rate.add(100 * SECOND + step * SECOND // 1000)
    rate.add(SECOND)
    rate.restart()
    for step in range(1, 100):
        rate.add(SECOND + step * SECOND // 1000)
    assert rate.newest_rate == pytest.approx(1000.0) and rate.rate == pytest.approx(1000.0)
    assert rate.jitter == pytest.approx(0.0, abs=1e-9)


def test_jitter_of_a_slow_stream_is_exact_with_stamps_of_64_bits():
    rate, steps = StampRate(), [SECOND // 5 * (1 + i % 3) for i in range(60)]
    for stamp in 10**18 + np.cumsum(np.array(steps, np.int64)):
        rate.add(stamp)
    newest = np.array(steps[-50:]) / SECOND
    assert rate.newest_jitter == pytest.approx(newest.std(), rel=1e-6)
