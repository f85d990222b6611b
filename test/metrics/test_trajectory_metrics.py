# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Path length, smoothness, curvature change, static guard: by hand, scipy, invariances."""

from math import pi, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from metric_strategies import paths, quaternions
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics import (
    count_short_segments,
    curvature_change,
    is_static,
    path_length,
    path_smoothness,
)

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def test_path_length_and_smoothness_of_three_sides_of_a_square():
    assert path_length(SQUARE) == 3.0
    assert path_smoothness(SQUARE) == pytest.approx(2.0 * sqrt(2.0) / 3.0)
    for variant in ('authors', 'mean_second_difference'):
        assert path_smoothness(SQUARE, variant) == pytest.approx(sqrt(2.0))


def test_leading_axes_are_a_batch():
    batch = np.stack([SQUARE, 2.0 * SQUARE, np.zeros((4, 2))])[None]
    np.testing.assert_allclose(path_length(batch), [[3.0, 6.0, 0.0]])
    smoothness = path_smoothness(batch)
    np.testing.assert_allclose(smoothness[0, :2], 2.0 * sqrt(2.0) / 3.0)
    assert np.isnan(smoothness[0, 2])


@given(paths(minimum=3), st.floats(0.1, 10.0), st.integers(0, 100))
def test_length_and_smoothness_are_invariant_to_motion_and_scale_as_they_should(path, scale, seed):
    rotation = Rotation.random(random_state=seed)
    moved = scale * rotation.apply(path) + [0.3, -2.0, 1.0]
    np.testing.assert_allclose(path_length(moved), scale * path_length(path), atol=1e-9)
    if path_length(path) > 1e-3:
        np.testing.assert_allclose(path_smoothness(moved), path_smoothness(path), atol=1e-9)


@pytest.mark.parametrize('bad', [np.zeros(3), np.zeros((1, 3)), np.zeros((5, 4)), np.zeros((0, 3))])
def test_positions_of_another_shape_are_refused_by_name(bad):
    with pytest.raises(ShapeError, match=r'positions have shape .*\(\.\.\., T, 3\)'):
        path_length(bad)


def test_positions_that_are_not_finite_are_located():
    path = np.zeros((4, 3))
    path[2, 1] = np.nan
    with pytest.raises(ValueRangeError, match=r'1 of the values are not finite.*\(2, 1\)'):
        path_length(path)
    with pytest.raises(ValueRangeError, match='real numbers'):
        path_length(np.array([['a', 'b', 'c'], ['d', 'e', 'f']]))


def test_unknown_variants_are_refused():
    with pytest.raises(ValueRangeError, match="'papers'; one of paper"):
        path_smoothness(SQUARE, 'papers')


def test_curvature_change_with_headings_by_hand():
    # Segments of 1, 2, 1 m; turns of 0.1, 0.4, -0.3 rad: curvatures 0.1, 0.2, -0.3.
    positions = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [4.0, 0.0]])
    headings = np.array([0.0, 0.1, 0.5, 0.2])
    assert curvature_change(positions, headings) == pytest.approx((0.1 + 0.5) / 2.0)


def test_headings_wrap_across_pi_unless_told_not_to():
    positions = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    headings = np.array([3.0, -3.0, -3.0])
    turn = 2.0 * pi - 6.0
    assert curvature_change(positions, headings) == pytest.approx(turn)
    assert curvature_change(positions, headings, wrap=False) == pytest.approx(6.0)


def test_a_half_turn_wraps_to_plus_pi():
    positions = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    assert curvature_change(positions, [0.0, -pi, -pi]) == pytest.approx(pi)
    assert curvature_change(positions, [0.0, -pi, 0.0]) == 0.0  # both turns are +pi


@given(st.integers(3, 12).flatmap(lambda n: st.tuples(quaternions(n), st.integers(0, 99))))
def test_curvature_change_with_orientations_equals_scipy(given_orientations):
    orientations, seed = given_orientations
    positions = np.random.default_rng(seed).normal(size=(len(orientations), 3)).cumsum(axis=0)
    rotations = Rotation.from_quat(orientations)
    angles = (rotations[:-1].inv() * rotations[1:]).magnitude()
    curvatures = angles / np.linalg.norm(np.diff(positions, axis=0), axis=1)
    wanted = np.abs(np.diff(curvatures)).mean()
    found = curvature_change(positions, orientations=orientations)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)


