# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Each streaming class equals its batch form on every prefix, and starts anew after a reset."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_strategies import paths, quaternions

from frame_ros import metrics
from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics import (
    AbsoluteTrajectoryError,
    ActionInstability,
    CollisionRate,
    CurvatureChange,
    ObstacleProximity,
    OptimalTrajectoryDifference,
    PathLength,
    PathSmoothness,
    RelativeTrajectoryError,
    RiskFactor,
    RMSJerk,
    RunningMean,
    TCPInstability,
    WindowMean,
)

TOLERANCE = {'rtol': 1e-11, 'atol': 1e-11}


def batch_or_nan(function, *arguments, **options):
    """The batch form, NaN where it has too few samples."""
    try:
        return function(*arguments, **options)
    except ShapeError:
        return np.nan


@settings(max_examples=25)
@given(st.integers(2, 3).flatmap(lambda n: paths(dimension=n)))
def test_path_metrics(path):
    length, smoothness, curvature = PathLength(), PathSmoothness(), CurvatureChange()
    instabilities = [TCPInstability(order) for order in (1, 2, 3)]
    for count, position in enumerate(path, start=1):
        prefix = path[:count]
        for metric in (length, smoothness, curvature, *instabilities):
            metric.update(position)
        np.testing.assert_allclose(
            length.value, batch_or_nan(metrics.path_length, prefix), **TOLERANCE
        )
        np.testing.assert_allclose(
            smoothness.value, batch_or_nan(metrics.path_smoothness, prefix), **TOLERANCE
        )
        wanted = batch_or_nan(metrics.curvature_change, prefix)
        np.testing.assert_allclose(curvature.value, wanted, rtol=1e-6, atol=1e-3)
        for order, metric in enumerate(instabilities, start=1):
            check_forms(metric, batch_or_nan(metrics.tcp_instability, prefix, order), order)
    if len(path) > 1:
        assert curvature.short_segments == metrics.count_short_segments(path)


def check_forms(metric, steps, order):
    if np.ndim(steps) == 0:
        assert np.isnan([metric.step, metric.value, metric.mean]).all()
        return
    wanted = [steps[-1], metrics.window_mean(steps, order)[-1], steps[order:].mean()]
    np.testing.assert_allclose([metric.step, metric.value, metric.mean], wanted, **TOLERANCE)


@settings(max_examples=25)
@given(st.integers(1, 16).flatmap(lambda n: st.tuples(quaternions(n), st.integers(0, 99))))
def test_curvature_change_with_orientations_and_headings(sample):
    orientations, seed = sample
    rng = np.random.default_rng(seed)
    path = rng.normal(size=(len(orientations), 3))
    headings = rng.uniform(-10.0, 10.0, size=len(orientations))
    by_orientation, by_heading = CurvatureChange(), CurvatureChange()
    unwrapped = CurvatureChange(wrap=False)
    for i in range(len(path)):
        by_orientation.update(path[i], orientation=orientations[i])
        by_heading.update(path[i], heading=headings[i])
        unwrapped.update(path[i], heading=headings[i])
        few = slice(0, i + 1)
        batch = [
            batch_or_nan(metrics.curvature_change, path[few], orientations=orientations[few]),
            batch_or_nan(metrics.curvature_change, path[few], headings[few]),
            batch_or_nan(metrics.curvature_change, path[few], headings[few], wrap=False),
        ]
        found = [by_orientation.value, by_heading.value, unwrapped.value]
        np.testing.assert_allclose(found, batch, **TOLERANCE)


@settings(max_examples=25)
@given(paths(dimension=3), st.integers(0, 99))
def test_rms_jerk_with_irregular_stamps(path, seed):
    dt = np.random.default_rng(seed).uniform(0.01, 0.1, size=len(path))
    jerk, regular = RMSJerk(), RMSJerk(dt=0.02)
    for i, position in enumerate(path):
        jerk.update(position, dt[i])
        regular.update(position)
        wanted = batch_or_nan(metrics.rms_jerk, path[: i + 1], dt[1 : i + 1])
        np.testing.assert_allclose(jerk.value, wanted, rtol=1e-9, atol=1e-9)
        wanted = batch_or_nan(metrics.rms_jerk, path[: i + 1], 0.02)
        np.testing.assert_allclose(regular.value, wanted, rtol=1e-9, atol=1e-9)


@settings(max_examples=25)
@given(st.integers(1, 3), paths(dimension=4), st.booleans())
def test_action_instability(order, actions, bounded):
    bounds = ([-1.0, -2.0, -3.0, -4.0], [1.0, 1.0, 1.0, 1.0]) if bounded else None
    metric = ActionInstability(order, bounds)
    for count, action in enumerate(actions, start=1):
        metric.update(action)
        steps = batch_or_nan(metrics.action_instability, actions[:count], order, bounds)
        check_forms(metric, steps, order)


@settings(max_examples=25)
@given(paths(minimum=1), st.integers(1, 3), st.integers(0, 99))
def test_errors_against_a_reference(path, delta, seed):
    reference = path + np.random.default_rng(seed).normal(size=path.shape)
    ate, rte = AbsoluteTrajectoryError(), RelativeTrajectoryError(delta)
    for i in range(len(path)):
        ate.update(path[i], reference[i])
        rte.update(path[i], reference[i])
        few = slice(0, i + 1)
        found = [ate.value, rte.value]
        wanted = [
            metrics.absolute_trajectory_error(path[few], reference[few]),
            batch_or_nan(metrics.relative_trajectory_error, path[few], reference[few], delta),
        ]
        np.testing.assert_allclose(found, wanted, **TOLERANCE)


