# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Gaps: batch with breaks equals streaming with reset_differences; where breaks are found."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_strategies import breaks, paths, quaternions

from frame_ros import metrics
from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics import (
    ActionInstability,
    CurvatureChange,
    PathLength,
    PathSmoothness,
    RelativeTrajectoryError,
    RMSJerk,
    TCPInstability,
)

TOLERANCE = {'rtol': 1e-9, 'atol': 1e-9}


@st.composite
def broken_paths(draw, minimum=4, dimension=3):
    """A path, and (T,) booleans where a new run begins; True at the first sample or not."""
    path = draw(paths(minimum=minimum, dimension=dimension))
    flags = np.zeros(len(path), dtype=bool)
    flags[draw(breaks(len(path)))] = True
    flags[0] = draw(st.booleans())
    return path, flags


def run(metric, flags, *streams):
    """The streaming form's values after each sample of the streams."""
    values = []
    for begins, *samples in zip(flags, *streams, strict=True):
        if begins:
            metric.reset_differences()
        metric.update(*samples)
        values.append(metric.value)
    return values


@settings(max_examples=60)
@given(st.integers(2, 3).flatmap(lambda n: broken_paths(dimension=n)))
def test_paths(given_path):
    path, flags = given_path
    length = metrics.path_length(path, breaks=flags)
    np.testing.assert_allclose(length, run(PathLength(), flags, path)[-1], **TOLERANCE)
    smoothness = metrics.path_smoothness(path, breaks=flags)
    np.testing.assert_allclose(smoothness, run(PathSmoothness(), flags, path)[-1], **TOLERANCE)
    curvature = metrics.curvature_change(path, breaks=flags)
    wanted = run(CurvatureChange(), flags, path)[-1]
    np.testing.assert_allclose(curvature, wanted, rtol=1e-6, atol=1e-6)


@settings(max_examples=60)
@given(broken_paths(), st.data(), st.booleans())
def test_curvature_with_orientations_or_headings(given_path, data, turned):
    path, flags = given_path
    if turned:
        thetas = data.draw(quaternions(len(path)))
        found = metrics.curvature_change(path, orientations=thetas, breaks=flags)
        wanted = run(CurvatureChange(), flags, path, [None] * len(path), thetas)[-1]
    else:
        thetas = np.random.default_rng(len(path)).uniform(-9.0, 9.0, len(path))
        found = metrics.curvature_change(path, thetas, breaks=flags)
        wanted = run(CurvatureChange(), flags, path, thetas)[-1]
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)


@settings(max_examples=60)
@given(broken_paths(), st.integers(1, 3), st.sampled_from(['paper', 'authors']))
def test_instabilities_and_their_window(given_path, order, variant):
    path, flags = given_path
    for function, stream in (
        (metrics.tcp_instability, TCPInstability(order, variant=variant)),
        (metrics.action_instability, ActionInstability(order, variant=variant)),
    ):
        steps = function(path, order, variant=variant, breaks=flags)
        found = steps if variant == 'authors' else metrics.window_mean(steps, order, breaks=flags)
        np.testing.assert_allclose(found, run(stream, flags, path), **TOLERANCE)
        known = steps[~np.isnan(steps)]
        wanted = known.mean() if len(known) else np.nan
        np.testing.assert_allclose(wanted, stream.mean, **TOLERANCE)


@settings(max_examples=60)
@given(broken_paths(), st.sampled_from(['paper', 'authors']), st.integers(0, 99))
def test_jerk_and_rates_whatever_dt_stands_at_a_break(given_path, variant, seed):
    path, flags = given_path
    dt = np.random.default_rng(seed).uniform(0.01, 0.1, len(path) - 1)
    wanted = run(RMSJerk(variant=variant), flags, path, [0.1, *dt])[-1]
    dt[flags[1:]] = np.random.default_rng(seed).choice([-1.0, 0.0, np.nan, 5.0])
    found = metrics.rms_jerk(path, dt, variant, breaks=flags)
    np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-6)


