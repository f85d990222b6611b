# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The tracker of several references against the batch forms, on every prefix."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_strategies import breaks, paths, stamps

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics import (
    ReferenceTracker,
    absolute_trajectory_error,
    reference_errors,
    relative_trajectory_error,
    resample,
)

TOLERANCE = {'rtol': 1e-9, 'atol': 1e-9}


def seconds(times):
    return (times - times[0]) * 1e-9


@st.composite
def trajectories(draw, minimum=1):
    path = draw(paths(minimum=minimum))
    return seconds(draw(stamps(len(path)))), path


@settings(max_examples=30)
@given(trajectories(), st.lists(trajectories(), min_size=1, max_size=3), st.data())
def test_by_time_equals_resampling_on_every_prefix(trajectory, references, data):
    times, path = trajectory
    times = times + data.draw(st.sampled_from([-0.1, 0.0, 0.4]))
    delta = data.draw(st.integers(1, 3))
    flags = np.zeros(len(path), dtype=bool)
    flags[data.draw(breaks(len(path)))] = True
    tracker = ReferenceTracker(references, delta=delta)
    assert tracker.ate_reference == -1 and np.isnan([tracker.ate, tracker.rte]).all()
    for i in range(len(path)):
        if flags[i]:
            tracker.reset_differences()
        tracker.update(float(times[i]), np.nan, *path[i].tolist())
        few = slice(0, i + 1)
        wanted = [resample(p, t, times[few]) for t, p in references]
        ates = [float(absolute_trajectory_error(path[few], each)) for each in wanted]
        np.testing.assert_allclose(tracker.ates, ates, **TOLERANCE)
        assert tracker.ate == tracker.ates[tracker.ate_reference] == min(tracker.ates)
        if i >= delta:
            rtes = [
                relative_trajectory_error(path[few], each, delta, breaks=flags[few])
                for each in wanted
            ]
            np.testing.assert_allclose(tracker.rtes, rtes, **TOLERANCE)
            np.testing.assert_array_equal(tracker.rte, min(tracker.rtes))
            if not np.isnan(tracker.rte):
                assert tracker.rtes[tracker.rte_reference] == tracker.rte
        else:
            assert np.isnan(tracker.rte) and tracker.rte_reference == -1
    assert tracker.gaps == flags.sum()


