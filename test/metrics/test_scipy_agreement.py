# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Agreement with scipy and numpy where the tests of the single modules do not show it.

There: turns of orientations and SE(3) alignment against Rotation, the Wilson interval against
binomtest, differences against numpy.diff, the authors' jerk against numpy.gradient.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from metric_strategies import quaternions
from scipy import integrate, interpolate, signal, spatial, stats
from scipy.spatial.transform import Rotation

from frame_ros import metrics
from frame_ros.metrics.orientations import rotation_angle, wrapped

RNG = np.random.default_rng(11)
PATH = RNG.normal(size=(50, 3)).cumsum(axis=0)
TIMES = RNG.uniform(0.01, 0.2, 50).cumsum()


@given(quaternions(8))
def test_geodesic_angles(turns):
    unit = turns / np.linalg.norm(turns, axis=1, keepdims=True)
    found = rotation_angle(np, unit[:-1], unit[1:])
    rotations = Rotation.from_quat(unit)
    np.testing.assert_allclose(found, (rotations[:-1].inv() * rotations[1:]).magnitude(), atol=1e-7)


@given(st.lists(st.floats(-50.0, 50.0), min_size=1, max_size=20))
def test_wrapped_turns_are_those_of_rotations_in_the_plane(angles):
    found = wrapped(np, np.array(angles))
    wanted = Rotation.from_rotvec([[0.0, 0.0, a] for a in angles]).as_rotvec()[:, 2]
    # At half a turn either sign is the same rotation.
    away = np.abs(np.abs(wanted) - np.pi) > 1e-9
    np.testing.assert_allclose(found[away], wanted[away], atol=1e-12)
    assert ((found > -np.pi) & (found <= np.pi)).all()


def test_path_length_and_errors_are_distances():
    pairs = spatial.distance.cdist(PATH, PATH)
    assert metrics.path_length(PATH) == pytest.approx(np.diagonal(pairs, 1).sum())
    other = RNG.normal(size=PATH.shape)
    wanted = np.diagonal(spatial.distance.cdist(PATH, other)).mean()
    assert metrics.absolute_trajectory_error(PATH, other) == pytest.approx(wanted)


def test_path_length_of_a_smooth_curve_nears_its_integral():
    t = np.linspace(0.0, 3.0, 4000)
    helix = np.column_stack([np.cos(t), np.sin(t), t**2])
    wanted, _ = integrate.quad(lambda s: np.sqrt(1.0 + 4.0 * s * s), 0.0, 3.0)
    assert metrics.path_length(helix) == pytest.approx(wanted, rel=1e-6)
    assert metrics.travelled_lengths(helix)[-1] == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize('library', ['numpy', 'torch'])
def test_resampling(library):
    wanted_at = np.concatenate([[TIMES[0] - 1.0], RNG.uniform(*TIMES[[0, -1]], 30), [99.0], TIMES])
    line = interpolate.interp1d(
        TIMES, PATH, axis=0, bounds_error=False, fill_value=(PATH[0], PATH[-1])
    )
    along = metrics.travelled_lengths(PATH)
    lengths = np.concatenate([[-1.0], RNG.uniform(0.0, along[-1], 30), [1e3]])
    by_length = interpolate.interp1d(
        along, PATH, axis=0, bounds_error=False, fill_value=(PATH[0], PATH[-1])
    )
    path, times = PATH, TIMES
    if library == 'torch':
        torch = pytest.importorskip('torch')
        path, times = torch.from_numpy(PATH), torch.from_numpy(TIMES)
    found = metrics.resample(path, times, wanted_at)
    np.testing.assert_allclose(found, line(wanted_at), rtol=1e-12, atol=1e-12)
    found = metrics.resample_at_arc_length(path, lengths)
    np.testing.assert_allclose(found, by_length(lengths), rtol=1e-10, atol=1e-10)


def test_differences_at_constant_dt_are_finite_difference_filters():
    for order, weights in ((1, [1, -1]), (2, [1, -2, 1]), (3, [1, -3, 3, -1])):
        filtered = signal.lfilter(weights, 1.0, PATH, axis=0)[order:] / 0.05**order
        found = metrics.tcp_instability(PATH, order, 0.05)[order:]
        np.testing.assert_allclose(found, np.linalg.norm(filtered, axis=1), rtol=1e-12)
        found = metrics.action_instability(PATH, order)[order:]
        np.testing.assert_allclose(found, np.abs(filtered).mean(axis=1) * 0.05**order, rtol=1e-9)


@pytest.mark.parametrize('order', [1, 2, 3])
def test_rates_at_irregular_stamps_are_derivatives_of_the_interpolating_polynomial(order):
    path, times = PATH[: order + 1], TIMES[: order + 1]
    polynomial = interpolate.KroghInterpolator(times, path)
    wanted = np.linalg.norm(polynomial.derivative(times[-1], order))
    found = metrics.tcp_instability(path, order, np.diff(times))[-1]
    assert found == pytest.approx(wanted, rel=1e-8)


def test_jerk_of_a_smooth_motion_nears_its_derivative():
    t = np.linspace(0.0, 2.0, 2001)
    path = np.column_stack([np.sin(3.0 * t), np.cos(2.0 * t), t])
    wanted = np.sqrt(
        integrate.quad(lambda s: (27 * np.cos(3 * s)) ** 2 + (8 * np.sin(2 * s)) ** 2, 0, 2)[0] / 2
    )
    assert metrics.rms_jerk(path, np.diff(t)) == pytest.approx(wanted, rel=1e-3)


def test_entropy_and_spread():
    p = RNG.dirichlet(np.full(9, 0.3), size=(4, 6))
    p[0, 0] = np.eye(9)[2]
    wanted = stats.entropy(p, axis=-1).mean(axis=-1)
    np.testing.assert_allclose(metrics.token_entropy(p), wanted, rtol=1e-12)
    shares = stats.entropy(p, base=9, axis=-1).mean(axis=-1)
    np.testing.assert_allclose(metrics.token_entropy(p, normalised=True), shares, rtol=1e-12)
    samples = RNG.normal(size=(5, 8, 3))
    spread = stats.tstd(samples, axis=1, ddof=0).mean(axis=-1)
    np.testing.assert_allclose(metrics.execution_variability(samples), spread, rtol=1e-12)


def test_sim3_alignment_is_procrustes():
    # Procrustes scales both to unit size; its disparity is what is left, over that size squared.
    other = RNG.normal(size=PATH.shape)
    _, _, disparity = spatial.procrustes(PATH, other)
    left = metrics.align(other, PATH, with_scale=True) - PATH
    extent = ((PATH - PATH.mean(axis=0)) ** 2).sum()
    # scipy's allows mirrors, so ours is never nearer; it equals where the best is no mirror.
    assert (left**2).sum() / extent >= disparity - 1e-12
    near = PATH + 0.1 * other
    _, _, disparity = spatial.procrustes(PATH, near)
    left = metrics.align(near, PATH, with_scale=True) - PATH
    assert (left**2).sum() / extent == pytest.approx(disparity, rel=1e-9)


def test_percentiles_of_latencies():
    latencies = RNG.exponential(0.1, 37)
    found = metrics.latency_statistics(latencies)
    wanted = [stats.scoreatpercentile(latencies, q) for q in (50, 95, 99)]
    np.testing.assert_allclose([found.p50, found.p95, found.p99], wanted, rtol=1e-12)


def test_risk_is_the_reciprocal_of_the_harmonic_mean():
    distances = RNG.uniform(0.01, 1.0, 40)
    assert metrics.risk_factor(distances) == pytest.approx(1.0 / stats.hmean(distances))
