# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Across gaps every streaming class equals its batch form with `breaks` on every prefix, and counts
them; variants included.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_strategies import breaks, paths, quaternions, stamps

from frame_ros import metrics
from frame_ros.core.errors import ShapeError
from frame_ros.metrics import (
    ActionInstability,
    ChunkOverlapDisagreement,
    CurvatureChange,
    OptimalTrajectoryDifference,
    PathLength,
    PathSmoothness,
    RelativeTrajectoryError,
    RiskFactor,
    RMSJerk,
    TCPInstability,
    TrajectoryStep,
    find_breaks,
)

# Relative to the coordinates, which reach 1e3 m.
TOLERANCE = {'rtol': 1e-9, 'atol': 1e-10}
VARIANTS = ('paper', 'authors')


def batch_or_nan(function, *arguments, **options):
    """The batch form, NaN where it has too few samples."""
    try:
        return function(*arguments, **options)
    except ShapeError:
        return np.nan


@st.composite
def broken_paths(draw, dimension=3):
    """A path, and at which of its samples a run begins: (T, dimension), (T,)."""
    path = draw(paths(dimension=dimension))
    flags = np.zeros(len(path), dtype=bool)
    flags[draw(breaks(len(path)))] = True
    return path, flags


def feed(metric, arguments, flags):
    """Updates with one sample after another; yields the length of the prefix."""
    for i, each in enumerate(zip(*arguments)):
        if flags[i]:
            metric.reset_differences()
        metric.update(*each)
        assert metric.gaps == flags[: i + 1].sum()
        yield i + 1


def check_forms(metric, steps, order, flags, variant='paper'):
    """The three forms of a per-step metric against its batch steps so far."""
    if np.ndim(steps) == 0:  # too few samples for the batch form
        if variant == 'paper':
            assert np.isnan([metric.step, metric.value, metric.mean]).all()
        return
    known = steps[~np.isnan(steps)]
    live = steps if variant == 'authors' else metrics.window_mean(steps, order, breaks=flags)
    wanted = [steps[-1], live[-1], known.mean() if len(known) else np.nan]
    np.testing.assert_allclose([metric.step, metric.value, metric.mean], wanted, **TOLERANCE)


@settings(max_examples=20)
@given(st.integers(2, 3).flatmap(lambda n: broken_paths(dimension=n)))
def test_path_length_and_smoothness(sample):
    path, flags = sample
    for count in feed(metric := PathLength(), [path], flags):
        wanted = batch_or_nan(metrics.path_length, path[:count], breaks=flags[:count])
        np.testing.assert_allclose(metric.value, wanted, **TOLERANCE)
    for variant in (*VARIANTS, 'mean_second_difference'):
        for count in feed(metric := PathSmoothness(variant), [path], flags):
            wanted = batch_or_nan(
                metrics.path_smoothness, path[:count], variant, breaks=flags[:count]
            )
            np.testing.assert_allclose(metric.value, wanted, **TOLERANCE)


@settings(max_examples=20)
@given(broken_paths(), st.data(), st.booleans())
def test_curvature_change(sample, data, wrap):
    path, flags = sample
    # Segments of some length: the angles of shorter ones are of rounding alone.
    path = path + np.arange(len(path))[:, None] * [10.0, 3.0, -2.0]
    count = len(path)
    orientations = data.draw(quaternions(count))
    headings = np.array(data.draw(st.lists(st.floats(-9, 9), min_size=count, max_size=count)))
    forms = [
        ([path], {}),
        ([path[:, :2]], {}),
        ([path, headings], {'headings': headings}),
        ([path, [None] * count, orientations], {'orientations': orientations}),
    ]
    for arguments, options in forms:
        for n in feed(metric := CurvatureChange(wrap=wrap), arguments, flags):
            few = {name: values[:n] for name, values in options.items()}
            wanted = batch_or_nan(
                metrics.curvature_change, arguments[0][:n], wrap=wrap, breaks=flags[:n], **few
            )
            np.testing.assert_allclose(metric.value, wanted, rtol=1e-9, atol=1e-9)


@settings(max_examples=20)
@given(st.integers(1, 3), broken_paths(dimension=4), st.booleans(), st.sampled_from(VARIANTS))
def test_action_instability(order, sample, bounded, variant):
    actions, flags = sample
    bounds = ([-1.0, -2.0, -3.0, -4.0], [1.0, 1.0, 1.0, 1.0]) if bounded else None
    for n in feed(metric := ActionInstability(order, bounds, variant=variant), [actions], flags):
        steps = batch_or_nan(
            metrics.action_instability, actions[:n], order, bounds, variant, flags[:n]
        )
        check_forms(metric, steps, order, flags[:n], variant)


