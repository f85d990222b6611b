# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Errors against a reference, resampling, alignment, progress towards a target."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics import (
    absolute_trajectory_error,
    align,
    optimal_trajectory_difference,
    relative_trajectory_error,
    resample,
)

LINE = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [3.0, 0.0, 0.0]])


def test_ate_is_a_mean_not_a_root_mean_square():
    off = LINE + [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 4.0, 0]]
    assert absolute_trajectory_error(off, LINE) == 1.0


def test_rte_does_not_see_a_constant_offset():
    assert relative_trajectory_error(LINE + 5.0, LINE) == pytest.approx(0.0, abs=1e-12)
    off = LINE + [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 3.0, 0]]
    assert relative_trajectory_error(off, LINE) == 1.0
    assert relative_trajectory_error(off, LINE, delta=2) == 1.5


@given(st.integers(0, 1000), st.booleans())
def test_alignment_finds_the_motion_that_was_applied(seed, with_scale):
    rng = np.random.default_rng(seed)
    reference = rng.normal(size=(12, 3))
    scale = rng.uniform(0.5, 2.0) if with_scale else 1.0
    moved = scale * Rotation.random(random_state=seed).apply(reference) + rng.normal(size=3)
    np.testing.assert_allclose(align(moved, reference, with_scale), reference, atol=1e-9)
    kind = 'sim3' if with_scale else 'se3'
    assert absolute_trajectory_error(moved, reference, kind) == pytest.approx(0.0, abs=1e-9)


def test_alignment_equals_scipy_and_never_mirrors():
    rng = np.random.default_rng(2)
    reference, other = rng.normal(size=(9, 3)), rng.normal(size=(9, 3))
    centred, wanted = other - other.mean(axis=0), reference - reference.mean(axis=0)
    best, _ = Rotation.align_vectors(wanted, centred)
    np.testing.assert_allclose(
        align(other, reference), best.apply(centred) + reference.mean(axis=0), atol=1e-9
    )
    mirrored = reference * [1.0, 1.0, -1.0]
    assert absolute_trajectory_error(mirrored, reference, 'se3') > 0.1


def test_resampling_interpolates_and_rests_outside():
    stamps, wanted = [0.0, 1.0, 3.0, 4.0], [-1.0, 0.0, 0.5, 2.0, 4.0, 9.0]
    found = resample(LINE, stamps, wanted)
    np.testing.assert_allclose(found[:, 0], np.interp(wanted, stamps, LINE[:, 0]))
    assert (found[:, 1:] == 0.0).all()
    with pytest.raises(ValueRangeError, match='increase strictly'):
        resample(LINE, [0.0, 1.0, 1.0, 2.0], wanted)
    with pytest.raises(ShapeError):
        resample(LINE, [0.0, 1.0], wanted)


@pytest.mark.parametrize('name', ['numpy', 'torch'])
def test_resampling_takes_stamps_of_the_clock_in_ns_whatever_the_type_of_the_positions(name):
    library = pytest.importorskip(name).asarray
    since_start = np.array([0, 20, 40, 60]) * 1_000_000
    begin = 1_700_000_000_000_000_000
    stamps, wanted = library(since_start + begin), library(since_start + begin + 5_000_000)
    found = resample(library(LINE.astype(np.float32)), stamps, wanted)
    expected = resample(LINE, since_start / 1e9, since_start / 1e9 + 0.005)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-6)
    late = np.uint64(begin) + since_start.astype(np.uint64)
    before = resample(LINE, late, late - np.uint64(10_000_000))
    np.testing.assert_array_equal(before[0], LINE[0])


def test_bad_references_are_named():
    with pytest.raises(ShapeError, match=r'\(4, 3\), reference \(3, 3\)'):
        absolute_trajectory_error(LINE, LINE[:3])
    with pytest.raises(ValueRangeError, match='delta is 0'):
        relative_trajectory_error(LINE, LINE, delta=0)
    with pytest.raises(ShapeError, match='at least 5'):
        relative_trajectory_error(LINE, LINE, delta=4)


def test_progress_of_a_pick_by_hand():
    target = np.full((4, 3), [3.0, 0.0, 0.0])
    tcp = np.array([[-1.0, 0, 0], [1.0, 0, 0], [1.0, 0, 0], [0.0, 0, 0]])
    # Distances 4, 2, 2, 3; shares 1, 0.5, 0.5, 0.75.
    found = optimal_trajectory_difference(tcp, target)
    np.testing.assert_allclose(found, [np.nan, 0.25, 0.5, 0.625])


def test_progress_of_a_move_by_hand():
    tcp = np.array([[0.0, 0, 0], [1.0, 0, 0], [2.0, 0, 0]])
    target = np.array([[1.0, 0, 0], [1.0, 0, 0], [2.0, 0, 0]])
    goal = np.full((3, 3), [4.0, 0.0, 0.0])
    grasped = [False, True, True]
    # Distances 1 + 3, 3, 2; as printed in eq. 27 the first is 1 + 4.
    np.testing.assert_allclose(
        optimal_trajectory_difference(tcp, target, goal, grasped), [np.nan, 0.375, 0.375]
    )
    printed = optimal_trajectory_difference(tcp, target, goal, grasped, 'tcp_to_goal')
    np.testing.assert_allclose(printed, [np.nan, 0.3, 0.4])


def test_progress_that_cannot_be_told():
    assert np.isnan(optimal_trajectory_difference(LINE, LINE)).all()
    with pytest.raises(ShapeError, match='grasped is missing'):
        optimal_trajectory_difference(LINE, LINE, goal=LINE)
    with pytest.raises(ShapeError, match=r'grasped has shape \(3,\)'):
        optimal_trajectory_difference(LINE, LINE, LINE, [True] * 3)
