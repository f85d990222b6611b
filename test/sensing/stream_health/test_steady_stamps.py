# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Stamps that scatter about a steady rate, against the true times of the samples."""

import numpy as np
import pytest

from frame_ros.core.time import MILLISECOND, SECOND
from frame_ros.sensing.stream_health.steady_stamps import SteadyStamps
from frame_ros.sensing.stream_health.streams import StreamHealth, StreamHealthOptions


def stream(count=10_000, period=1.0, scatter=5.0, seed=0):
    """True times and stamps, ns: each sample is read an exponential time after it was measured, and
    in order. period, scatter: ms.
    """
    true = SECOND + np.rint(np.arange(count) * period * MILLISECOND).astype(np.int64)
    if not scatter:
        return true, true.copy()
    late = np.random.default_rng(seed).exponential(scatter * MILLISECOND, count)
    stamps = np.maximum.accumulate(true + late.astype(np.int64))
    # Those that were read together have stamps a microsecond apart.
    for i in range(1, count):
        stamps[i] = max(stamps[i], stamps[i - 1] + 1000)
    return true, stamps


def smoothed(stamps):
    steady = SteadyStamps()
    return np.array([steady.add(stamp) for stamp in stamps.tolist()]), steady


@pytest.mark.parametrize('period', [1.0, 1.0002, 2.0, 4.0])
@pytest.mark.parametrize('seed', range(3))
def test_smoothed_stamps_are_nearer_to_the_true_times(period, seed):
    true, stamps = stream(period=period, seed=seed)
    found, steady = smoothed(stamps)
    assert steady.is_steady and 'late on average' in steady.in_words
    behind = slice(int(2500 / period), None)
    error, before = (found - true)[behind] / MILLISECOND, (stamps - true)[behind] / MILLISECOND
    assert before.std() > 3.0
    assert error.std() < 0.8 and error.std() < 0.25 * before.std()
    assert error.min() > -0.5 and error.mean() < 0.35 * before.mean()
    assert (np.diff(found) > 0).all() and (found <= stamps).all()


@pytest.mark.parametrize('loss', [0.0, 0.2])
@pytest.mark.parametrize('scatter', [0.0, 0.1])
def test_stamps_that_hardly_scatter_stay_also_where_samples_are_lost(loss, scatter):
    _, stamps = stream(scatter=scatter)
    stamps = stamps[np.random.default_rng(1).random(len(stamps)) >= loss]
    found, steady = smoothed(stamps)
    np.testing.assert_array_equal(found, stamps)
    assert not steady.is_steady and np.isnan(steady.scatter)


def test_a_rate_that_is_not_steady_is_not_smoothed():
    _, stamps = stream()
    found, _ = smoothed(stamps[np.random.default_rng(1).random(len(stamps)) >= 0.2])
    lost = stamps[np.random.default_rng(1).random(len(stamps)) >= 0.2]
    np.testing.assert_array_equal(found, lost)


def test_some_lost_samples_move_the_smoothed_stamps_little():
    true, stamps = stream(20_000)
    comes = np.random.default_rng(1).random(len(stamps)) >= 0.001
    found, steady = smoothed(stamps[comes])
    error = (found - true[comes])[2500:] / MILLISECOND
    assert steady.is_steady
    assert error.std() < 1.5 and abs(error).max() < 6.0


@pytest.mark.parametrize('gap', [50, 90, 300])
def test_many_samples_lost_at_once_are_noticed(gap):
    true, stamps = stream()
    comes = np.ones(len(stamps), bool)
    comes[5000 : 5000 + gap] = False
    found, _ = smoothed(stamps[comes])
    error = (found - true[comes]) / MILLISECOND
    assert abs(error[2500:5000]).max() < 4.0
    # A quarter of a second, as long as the earliest stamp is looked for, and the scatter.
    assert error[5300:].min() > -2.0
    assert abs(error[8000:]).max() < 4.0
    assert (np.diff(found) > 0).all()


def test_a_clock_that_is_set_begins_anew_at_once():
    _, stamps = stream()
    back = stamps - 5 * SECOND
    found, steady = smoothed(np.concatenate((stamps, back[:100])))
    np.testing.assert_array_equal(found[-100:], back[:100])
    assert not steady.is_steady


@pytest.mark.parametrize('is_corrected', [True, False])
def test_the_wrench_of_a_scattering_stream_is_smoothed_where_offsets_are_corrected(is_corrected):
    health = StreamHealth(StreamHealthOptions(is_offset_corrected=is_corrected))
    true, stamps = stream(4000)
    rng, given = np.random.default_rng(5), []
    for stamp in stamps.tolist():
        health.on_wrench(stamp, rng.normal(size=6).tolist())
        given.append(health.corrected('wrench', stamp))
    late = (np.array(given) - true)[2500:] / MILLISECOND
    assert (late.std() < 1.0) == is_corrected
    facts = health.streams['wrench'].facts()
    assert facts.get('stamps smoothed', '').startswith('yes') == is_corrected
    # Thresholds allow for what is left of it.
    error = health.stamp_error('wrench')
    assert error == pytest.approx(0.0205, abs=0.002) if is_corrected else error > 0.022