@settings(max_examples=60)
@given(broken_paths(), st.integers(1, 3))
def test_relative_trajectory_error(given_path, delta):
    path, flags = given_path
    reference = np.random.default_rng(len(path)).normal(size=path.shape)
    found = metrics.relative_trajectory_error(path, reference, delta, breaks=flags)
    wanted = run(RelativeTrajectoryError(delta), flags, path, reference)[-1]
    np.testing.assert_allclose(found, wanted, **TOLERANCE)


RNG = np.random.default_rng(3)
BATCH = RNG.normal(size=(2, 3, 14, 3))
HEADINGS, TURNS = RNG.uniform(-3.0, 3.0, (2, 3, 14)), RNG.normal(size=(2, 3, 14, 4))
FLAGS = RNG.random((2, 3, 14)) < 0.25
DT = RNG.uniform(0.01, 0.1, (2, 3, 13))
CALLS = {
    'path_length': lambda i, b: metrics.path_length(BATCH[i], breaks=b),
    'path_smoothness': lambda i, b: metrics.path_smoothness(BATCH[i], breaks=b),
    'second_difference': lambda i, b: metrics.path_smoothness(BATCH[i], 'authors', breaks=b),
    'cc_path': lambda i, b: metrics.curvature_change(BATCH[i], breaks=b),
    'cc_headings': lambda i, b: metrics.curvature_change(BATCH[i], HEADINGS[i], breaks=b),
    'cc_turns': lambda i, b: metrics.curvature_change(BATCH[i], None, TURNS[i], breaks=b),
    'actions': lambda i, b: metrics.action_instability(BATCH[i], 2, (-4.0, 4.0), breaks=b),
    'authors': lambda i, b: metrics.tcp_instability(BATCH[i], 1, variant='authors', breaks=b),
    'rates': lambda i, b: metrics.tcp_instability(BATCH[i], 3, DT[i], breaks=b),
    'jerk': lambda i, b: metrics.rms_jerk(BATCH[i], DT[i], breaks=b),
    'jerk_authors': lambda i, b: metrics.rms_jerk(BATCH[i], 1.0, 'authors', breaks=b),
    'rte': lambda i, b: metrics.relative_trajectory_error(BATCH[i], TURNS[i][..., :3], 2, breaks=b),
    'window': lambda i, b: metrics.window_mean(HEADINGS[i], 0, 4, breaks=b),
    'travelled': lambda i, b: metrics.travelled_lengths(BATCH[i], breaks=b),
}


@pytest.mark.parametrize('name', CALLS)
def test_each_row_of_a_batch_has_its_own_breaks_or_all_share_them(name):
    call = CALLS[name]
    rows = [(i, j) for i in range(2) for j in range(3)]
    own = call(slice(None), FLAGS)
    shared = call(slice(None), FLAGS[0, 0])
    for row in rows:
        np.testing.assert_allclose(own[row], call(row, FLAGS[row]), rtol=1e-12)
        np.testing.assert_allclose(shared[row], call(row, FLAGS[0, 0]), rtol=1e-12)
    nothing = call(slice(None), np.zeros(14, dtype=bool))
    np.testing.assert_allclose(nothing, call(slice(None), None), rtol=1e-12)


@pytest.mark.parametrize('name', CALLS)
def test_breaks_must_be_booleans_of_the_samples(name):
    with pytest.raises(ShapeError, match=r'breaks have shape \(13,\); \(14,\) is expected'):
        CALLS[name]((0, 0), np.zeros(13, dtype=bool))
    with pytest.raises(ValueRangeError, match='breaks have type int64; booleans'):
        CALLS[name]((0, 0), [0] * 13 + [5])


