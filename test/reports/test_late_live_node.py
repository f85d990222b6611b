# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Live metrics of a node that was started within the episode, and of streams that began within it:
the pipeline fed as messages arrive, against the bag, which has everything.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from synthetic_episodes import SETTINGS, record_live, synthetic_episode

from frame_ros.bags.streams.table import pipeline_values
from frame_ros.core.events import EventType
from frame_ros.core.time import SECOND
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.metric_pipeline.options import PipelineOptions
from frame_ros.episodes.metric_pipeline.pipeline import MetricPipeline
from frame_ros.episodes.metric_pipeline.sample_columns import SampleColumns
from frame_ros.episodes.processing import process_episode
from frame_ros.reports import compare_live
from frame_ros.reports.model.episode_check import problems_of
from frame_ros.reports.parity import live_node
from frame_ros.reports.parity.live_node import restart_of
from frame_ros.reports.parity.verdict import parity_verdict

LATENCY = SECOND // 500


def live_run(
    episode: Episode,
    since: int = 0,
    start_at: int = 0,
    slow: tuple[str, int] = ('', 0),
) -> dict:
    """Live metrics of a node that gets each message soon after its stamp.

    since: the node's start, ns: it gets what comes from then on. start_at: when it hears of the
    START, ns. slow: a role, and when the first of its messages arrive, ns, as of a node that has
    just been started.
    """
    pipeline, samples, arriving = MetricPipeline(PipelineOptions.from_json(SETTINGS)), [], []
    for role, stream in episode.streams.items():
        for stamp, value in zip(stream.stamps.tolist(), pipeline_values(role, stream)):
            first = slow[1] if role == slow[0] else 0
            arriving.append((max(stamp + LATENCY, first), role, stamp, value))
    for event in episode.events:
        at = start_at if event.type is EventType.START else 0
        arriving.append((max(event.stamp + LATENCY, at), 'event', event.stamp, event))
    for now, role, stamp, value in sorted(arriving, key=lambda each: each[0]):
        if now >= since:
            pipeline.look(now)
            pipeline.feed(role, stamp, value, now)
            samples += pipeline.advance(now)
    columns = SampleColumns(episode.episode_id)
    columns.add(samples + pipeline.finish())
    return columns.metrics()


def lived(episode: Episode, live: dict, since: int = 0) -> Episode:
    """The episode with these live topics, of a node that received streams from `since` on, ns."""
    shown, episode.metrics = episode.metrics, live
    record_live(episode)
    episode.metrics = shown
    if not since:
        return episode
    heard = {r: int(s.stamps[s.stamps + LATENCY >= since][0]) for r, s in episode.streams.items()}
    return replace(episode, heard_since=heard)


def begin_of(episode: Episode) -> int:
    return min(event.stamp for event in episode.events)


def cut(episode: Episode, role: str, begin: int) -> Episode:
    """The episode with a stream that begins at `begin` only, ns."""
    stream = episode.streams[role]
    streams = episode.streams | {role: stream.select(stream.stamps >= begin)}
    found = replace(episode, streams=streams, live={})
    process_episode(found)
    return found


def test_a_node_that_is_there_in_time_agrees():
    episode = synthetic_episode(0)
    verdict = parity_verdict([compare_live(lived(episode, live_run(episode)))])
    assert verdict.holds and not verdict.live_losses


@pytest.mark.parametrize('role', ['pose', 'contact', 'proximity'])
def test_steps_before_the_first_message_of_a_stream_that_begins_late(role: str):
    """Nothing had come of it, so it was not waited for; its first message, of before some steps,
    came behind them."""
    first = begin_of(synthetic_episode(0)) + 2 * SECOND
    episode = cut(synthetic_episode(0), role, first)
    lived(episode, live_run(episode, slow=(role, first + SECOND // 8)))
    parity = compare_live(episode)
    verdict = parity_verdict([parity])
    assert verdict.holds, verdict.text
    assert verdict.compared and verdict.compared_as_live
    known = {'pose': 'pose_age', 'contact': 'cr', 'proximity': 'distance'}[role]
    kind = 'quality' if role == 'pose' else 'safety'
    place = int(np.searchsorted(episode.live[kind].stamps, begin_of(episode) + 6 * SECOND))
    episode.live[kind].values[known][place] += 0.01
    assert parity_verdict([compare_live(episode)]).different_as_live == 1


def test_a_stream_without_a_live_value_long_after_it_began_differs():
    episode = cut(synthetic_episode(0), 'proximity', begin_of(synthetic_episode(0)) + 2 * SECOND)
    lived(episode, live_run(cut(episode, 'proximity', begin_of(episode) + 5 * SECOND)))
    assert parity_verdict([compare_live(episode)]).holds is False


@pytest.mark.parametrize('heard_later', [0, SECOND])
def test_a_node_that_was_started_in_the_episode_is_compared_where_it_can_be(heard_later: int):
    """It hears of the START a while after the first commands, and counts from there."""
    episode = synthetic_episode(0)
    since = begin_of(episode) + 3 * SECOND
    live = live_run(episode, since, since + heard_later)
    heard = lived(episode, live, since)
    parity = compare_live(heard)
    verdict = parity_verdict([parity])
    assert verdict.holds, verdict.text
    assert verdict.compared_as_live > 1000
    texts = [text for text in parity.late_inputs if 'took part' in text]
    assert len(texts) == bool(heard_later)
    assert ('cannot be compared' in verdict.text) == bool(heard_later)
    for text in texts:
        assert 'from 4.0 s on' in text
    heard.live['quality'].values['a_pi'][-1] += 0.01
    assert parity_verdict([compare_live(heard)]).holds is False


def test_a_node_that_was_started_again_after_few_steps(monkeypatch):
    """No number of a step comes twice, as the first ones of the second node were not recorded."""
    episode = synthetic_episode(0)
    live, since = live_run(episode), begin_of(episode) + 3 * SECOND
    second = live_run(episode, since, since)
    for kind, values in live.items():
        places = np.flatnonzero(values['stamp'] < begin_of(episode) + SECOND // 4)
        again = np.flatnonzero(second[kind]['stamp'] > since + SECOND)
        live[kind] = {
            name: np.concatenate([column[places], second[kind][name][again]])
            for name, column in values.items()
        }
    lived(episode, live)
    monkeypatch.setattr(live_node, 'has_restart', lambda *_: True)
    monkeypatch.setattr(Episode, 'open_bag', lambda self: self)
    steps = episode.live['quality'].values['step']
    assert len(np.unique(steps)) == len(steps)
    restart = restart_of(episode)
    assert restart is not None
    assert begin_of(episode) < restart < begin_of(episode) + SECOND // 4
    assert any('was started again' in text for text in problems_of(episode))
    monkeypatch.setattr(live_node, 'has_restart', lambda *_: False)
    assert restart_of(episode) is None
