# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Episodes of one policy brought together."""

from pathlib import Path

import numpy as np
import pytest

from frame_ros.bags.streams.form import Stream
from frame_ros.core.errors import ShapeError
from frame_ros.episodes import Episode, Outcome
from frame_ros.evaluation.rollouts import bootstrapped_mean, summarise_rollouts
from frame_ros.metrics.message_fields import FIELDS, KINDS


def make_episode(value: float, outcome: Outcome, is_static: bool = False) -> Episode:
    """An episode whose every metric is `value`."""
    summary = {kind: dict.fromkeys(FIELDS[kind], value) for kind in KINDS}
    time = 3.0 if outcome is Outcome.SUCCESS else float('nan')
    summary.update(outcome=int(outcome), time_to_success=time, is_static=is_static)
    stamps = np.array([1, 2], np.int64)
    poses = {'pose': Stream('/ee_pose', '', stamps, stamps, {})}
    return Episode(Path(), 'e', {}, [], poses, {}, summary=summary)


def test_success_has_its_wilson_interval():
    outcomes = [Outcome.SUCCESS] * 8 + [Outcome.TIMEOUT, Outcome.FAILURE]
    summary = summarise_rollouts([make_episode(1.0, outcome) for outcome in outcomes])
    assert (summary.successes, summary.episodes) == (8, 10)
    rate = summary.success_rate
    # Newcombe (1998): 8 of 10 has the Wilson interval 0.4902 to 0.9433.
    assert (rate.value, rate.lower, rate.upper) == pytest.approx((0.8, 0.4902, 0.9433), abs=1e-4)
    assert summary.metrics['time'].count == 8


def test_means_are_over_the_episodes_that_have_a_value():
    values = [1.0, 2.0, float('nan'), 6.0]
    summary = summarise_rollouts([make_episode(v, Outcome.TIMEOUT) for v in values])
    estimate = summary.metrics['ps']
    assert (estimate.value, estimate.count) == (3.0, 3)
    assert 1.0 <= estimate.lower < 3.0 < estimate.upper <= 6.0
    np.testing.assert_array_equal(summary.per_episode['ps'], values)


def test_what_no_episode_has_is_not_among_the_scalars():
    scalars = summarise_rollouts([make_episode(float('nan'), Outcome.TIMEOUT)]).scalars()
    assert set(scalars) == {'sr', 'sr_lower', 'sr_upper'}


def test_the_instability_of_an_arm_that_stood_still_is_left_out():
    episodes = [make_episode(1.0, Outcome.TIMEOUT), make_episode(0.0, Outcome.TIMEOUT, True)]
    summary = summarise_rollouts(episodes)
    assert summary.static == 1
    assert summary.metrics['a_ai'].value == summary.metrics['ti'].value == 1.0
    assert summary.metrics['pl'].value == 0.5


def test_the_interval_covers_the_mean_as_often_as_it_says():
    random = np.random.default_rng(0)
    covered = 0
    for seed in range(200):
        estimate = bootstrapped_mean(random.normal(5.0, 2.0, 50), seed)
        covered += estimate.lower <= 5.0 <= estimate.upper
    assert 180 <= covered <= 199


def test_values_that_do_not_vary_have_no_interval():
    for values in ([3.0], [3.0, np.nan], [0.0] * 8):
        found = bootstrapped_mean(np.array(values))
        assert found.value == values[0] and np.isnan(found.lower) and np.isnan(found.upper)


def test_no_episodes_are_an_error():
    with pytest.raises(ShapeError, match='no episodes'):
        summarise_rollouts([])
