# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The fused live forms equal the batch formulas on every prefix, across gaps."""

from math import fsum

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_strategies import breaks, paths, quaternions, stamps
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics import (
    ActionStep,
    TrajectoryStep,
    action_instability,
    is_static,
    tcp_instability,
    window_mean,
)
from frame_ros.metrics.constants import SHORT_SEGMENT

ORDERS = ((1, 'pi'), (2, 'vi'), (3, 'ai'))
RATES = ((1, 'tcp_speed'), (2, 'tcp_acceleration'), (3, 'tcp_jerk'))


def runs(count, gaps):
    """Slices between the gaps."""
    edges = [0, *gaps, count]
    return [slice(a, b) for a, b in zip(edges[:-1], edges[1:], strict=True)]


def per_run(function, order, *arrays, gaps):
    """A per-step batch form over each run between gaps; NaN where a run is too short."""
    parts = []
    for run in runs(len(arrays[0]), gaps):
        rows = [array[run] for array in arrays]
        enough = len(rows[0]) > order
        parts.append(function(*rows) if enough else np.full(len(rows[0]), np.nan))
    return np.concatenate(parts)


def live_window(values, order, gaps):
    """Window mean at the newest sample; a gap begins a new window."""
    newest = runs(len(values), gaps)[-1]
    return window_mean(values[newest], order)[-1]


def mean_or_nan(values):
    known = values[~np.isnan(values)]
    return known.mean() if len(known) else np.nan


def curvature_changes(positions, orientations):
    """|change of curvature| between consecutive long segments, straight from the definition."""
    rotations = Rotation.from_quat(orientations)
    lengths = np.linalg.norm(np.diff(positions, axis=0), axis=1)
    keep = lengths >= SHORT_SEGMENT
    angles = (rotations[:-1].inv() * rotations[1:]).magnitude()
    return np.abs(np.diff(angles[keep] / lengths[keep])), int((~keep).sum())


@st.composite
def trajectories(draw):
    path = draw(paths(minimum=1))
    count = len(path)
    return path, draw(quaternions(count)), draw(stamps(count)), draw(breaks(count))


@settings(max_examples=30)
@given(trajectories())
def test_trajectory_step_equals_the_batch_forms_on_every_prefix(trajectory):
    path, orientations, times, gaps = trajectory
    live = TrajectoryStep()
    for i in range(len(path)):
        if i in gaps:
            live.reset_differences()
        live.update(int(times[i]), *path[i].tolist(), *orientations[i].tolist())
        before = [gap for gap in gaps if gap <= i]
        check_trajectory(live, path[: i + 1], times[: i + 1], before)
    assert live.samples == len(path)
    check_curvature(live, path, orientations, gaps)