@settings(max_examples=20)
@given(st.integers(1, 3), broken_paths(), st.sampled_from(VARIANTS))
def test_tcp_instability(order, sample, variant):
    path, flags = sample
    for n in feed(metric := TCPInstability(order, variant=variant), [path], flags):
        steps = batch_or_nan(
            metrics.tcp_instability, path[:n], order, variant=variant, breaks=flags[:n]
        )
        check_forms(metric, steps, order, flags[:n], variant)


@settings(max_examples=20)
@given(broken_paths(), st.data(), st.sampled_from(VARIANTS))
def test_rms_jerk(sample, data, variant):
    path, flags = sample
    dt = np.diff(data.draw(stamps(len(path) + 1))) * 1e-9
    for n in feed(metric := RMSJerk(variant=variant), [path, dt], flags):
        wanted = batch_or_nan(metrics.rms_jerk, path[:n], dt[1:n], variant, flags[:n])
        np.testing.assert_allclose(metric.value, wanted, **TOLERANCE)


@settings(max_examples=20)
@given(broken_paths(), st.integers(1, 3), st.integers(0, 99))
def test_relative_trajectory_error_and_progress(sample, delta, seed):
    path, flags = sample
    rng = np.random.default_rng(seed)
    other, goal = (path + rng.normal(size=path.shape) for _ in range(2))
    held = rng.random(len(path)) < 0.5
    for n in feed(metric := RelativeTrajectoryError(delta), [path, other], flags):
        wanted = batch_or_nan(
            metrics.relative_trajectory_error, path[:n], other[:n], delta, breaks=flags[:n]
        )
        np.testing.assert_allclose(metric.value, wanted, **TOLERANCE)
    for n in feed(metric := OptimalTrajectoryDifference(), [path, other, goal, held], flags):
        steps = batch_or_nan(
            metrics.optimal_trajectory_difference, path[:n], other[:n], goal[:n], held[:n]
        )
        if np.ndim(steps):
            steps[flags[:n]] = np.nan
        check_forms(metric, steps, 1, flags[:n])


def test_chunks_across_a_gap_are_not_compared():
    chunks = np.random.default_rng(0).normal(size=(4, 6, 2))
    metric = ChunkOverlapDisagreement()
    pairs = []
    for i, chunk in enumerate(chunks):
        if i == 2:
            metric.reset_differences()
            assert np.isnan(metric.value)
        metric.update(chunk, 2)
        if i in (1, 3):
            pairs.append(metrics.chunk_overlap_disagreement(chunk, chunks[i - 1], 2))
            assert metric.value == pytest.approx(pairs[-1], rel=1e-12)
            assert metric.mean == pytest.approx(np.mean(pairs), rel=1e-12)
    assert metric.gaps == 1


@settings(max_examples=30)
@given(st.data())
def test_stamps_find_the_gaps_by_themselves(data):
    path = data.draw(paths())
    times = data.draw(stamps(len(path)))
    flags = find_breaks(times, 50_000_000)
    orientation = (0.0, 0.0, 0.0, 1.0)
    alone, told = TrajectoryStep(gap=0.05), TrajectoryStep()
    jerk, told_jerk = RMSJerk(gap=0.05), RMSJerk()
    for i, (stamp, position) in enumerate(zip(times.tolist(), path.tolist())):
        dt = (times[i] - times[i - 1]) * 1e-9 if i else None
        if flags[i]:
            told.reset_differences()
            told_jerk.reset_differences()
        for live in (alone, told):
            live.update(stamp, *position, *orientation)
        for live in (jerk, told_jerk):
            live.update(position, dt)
        np.testing.assert_array_equal(jerk.value, told_jerk.value)
        for name in TrajectoryStep.__slots__:
            if not name.startswith('_'):
                np.testing.assert_array_equal(getattr(alone, name), getattr(told, name), name)
    assert alone.gaps == jerk.gaps == flags.sum()
    np.testing.assert_allclose(
        alone.pl, batch_or_nan(metrics.path_length, path, breaks=flags), **TOLERANCE
    )


def test_gaps_count_only_where_there_were_samples():
    metric, live = PathLength(), TrajectoryStep(gap=0.3)
    for each in (metric, live):
        each.reset_differences()
        assert each.gaps == 0
    metric.update((0.0, 0.0))
    live.update(0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    live.update(300_000_000, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    assert (live.gaps, live.pl) == (0, 1.0)  # as long as the gap, not longer
    for each in (metric, live):
        each.reset_differences()
        each.reset_differences()
        assert each.gaps == 1
        each.reset()
        assert each.gaps == 0


@given(st.lists(st.one_of(st.just(float('nan')), st.floats(0.0, 5.0)), min_size=1))
def test_risk_factor_of_the_published_library(distances):
    metric = RiskFactor(variant='authors')
    for count, distance in enumerate(distances, start=1):
        metric.update(distance)
        wanted = metrics.risk_factor(distances[:count], variant='authors')
        np.testing.assert_allclose(metric.value, wanted, rtol=1e-12)