@settings(max_examples=25)
@given(paths(minimum=2), st.integers(0, 99), st.sampled_from(['object_to_goal', 'tcp_to_goal']))
def test_optimal_trajectory_difference(path, seed, second_term):
    rng = np.random.default_rng(seed)
    target, goal = rng.normal(size=path.shape), rng.normal(size=path.shape)
    grasped = rng.random(len(path)) < 0.5
    metric = OptimalTrajectoryDifference(second_term)
    for i in range(len(path)):
        metric.update(path[i], target[i], goal[i], bool(grasped[i]))
        few = slice(0, i + 1)
        steps = batch_or_nan(
            metrics.optimal_trajectory_difference,
            path[few],
            target[few],
            goal[few],
            grasped[few],
            second_term,
        )
        check_forms(metric, steps, 1)


@given(st.lists(st.one_of(st.just(float('nan')), st.floats(-0.1, 5.0)), min_size=1))
def test_proximity_and_risk(distances):
    proximity, risk = ObstacleProximity(), RiskFactor()
    for count, distance in enumerate(distances, start=1):
        proximity.update(distance)
        risk.update(distance)
        found = [proximity.value, risk.value]
        wanted = [
            metrics.obstacle_proximity(distances[:count]),
            metrics.risk_factor(distances[:count]),
        ]
        np.testing.assert_allclose(found, wanted, **TOLERANCE)


@given(st.lists(st.booleans(), min_size=1))
def test_collision_rate(contacts):
    metric = CollisionRate()
    for count, contact in enumerate(contacts, start=1):
        metric.update(contact)
        collisions = metrics.count_collisions(contacts[:count])
        assert metric.collisions == collisions
        assert metric.value == metrics.collision_rate(collisions, count)


def test_collision_rate_with_contacts_between_steps():
    metric = CollisionRate()
    assert np.isnan(metric.value) and np.isnan(metric.per(0.0))
    metric.update(True, steps=0)
    metric.update(False, steps=0)
    metric.add_step()
    metric.update(True)
    assert (metric.collisions, metric.value, metric.per(4.0)) == (2, 1.0, 0.5)


def test_a_gap_breaks_differences_but_not_sums():
    length, smoothness, jerk = PathLength(), PathSmoothness(), RMSJerk(dt=1.0)
    turned = CurvatureChange()
    instability = TCPInstability(1)
    every = (length, smoothness, jerk, turned, instability)
    for x in (0.0, 1.0, 3.0):
        for metric in every:
            metric.update((x, 0.0, 0.0))
    for metric in every:
        metric.reset_differences()
    assert np.isnan(instability.step) and np.isnan(instability.value) and instability.mean == 1.5
    for x in (100.0, 104.0):
        for metric in every:
            metric.update((x, 0.0, 0.0))
    assert length.value == 7.0
    assert smoothness.value == pytest.approx(1.0 / 7.0)
    assert np.isnan(jerk.value) and np.isnan(turned.value)
    assert (instability.step, instability.value) == (4.0, 4.0)


def every_class():
    position = ((0.1, 0.2, 0.3),)
    pair = ((0.1, 0.2, 0.3), (0.4, 0.5, 0.7))
    return [
        (PathLength(), position),
        (PathSmoothness(), position),
        (CurvatureChange(), position),
        (TCPInstability(2), position),
        (ActionInstability(3), position),
        (RMSJerk(dt=0.1), position),
        (AbsoluteTrajectoryError(), pair),
        (RelativeTrajectoryError(), pair),
        (OptimalTrajectoryDifference(), pair),
        (ObstacleProximity(), (0.1,)),
        (RiskFactor(), (0.1,)),
        (CollisionRate(), (True,)),
        (WindowMean(), (0.5,)),
        (RunningMean(), (0.5,)),
    ]


@pytest.mark.parametrize(('metric', 'arguments'), every_class(), ids=lambda v: type(v).__name__)
def test_every_class_is_nan_at_first_and_after_reset(metric, arguments):
    assert np.isnan(metric.value)
    moved = [np.multiply(a, 1.5) if isinstance(a, tuple) else a for a in arguments]
    for i in range(10):
        metric.update(*(moved if i % 3 else arguments))
    assert not np.isnan(metric.value)
    metric.reset()
    assert np.isnan(metric.value)


def test_other_bad_input_is_named():
    with pytest.raises(ShapeError, match='4 values; 2 or 3'):
        PathLength().update((0.0, 0.0, 0.0, 0.0))
    with pytest.raises(ShapeError, match='3 are expected'):
        length = PathLength()
        length.update((0.0, 0.0, 0.0))
        length.update((0.0, 0.0))
    with pytest.raises(ValueRangeError, match='dt is None'):
        jerk = RMSJerk()
        jerk.update((0.0, 0.0, 0.0))
        jerk.update((0.0, 0.0, 0.0))
    with pytest.raises(ValueRangeError, match='order is 0'):
        TCPInstability(0)
    with pytest.raises(ValueRangeError, match='distance is inf'):
        RiskFactor().update(float('inf'))
    with pytest.raises(ShapeError, match='alternate'):
        turned = CurvatureChange()
        turned.update((0.0, 0.0), heading=0.0)
        turned.update((1.0, 0.0), orientation=(0.0, 0.0, 0.0, 1.0))
