# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Live against bag: what counts as equal, and what is said where it is not."""

from __future__ import annotations

import math

import numpy as np
from synthetic_episodes import empty_episode, synthetic_episode

from frame_ros.episodes.data import Episode, Stream
from frame_ros.reports import compare_live, parity_verdict
from frame_ros.reports.parity import lagging_steps, relative_difference


def without_last(stream: Stream, count: int) -> Stream:
    values = {name: column[:-count] for name, column in stream.values.items()}
    return Stream(
        stream.topic, stream.message_type, stream.stamps[:-count], stream.received[:-count], values
    )


def row(episode: Episode, kind: str, field: str):
    (found,) = [r for r in compare_live(episode) if (r.kind, r.field) == (kind, field)]
    return found


def test_relative_difference_by_hand():
    nan, inf = math.nan, math.inf
    a = np.array([1.0, 0.0, nan, nan, 2.0, -1.0, inf, 0.0])
    b = np.array([1.0, 0.0, nan, 1.0, 1.0, 1.0, inf, 1e-300])
    assert relative_difference(a, b).tolist() == [0, 0, 0, inf, 0.5, 2.0, 0, 1.0]


def test_equal_topics_agree_on_every_sample():
    episode = synthetic_episode(0)
    rows = compare_live(episode)
    steps = episode.summary['steps']
    assert all(r.holds and r.max_difference == 0 for r in rows)
    assert {r.compared for r in rows if r.kind == 'quality'} == {steps}
    assert {r.kind for r in rows} == {'quality', 'safety', 'efficiency', 'confidence'}
    verdict = parity_verdict(rows)
    assert verdict.holds is True
    assert verdict.compared == sum(r.compared for r in rows)


def test_one_wrong_sample_is_found_and_measured():
    episode = synthetic_episode(0)
    values = episode.live['quality'].values['pl']
    values[100] *= 1 + 1e-6
    found = row(episode, 'quality', 'pl')
    assert (found.different, found.holds) == (1, False)
    assert math.isclose(found.max_difference, 1e-6, rel_tol=1e-3)
    assert row(episode, 'quality', 'ps').holds
    verdict = parity_verdict(compare_live(episode))
    assert verdict.holds is False
    assert 'DISAGREE in 1 of' in verdict.text


def test_a_difference_below_the_bar_is_equal():
    episode = synthetic_episode(0)
    episode.live['quality'].values['pl'] *= 1 + 5e-10
    found = row(episode, 'quality', 'pl')
    assert found.holds
    assert 1e-10 < found.max_difference < 1e-9


def test_nan_on_one_side_only_is_different():
    episode = synthetic_episode(0)
    episode.live['safety'].values['op'][50] = math.nan
    found = row(episode, 'safety', 'op')
    assert (found.different, found.max_difference) == (1, math.inf)


def test_samples_of_one_side_only_are_counted_and_do_not_break_the_match():
    episode = synthetic_episode(0)
    episode.live['quality'] = without_last(episode.live['quality'], 5)
    episode.live['quality'].stamps[0] += 1
    found = row(episode, 'quality', 'pl')
    steps = episode.summary['steps']
    assert (found.compared, found.unmatched_live, found.unmatched_offline) == (steps - 6, 1, 6)
    assert found.holds


def test_samples_of_another_episode_are_left_out():
    episode = synthetic_episode(0)
    live = episode.live['quality']
    live.values['episode_id'][:10] = ''
    live.values['pl'][:10] = 99.0
    found = row(episode, 'quality', 'pl')
    assert found.holds
    assert found.unmatched_live == 0


def test_live_without_any_common_stamp_is_no_agreement():
    episode = synthetic_episode(0)
    for stream in episode.live.values():
        stream.stamps += 7
    verdict = parity_verdict(compare_live(episode))
    assert verdict.holds is False
    assert verdict.compared == 0


def test_nothing_live_is_nothing_to_compare():
    verdict = parity_verdict(compare_live(empty_episode()))
    assert verdict.holds is None
    assert verdict.text.startswith('no live metrics')


def test_differences_after_an_expired_hold_that_was_not_explained_are_excluded():
    episode = synthetic_episode(0)
    values = episode.live['quality'].values
    values['hold_expired'] = values['hold_expired'] + (np.arange(len(values['pl'])) >= 200)
    values['pl'][210] += 1.0
    values['pl'][20] += 1.0
    found = row(episode, 'quality', 'pl')
    assert (found.different, found.excluded) == (1, 1)


def test_lagging_steps_are_counted_within_the_episode():
    episode = synthetic_episode(0)
    episode.live['quality'].values['lagging'][[3, 8]] = 4
    assert lagging_steps(episode) == 2
    assert lagging_steps(empty_episode()) == 0