def test_the_sign_of_a_quaternion_means_nothing():
    rng = np.random.default_rng(5)
    positions, orientations = rng.normal(size=(9, 3)), rng.normal(size=(9, 4))
    flipped = orientations * rng.choice([-1.0, 1.0], size=(9, 1))
    found = curvature_change(positions, orientations=flipped)
    assert found == pytest.approx(curvature_change(positions, orientations=orientations), rel=1e-12)


def test_small_rotations_keep_their_digits():
    angle = 1e-7
    rotations = Rotation.from_rotvec([[0.0, 0.0, 0.0], [0.0, 0.0, angle], [0.0, 0.0, 3.0 * angle]])
    positions = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    found = curvature_change(positions, orientations=rotations.as_quat())
    assert found == pytest.approx(angle, rel=1e-6)


def test_curvature_change_of_the_path_alone():
    # Turns of +90 and -90 degrees after segments of 1 and 2 m: curvatures pi/2 and -pi/4 in 2D.
    path = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 2.0], [2.0, 2.0]])
    assert curvature_change(path) == pytest.approx(0.75 * pi)
    lifted = np.column_stack([path, np.zeros(4)])
    assert curvature_change(lifted) == pytest.approx(0.25 * pi)  # in 3D a turn has no sign


def test_a_circle_has_no_curvature_change():
    t = np.linspace(0.0, 5.0, 60)
    circle = 0.2 * np.column_stack([np.cos(t), np.sin(t)])
    assert curvature_change(circle) == pytest.approx(0.0, abs=1e-9)
    assert curvature_change(circle, headings=t + pi / 2) == pytest.approx(0.0, abs=1e-9)
    assert curvature_change(circle, wrap=False) > 0.1  # the published library: atan2 jumps at pi


def test_short_segments_are_left_out_and_counted():
    positions = np.array([[0.0, 0], [1, 0], [1, 5e-7], [3, 0], [4, 0]])
    headings = np.array([0.0, 0.1, 9.0, 9.2, 9.5])
    assert count_short_segments(positions) == 1
    # Curvatures 0.1, (skipped), 0.2 / 2, 0.3.
    assert curvature_change(positions, headings) == pytest.approx((0.0 + 0.2) / 2.0, abs=1e-6)
    batch = np.stack([positions, positions + [[0], [0], [1], [0], [0]]])
    single = [curvature_change(p, headings) for p in batch]
    np.testing.assert_allclose(curvature_change(batch, np.stack([headings] * 2)), single)


def test_without_two_curvatures_there_is_no_change():
    still = np.zeros((5, 3))
    assert np.isnan(curvature_change(still, headings=np.arange(5.0)))
    assert np.isnan(curvature_change(still))


def test_thetas_that_do_not_fit_are_refused():
    positions = np.zeros((5, 3))
    with pytest.raises(ShapeError, match=r'headings have shape \(4,\); \(5,\)'):
        curvature_change(positions, headings=np.zeros(4))
    with pytest.raises(ShapeError, match='xyzw'):
        curvature_change(positions, orientations=np.zeros((5, 3)))
    with pytest.raises(ValueRangeError, match='zero quaternion'):
        curvature_change(positions, orientations=np.zeros((5, 4)))
    with pytest.raises(ValueRangeError, match='at most one'):
        curvature_change(positions, np.zeros(5), np.ones((5, 4)))


def test_static_is_judged_by_distance_not_by_path_length():
    rng = np.random.default_rng(0)
    trembling = 1e-4 * rng.normal(size=(2000, 3))
    assert path_length(trembling) > 0.05
    assert is_static(trembling)
    there_and_back = np.array([[0.0, 0, 0], [0.02, 0, 0], [0.0, 0, 0]])
    assert not is_static(there_and_back)
    assert is_static(there_and_back, threshold=0.03)