@settings(max_examples=30)
@given(st.data())
def test_by_arc_length_equals_the_batch_form(data):
    times, path = data.draw(trajectories(minimum=2))
    references = []
    for _ in range(data.draw(st.integers(1, 3))):
        stamps_of, points = data.draw(trajectories(minimum=2))
        references.append((stamps_of, points + np.arange(len(points))[:, None] * [3000.0, 0, 0]))
    tracker = ReferenceTracker(references, match='arc_length')
    length = np.nan  # as of TrajectoryStep.pl before its first segment
    for i in range(len(path)):
        if i:
            length = np.nansum([length, np.linalg.norm(path[i] - path[i - 1])])
        tracker.update(float(times[i]), length, *path[i].tolist())
    wanted = reference_errors(path, times, references, by='arc_length')
    np.testing.assert_allclose(tracker.ates, wanted.ates, rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(tracker.rtes, wanted.rtes, rtol=1e-9, atol=1e-6)


def test_is_at_rest_before_and_after_a_reference():
    tracker = ReferenceTracker([([1.0, 2.0], [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])])
    found = []
    for time in (0.0, 1.0, 1.25, 2.0, 7.0):
        tracker.update(time, np.nan, 0.0, 0.0, 0.0)
        found.append(tracker.ate * tracker.samples)
    np.testing.assert_allclose(np.diff(found, prepend=0.0), [0.0, 0.0, 0.5, 2.0, 2.0])
    assert tracker.rte == pytest.approx((0.0 + 0.5 + 1.5 + 0.0) / 4)
    tracker.reset()
    assert (
        tracker.ate_reference == -1 and np.isnan([tracker.ate, *tracker.ates, *tracker.rtes]).all()
    )


def test_skipping_segments_and_a_reference_of_one_sample():
    rng = np.random.default_rng(0)
    times, points = np.arange(500) * 0.1, rng.normal(size=(500, 3))
    tracker = ReferenceTracker([(times, points), ([0.0], [[1.0, 2.0, 3.0]])])
    asked = np.cumsum(rng.uniform(0.001, 9.0, size=12))
    for time in asked:
        tracker.update(time, np.nan, 0.0, 0.0, 0.0)
    wanted = [np.linalg.norm(resample(points, times, asked), axis=1).mean(), 14**0.5]
    np.testing.assert_allclose(tracker.ates, wanted, rtol=1e-12)


def test_the_nearest_reference_may_change():
    times = np.arange(10.0)
    far, near = np.full((10, 3), 5.0), np.zeros((10, 3))
    tracker = ReferenceTracker([(times, far), (times, near)])
    tracker.update(0.0, np.nan, 5.0, 5.0, 5.0)
    assert tracker.ate_reference == 0 and tracker.ate == 0.0
    for time in range(1, 4):
        tracker.update(time, np.nan, 0.0, 0.0, 0.0)
    assert tracker.ate_reference == 1 and tracker.ate == pytest.approx(75**0.5 / 4)


def test_a_long_step_is_a_gap_and_the_time_may_begin_anew_after_one():
    times = np.arange(10.0)
    points = times[:, None] * [1.0, 0.0, 0.0]
    tracker = ReferenceTracker([(times, points)], gap=1.5)
    for time in (0.0, 1.0, 4.0):
        tracker.update(time, np.nan, 0.0, 0.0, 0.0)
    assert tracker.gaps == 1 and tracker.rte == 1.0
    tracker.reset_differences()
    tracker.update(2.0, np.nan, 0.0, 0.0, 0.0)
    assert tracker.ate == pytest.approx((0 + 1 + 4 + 2) / 4) and tracker.gaps == 2


@pytest.mark.parametrize('match', ['time', 'arc_length'])
def test_refused_samples_change_nothing(match):
    reference = ([0.0, 1.0], [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    tracker, twin = (ReferenceTracker([reference], match=match) for _ in range(2))
    for each in (tracker, twin):
        each.update(0.0, 0.0, 0.0, 1.0, 0.0)
        each.update(0.5, 0.4, 0.0, 1.0, 0.0)
    bad = [(0.5, 0.5, 0, 0, 0), (0.6, 0.5, np.nan, 0, 0), (np.inf, 0.5, 0, 0, 0)]
    if match == 'arc_length':
        bad += [(0.6, 0.3, 0, 0, 0), (0.6, np.inf, 0, 0, 0)]
    for sample in bad:
        with pytest.raises(ValueRangeError):
            tracker.update(*sample)
    for each in (tracker, twin):
        each.update(0.7, 0.6, 1.0, 1.0, 1.0)
    assert (tracker.ate, tracker.rte, tracker.samples) == (twin.ate, twin.rte, 3)


@pytest.mark.parametrize(
    ('references', 'options', 'error', 'message'),
    [
        ([], {}, ShapeError, 'at least one trajectory'),
        ([([0.0], [[0.0, 0.0]])], {}, ShapeError, r'\(1, 2\)'),
        ([([0.0, 1.0], [[0.0, 0.0, 0.0]])], {}, ShapeError, r'stamps \(2,\)'),
        ([([1.0, 1.0], np.zeros((2, 3)))], {}, ValueRangeError, 'increase strictly'),
        ([([0.0, np.nan], np.zeros((2, 3)))], {}, ValueRangeError, 'not finite'),
        ([([0.0, 1.0], np.zeros((2, 3)))], {'match': 'arc_length'}, ValueRangeError, 'no length'),
        ([([0.0], np.zeros((1, 3)))], {'match': 'x'}, ValueRangeError, "'x'"),
        ([([0.0], np.zeros((1, 3)))], {'delta': 0}, ValueRangeError, 'delta is 0'),
        ([([0.0], np.zeros((1, 3)))], {'gap': -1.0}, ValueRangeError, 'gap is -1'),
    ],
)
def test_bad_references_are_named(references, options, error, message):
    with pytest.raises(error, match=message):
        ReferenceTracker(references, **options)
