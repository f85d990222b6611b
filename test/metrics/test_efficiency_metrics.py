# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Latency statistics, control rate and chunk overlap, batch and streaming."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.core.time import MILLISECOND
from frame_ros.metrics import (
    ControlRate,
    LatencyStatistics,
    chunk_consistency,
    chunk_distances,
    chunk_overlap_disagreement,
    control_rate,
    latency_statistics,
)


@given(st.lists(st.floats(0.0, 10.0), min_size=1, max_size=40))
def test_streaming_latency_equals_numpy_on_every_prefix(latencies):
    stream = LatencyStatistics()
    assert np.isnan(stream.value) and np.isnan(stream.p99) and np.isnan(stream.jitter)
    for count, latency in enumerate(latencies, start=1):
        stream.update(latency)
        batch = latency_statistics(latencies[:count])
        found = (stream.mean, stream.p50, stream.p95, stream.p99, stream.jitter)
        wanted = (batch.mean, batch.p50, batch.p95, batch.p99, batch.jitter)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    assert (stream.count, stream.last) == (len(latencies), latencies[-1])
    stream.reset()
    assert stream.count == 0 and np.isnan(stream.value)


def test_jitter_of_latencies_far_from_zero_keeps_its_digits():
    stream = LatencyStatistics()
    for i in range(1000):
        stream.update(1e6 + (i % 2) * 1e-3)
    assert stream.jitter == pytest.approx(0.5e-3, rel=1e-6)


@pytest.mark.parametrize('bad', [-1.0, float('nan'), float('inf')])
def test_impossible_latencies_are_refused(bad):
    with pytest.raises(ValueRangeError):
        LatencyStatistics().update(bad)
    with pytest.raises(ValueRangeError):
        latency_statistics([0.1, bad])
    with pytest.raises(ShapeError):
        latency_statistics([])


def test_control_rate_by_hand():
    # 10 Hz for a second, half a second of silence in the next one, 10 Hz again.
    stamps = [i * 100 * MILLISECOND for i in range(11)] + [
        (1600 + i * 100) * MILLISECOND for i in range(11)
    ]
    rates = control_rate(stamps)
    assert rates.mean == pytest.approx(21 / 2.6)
    assert rates.now == pytest.approx(10.0)
    assert rates.worst == pytest.approx(5.0)  # from 0.6 to 1.6 s: 0.7, 0.8, 0.9, 1.0, 1.6 s


def test_a_silent_second_is_the_worst_and_counts_with_its_whole_length():
    stamps = [0, 500 * MILLISECOND, 3200 * MILLISECOND, 3300 * MILLISECOND, 4200 * MILLISECOND]
    assert control_rate(stamps[:3]).now == pytest.approx(1 / 2.7)
    assert control_rate(stamps).now == pytest.approx(2 / 1.0)
    assert control_rate(stamps).worst == pytest.approx(1 / 2.7)


@pytest.mark.parametrize('offset', [0, 1, 16, 33])
def test_a_steady_rate_is_its_own_worst_second(offset):
    """30 Hz in whole ms, wherever seconds are cut: 30 actions, or 29, lie in one."""
    jitter = np.random.default_rng(offset).integers(-2, 3, 300)
    stamps = ((np.arange(300) * 1000) // 30 + jitter + offset) * MILLISECOND
    rates = control_rate(stamps)
    assert rates.mean == pytest.approx(30.0, abs=0.02)
    assert rates.worst == pytest.approx(30.0, rel=0.005)


def test_the_worst_second_by_hand():
    # 10 Hz, but for one interval of 300 ms: 8 actions took 1.0 s.
    stamps = [i * 100 * MILLISECOND + (200 * MILLISECOND if i > 10 else 0) for i in range(30)]
    assert control_rate(stamps).worst == pytest.approx(8.0)
    # Less than a second has no worst one; exactly a second has.
    assert np.isnan(control_rate([0, 999 * MILLISECOND]).worst)
    assert control_rate([0, 1000 * MILLISECOND]).worst == pytest.approx(1.0)


@given(st.lists(st.integers(0, 700), max_size=40))
def test_streaming_control_rate_equals_batch_on_every_prefix(steps):
    stamps = 5_000_000_000 + np.cumsum(np.array([0, *steps], dtype=np.int64)) * MILLISECOND
    stream = ControlRate()
    for count, stamp in enumerate(stamps, start=1):
        stream.update(int(stamp))
        batch = control_rate(stamps[:count])
        found = (stream.value, stream.now, stream.worst)
        np.testing.assert_allclose(found, (batch.mean, batch.now, batch.worst), rtol=1e-12)


def test_stamps_that_decrease_are_refused():
    stream = ControlRate()
    stream.update(10)
    with pytest.raises(ValueRangeError, match='before the last one'):
        stream.update(9)
    with pytest.raises(ValueRangeError, match='sort'):
        control_rate([10, 9])
    stream.reset()
    stream.update(9)
    assert np.isnan(stream.value)


@given(st.integers(0, 2**32 - 1), st.integers(0, 12))
def test_distances_of_chunks_at_once_equal_those_one_by_one(seed, shift):
    rng = np.random.default_rng(seed)
    previous, current = rng.normal(size=(8, 3)), rng.normal(size=(rng.integers(1, 10), 3))
    found = chunk_distances(previous, current, shift)
    overlap = chunk_overlap_disagreement(current, previous, shift)
    expected = float(overlap), float(chunk_consistency(previous, current, shift))
    np.testing.assert_array_equal(found, expected)


def test_chunk_overlap_by_hand():
    last = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    chunk = np.array([[1.0, 2.0], [2.0, 2.0], [9.0, 9.0]])
    assert chunk_overlap_disagreement(chunk, last, shift=1) == 0.25
    assert np.isnan(chunk_overlap_disagreement(chunk, last, shift=3))
    with pytest.raises(ShapeError, match=r'\(3, 2\) and \(3, 1\)'):
        chunk_overlap_disagreement(chunk, last[:, :1], shift=1)