def test_runs_by_hand():
    # Two runs: 0 -> 1 -> 3, then 10 -> 14; the way from 3 to 10 does not count.
    path = np.array([[0.0, 0], [1, 0], [3, 0], [10, 0], [14, 0]])
    flags = [False, False, False, True, False]
    assert metrics.path_length(path, flags) == 7.0
    assert metrics.path_smoothness(path, breaks=flags) == 1.0 / 7.0
    steps = metrics.tcp_instability(path, 1, breaks=flags)
    np.testing.assert_array_equal(steps, [np.nan, 1.0, 2.0, np.nan, 4.0])
    window = metrics.window_mean(steps, 1, window=3, breaks=flags)
    np.testing.assert_array_equal(window, [np.nan, 1.0, 1.5, np.nan, 4.0])
    np.testing.assert_array_equal(metrics.travelled_lengths(path, flags), [0, 1, 3, 3, 7])
    assert np.isnan(metrics.rms_jerk(path, 0.1, breaks=flags))
    assert np.isnan(metrics.path_length(path, [True] * 5))


def test_a_value_that_is_not_finite_is_found_also_in_a_run_of_its_own():
    path = np.zeros((5, 3))
    path[2, 1] = np.inf
    alone = [False, False, True, True, False]
    for call in (
        lambda: metrics.path_length(path, alone),
        lambda: metrics.path_smoothness(path, breaks=alone),
        lambda: metrics.curvature_change(path, breaks=alone),
        lambda: metrics.rms_jerk(path, 0.1, breaks=alone),
        lambda: metrics.relative_trajectory_error(path, np.zeros((5, 3)), breaks=alone),
    ):
        with pytest.raises(ValueRangeError, match=r'not finite, the first at index \(2, 1\)'):
            call()


def test_breaks_are_found_at_steps_longer_than_the_gap():
    start = 1_700_000_000_000_000_000
    stamps = start + np.array([0, 20, 40, 140, 160, 260]) * 1_000_000
    wanted = [False, False, False, True, False, True]
    np.testing.assert_array_equal(metrics.find_breaks(stamps, 99_999_999), wanted)
    np.testing.assert_array_equal(metrics.find_breaks(list(stamps), 100_000_000), [False] * 6)
    np.testing.assert_array_equal(metrics.find_breaks((stamps - start) * 1e-9, 0.05), wanted)
    assert metrics.find_breaks([], 0.1).shape == (0,)


def test_stamps_that_do_not_increase_are_named():
    with pytest.raises(ValueRangeError, match='2 at index 3 is not after 3; sort them'):
        metrics.find_breaks([1, 2, 3, 2, 1], 5)
    with pytest.raises(ValueRangeError, match='1.0 at index 1 is not after 1.0'):
        metrics.find_breaks([1.0, 1.0], 5)
    with pytest.raises(ValueRangeError, match=r'not finite, the first at index \(1,\)'):
        metrics.find_breaks([0.0, np.nan], 5)
    with pytest.raises(ShapeError, match=r'stamps have shape \(2, 2\); \(T,\)'):
        metrics.find_breaks([[0, 1], [2, 3]], 5)
    with pytest.raises(ValueRangeError, match='gap is 0'):
        metrics.find_breaks([0, 1], 0)


@pytest.mark.parametrize('name', ['path_length', 'path_smoothness', 'jerk', 'cc_path', 'rte'])
def test_torch_with_breaks(name):
    torch = pytest.importorskip('torch')
    function = {
        'path_length': lambda p, b: metrics.path_length(p, b),
        'path_smoothness': lambda p, b: metrics.path_smoothness(p, breaks=b),
        'jerk': lambda p, b: metrics.rms_jerk(p, DT[0, 0], breaks=b),
        'cc_path': lambda p, b: metrics.curvature_change(p, breaks=b),
        'rte': lambda p, b: metrics.relative_trajectory_error(p, TURNS[0, 0, :, :3], breaks=b),
    }[name]
    path, flags = BATCH[0, 0].copy(), FLAGS[0, 0]
    path[6:9] = path[5]
    tensor = torch.from_numpy(path).requires_grad_()
    for given_flags in (flags, torch.from_numpy(flags)):
        found = function(tensor, given_flags)
        np.testing.assert_allclose(found.detach(), function(path, flags), rtol=1e-10)
        (gradient,) = torch.autograd.grad(found, tensor)
        assert torch.isfinite(gradient).all() and (gradient != 0).any()
    found = metrics.find_breaks(torch.tensor([0, 10, 30]), 15)
    assert found.tolist() == [False, False, True] and found.dtype == torch.bool