def check_trajectory(live, path, times, gaps):
    steps = {}
    for order, short in ORDERS:
        steps[order] = per_run(lambda p, n=order: tcp_instability(p, n), order, path, gaps=gaps)
        found = [getattr(live, f'tcp_{short}{form}') for form in ('_step', '', '_mean')]
        wanted = [
            steps[order][-1],
            live_window(steps[order], order, gaps),
            mean_or_nan(steps[order]),
        ]
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    seconds = (times - times[0]) * 1e-9
    for order, name in RATES:
        rates = per_run(
            lambda p, t, n=order: tcp_instability(p, n, np.diff(t)), order, path, seconds, gaps=gaps
        )
        # Stamps as float seconds carry the rounding of their differences: 1e-9 is what is asked.
        np.testing.assert_allclose(getattr(live, name), rates[-1], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(live.ti, np.sqrt(mean_or_nan(rates**2)), rtol=1e-9, atol=1e-9)
    length = np.nansum(steps[1]) if not np.isnan(steps[1]).all() else np.nan
    np.testing.assert_allclose(live.pl, length, rtol=1e-12, atol=1e-12)
    bends = np.nan if np.isnan(steps[2]).all() or length == 0 else np.nansum(steps[2]) / length
    np.testing.assert_allclose(live.ps, bends, rtol=1e-12, atol=1e-12)
    assert live.is_static == bool(is_static(path))


def check_curvature(live, path, orientations, gaps):
    pieces = [
        curvature_changes(path[run], orientations[run])
        for run in runs(len(path), gaps)
        if run.stop - run.start > 1
    ]
    changes = np.concatenate([change for change, _ in pieces]) if pieces else np.zeros(0)
    assert live.short_segments == sum(short for _, short in pieces)
    wanted = changes.mean() if len(changes) else np.nan
    # Angles over segments of micrometres: their rounding is multiplied by up to 1e6.
    np.testing.assert_allclose(live.cc, wanted, rtol=1e-6, atol=1e-1)


def test_curvature_of_a_plain_path_to_the_last_digits():
    rng = np.random.default_rng(0)
    path, orientations = rng.normal(size=(50, 3)).cumsum(axis=0), rng.normal(size=(50, 4))
    live = TrajectoryStep()
    for i in range(50):
        live.update(1 + i * 20_000_000, *path[i].tolist(), *orientations[i].tolist())
    changes, _ = curvature_changes(path, orientations)
    assert live.cc == pytest.approx(changes.mean(), rel=1e-12)


def test_too_few_samples_are_nan():
    live = TrajectoryStep()
    assert np.isnan([live.pl, live.ps, live.cc, live.ti, live.tcp_pi, live.tcp_ai_mean]).all()
    live.update(1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    assert np.isnan([live.pl, live.ps, live.cc, live.ti, live.tcp_pi, live.tcp_speed]).all()
    live.update(2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    live.update(3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    assert live.pl == 0.0 and np.isnan(live.ps) and live.is_static


@pytest.mark.parametrize('place', range(7))
@pytest.mark.parametrize('bad', [float('nan'), float('inf'), -float('inf')])
def test_a_pose_that_is_not_finite_is_refused_and_changes_nothing(place, bad):
    live = TrajectoryStep()
    live.update(1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    pose = [0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0]
    pose[place] = bad
    with pytest.raises(ValueRangeError, match='not finite'):
        live.update(2, *pose)
    assert live.samples == 1
    live.update(2, 3.0, 4.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    assert live.pl == 5.0


def test_a_zero_quaternion_and_a_stamp_that_does_not_advance_are_refused():
    live = TrajectoryStep()
    with pytest.raises(ValueRangeError, match='quaternion is zero'):
        live.update(1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    live.update(5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    with pytest.raises(ValueRangeError, match='5 ns is not after'):
        live.update(5, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    assert live.samples == 1 and np.isnan(live.pl)
    with pytest.raises(ValueRangeError, match='static_threshold'):
        TrajectoryStep(static_threshold=-1.0)


def test_reset_forgets_everything():
    live = TrajectoryStep()
    fresh = TrajectoryStep()
    rng = np.random.default_rng(0)
    poses = rng.normal(size=(20, 7)).tolist()
    for i, pose in enumerate(poses):
        live.update(i + 1, *pose)
    live.reset()
    for i, pose in enumerate(poses[:9]):
        live.update(i + 1, *pose)
        fresh.update(i + 1, *pose)
    for name in TrajectoryStep.__slots__:
        if not name.startswith('_'):
            assert getattr(live, name) == getattr(fresh, name), name


@settings(max_examples=30)
@given(st.data(), st.integers(1, 7), st.booleans())
def test_action_step_equals_the_batch_forms_on_every_prefix(data, dimension, bounded):
    actions = data.draw(paths(dimension=dimension))
    gaps = data.draw(breaks(len(actions)))
    bounds = ([-2.0] * dimension, [3.0] * dimension) if bounded else None
    live = ActionStep(dimension, bounds)
    for i, action in enumerate(actions):
        if i in gaps:
            live.reset_differences()
        live.update(action.tolist())
        before = [gap for gap in gaps if gap <= i]
        for order, short in ORDERS:
            steps = per_run(
                lambda a, n=order: action_instability(a, n, bounds),
                order,
                actions[: i + 1],
                gaps=before,
            )
            found = [getattr(live, f'a_{short}{form}') for form in ('_step', '', '_mean')]
            wanted = [steps[-1], live_window(steps, order, before), mean_or_nan(steps)]
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def test_bad_actions_are_refused_and_change_nothing():
    live = ActionStep(2)
    live.update((0.0, 0.0))
    with pytest.raises(ShapeError, match='3 values; 2 are expected'):
        live.update((1.0, 1.0, 1.0))
    with pytest.raises(ValueRangeError, match='not finite'):
        live.update((float('nan'), 1.0))
    live.update((1.0, 3.0))
    assert (live.samples, live.a_pi) == (2, 2.0)


@pytest.mark.parametrize(
    ('bounds', 'error'),
    [
        (([0.0], [1.0]), ShapeError),
        (([0.0, 0.0],), ShapeError),
        (([0.0, 1.0], [1.0, 1.0]), ValueRangeError),
        (([0.0, 0.0], [1.0, float('inf')]), ValueRangeError),
    ],
)
def test_bad_bounds_are_refused(bounds, error):
    with pytest.raises(error):
        ActionStep(2, bounds)


def test_sums_over_many_samples_keep_their_digits():
    rng = np.random.default_rng(0)
    path = np.tile(1e3 + rng.normal(size=(1000, 3)), (100, 1))
    live = TrajectoryStep()
    for i, (x, y, z) in enumerate(path.tolist()):
        live.update(i * 1_000_000 + 1, x, y, z, 0.0, 0.0, 0.0, 1.0)
    # 100,000 samples to 1e-11: ten times as many keep 1e-9 with a digit to spare.
    exact = fsum(np.linalg.norm(np.diff(path, axis=0), axis=1).tolist())
    assert live.pl == pytest.approx(exact, rel=1e-11)
    assert live.tcp_pi_mean == pytest.approx(exact / (len(path) - 1), rel=1e-11)
