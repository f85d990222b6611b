# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Collision rate, proximity and risk by hand."""

import numpy as np
import pytest

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics import collision_rate, count_collisions, obstacle_proximity, risk_factor


def test_a_collision_is_a_rising_edge():
    assert count_collisions([False, True, True, False, True]) == 2
    assert count_collisions([True, True]) == 1
    np.testing.assert_array_equal(count_collisions(np.zeros((3, 4), bool)), [0, 0, 0])


def test_collision_rate_divides_by_steps():
    assert collision_rate(3, 12) == 0.25
    np.testing.assert_array_equal(collision_rate(np.array([0, 1]), np.array([5, 5])), [0.0, 0.2])
    for arguments in ((1, 0), (-1, 5)):
        with pytest.raises(ValueRangeError):
            collision_rate(*arguments)


def test_proximity_is_the_least_measured_distance():
    distances = np.array([[0.5, np.nan, 0.2], [np.nan, np.nan, np.nan], [0.1, -0.01, 0.3]])
    np.testing.assert_array_equal(obstacle_proximity(distances), [0.2, np.nan, -0.01])


def test_risk_is_the_mean_reciprocal_of_measured_distances():
    assert risk_factor([0.5, np.nan, 0.25]) == 3.0
    assert np.isnan(risk_factor([np.nan]))


def test_risk_is_floored_or_offset():
    assert risk_factor([0.0, -1.0]) == pytest.approx(1000.0)
    assert risk_factor([0.01], floor=0.1) == pytest.approx(10.0)
    assert risk_factor([0.5, 0.25], variant='authors') == pytest.approx(
        0.5 * (1 / 0.500001 + 1 / 0.250001), rel=1e-14
    )


def test_bad_distances_are_refused():
    with pytest.raises(ValueRangeError, match='infinite'):
        obstacle_proximity([0.1, -np.inf])
    assert obstacle_proximity([0.1, np.inf]) == 0.1  # nothing within range is no nearer
    assert np.isnan(obstacle_proximity([np.inf, np.nan]))
    with pytest.raises(ShapeError, match='at least 1 sample'):
        risk_factor([])
    with pytest.raises(ValueRangeError, match='floor is 0'):
        risk_factor([0.1], floor=0.0)
