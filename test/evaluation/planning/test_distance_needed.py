# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Episodes that the macro-averaged KS test needs for a distance: against simulated studies."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ks_2samp

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.evaluation.binary.needed import Aim, needed_episodes
from frame_ros.evaluation.planning.distance_needed import episodes_for_distance
from frame_ros.evaluation.survival.cell import Cell


def cell(random, episodes=40, operations=1, shared=0.0):
    """Times of which a part is shared by the operations of an episode."""
    own = random.random((episodes, operations))
    of_episode = np.broadcast_to(random.random((episodes, 1)), own.shape)
    times = np.where(random.random(own.shape) < shared, of_episode, own) * 100.0
    return Cell(
        times.ravel(), np.ones(times.size, np.bool_), np.repeat(np.arange(episodes), operations)
    )


def cells(objects=1, **values):
    random = np.random.default_rng(3)
    return tuple({f'{i}': cell(random, **values) for i in range(objects)} for _ in range(2))


def drawn(random, count, distance, width):
    """Times of which F is above that of the even ones by the distance at 1/2, and elsewhere less
    than that within the width.
    """
    grid = np.linspace(0.0, 1.0, 4001)
    rise = 0.5 * distance * np.maximum(1.0 - np.abs(grid - 0.5) / width, 0.0)
    return [np.interp(random.random(count), grid + sign * rise, grid) for sign in (1.0, -1.0)]


@pytest.mark.parametrize(('width', 'least', 'most'), [(0.15, 0.77, 0.85), (0.5, 0.85, 0.93)])
def test_the_test_finds_the_distance_with_the_power(width, least, most):
    """SciPy's KS test in 1,500 studies of so many episodes: also of a distance that is there for
    the shortest while, where one policy does what the other does not; it had 0.67.
    """
    count = episodes_for_distance(*cells(), 0.3)
    random = np.random.default_rng(1)
    found = [
        ks_2samp(*drawn(random, count, 0.3, width), method='exact').pvalue <= 0.05
        for _ in range(1500)
    ]
    assert least <= np.mean(found) <= most


def test_the_number_goes_with_the_square_of_the_distance_and_is_above_that_at_one_time():
    few, many = (episodes_for_distance(*cells(), distance) for distance in (0.2, 0.1))
    assert many == pytest.approx(4 * few, rel=0.02)
    assert many > needed_episodes(50, 100, Aim(0.1))


def test_operations_of_an_episode_help_as_far_as_they_are_not_alike():
    alone, free, alike = (
        episodes_for_distance(*cells(operations=m, shared=s), 0.1)
        for m, s in ((1, 0.0), (4, 0.0), (4, 1.0))
    )
    assert free == pytest.approx(alone / 4, rel=0.15)
    assert alike == pytest.approx(alone, rel=0.05)


def test_there_may_be_no_number():
    assert episodes_for_distance(*cells(), 0.0005) is None
    a, _ = cells()
    with pytest.raises(ShapeError):
        episodes_for_distance(a, {'other': a['0']}, 0.1)
    with pytest.raises(ValueRangeError, match='distance is 1'):
        episodes_for_distance(a, a, 1.0)
