# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A recorded episode through the metric pipeline: the same numbers again that were live."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frame_ros.episodes.data import Episode, Event, EventType, MetricSample
from frame_ros.episodes.fields import FIELDS
from frame_ros.episodes.pipeline import STREAMS, MetricPipeline
from frame_ros.episodes.pipeline_config import PipelineConfig
from frame_ros.episodes.streams import pipeline_values
from frame_ros.errors import FrameRosError

KINDS = ('quality', 'safety', 'efficiency', 'confidence')
# Samples are handed on this often, so that a long bag is not held in memory twice.
BLOCK = 2000


def process_episode(episode: Episode) -> None:
    """Computes `metrics`, `summary`, and adds to `data_quality` and `problems` of an episode that
    was read.
    """
    samples, pipeline = run_pipeline(episode, settings_of(episode))
    episode.metrics = {kind: as_arrays(samples, kind, episode.episode_id) for kind in KINDS}
    summaries = [s for s in samples if s.kind == 'summary' and s.episode_id == episode.episode_id]
    episode.summary = summaries[-1].values if summaries else {}
    episode.data_quality.update(pipeline.data_quality())
    episode.problems.extend(pipeline.problems)


def recompute_as_live(episode: Episode) -> dict[str, dict[str, NDArray]]:
    """Metrics of an episode as a live run got them that had to do without streams that lagged.

    The recorded quality topic says at which steps what was missing; the recording itself holds it
    all. Returns what `Episode.metrics` holds; that itself where nothing lagged.
    """
    live = episode.live.get('quality')
    if live is None or 'lagging' not in live.values or not live.values['lagging'].any():
        return episode.metrics
    lagging = {
        int(stamp): int(bits) for stamp, bits in zip(live.stamps, live.values['lagging']) if bits
    }
    samples, _ = run_pipeline(episode, settings_of(episode), lagging)
    return {kind: as_arrays(samples, kind, episode.episode_id) for kind in KINDS}


def settings_of(episode: Episode) -> PipelineConfig:
    """The settings recorded with the episode, else the limits of its robot, else raw actions; says
    so.
    """
    text = episode.attributes.get('metrics_config')
    if text:
        try:
            return PipelineConfig.from_json(text)
        except FrameRosError as error:
            _note(episode, f'the recorded settings of the metrics are not usable: {error}')
    robot = episode.attributes.get('robot')
    if robot:
        try:
            return _settings_for(robot)
        except (FrameRosError, ImportError) as error:
            _note(episode, f'the limits of robot {robot!r} are not known: {error}')
    _note(episode, 'settings of the metrics were not recorded: actions are not normalised')
    return PipelineConfig()


def _settings_for(robot: str) -> PipelineConfig:
    from frame_ros.robots import load_robot

    limits = load_robot(robot).joint_limits
    lower, upper = zip(*limits.values())
    return PipelineConfig(action_names=tuple(limits), action_lower=lower, action_upper=upper)


def _note(episode: Episode, problem: str) -> None:
    if problem not in episode.problems:
        episode.problems.append(problem)


def run_pipeline(
    episode: Episode, config: PipelineConfig, lagging: dict[int, int] | None = None
) -> tuple[list[MetricSample], MetricPipeline]:
    """All samples of an episode, fed in the order in which the recorder received them, events
    first.
    """
    pipeline = MetricPipeline(config, lagging)
    for event in _bounded(episode):
        pipeline.feed('event', event.stamp, event)
    streams = [(role, episode.streams[role]) for role in STREAMS if role in episode.streams]
    samples: list[MetricSample] = []
    if streams:
        received = np.concatenate([stream.received for _, stream in streams])
        which = np.repeat(np.arange(len(streams)), [len(stream) for _, stream in streams])
        place = np.concatenate([np.arange(len(stream)) for _, stream in streams])
        values = [pipeline_values(role, stream) for role, stream in streams]
        stamps = [stream.stamps.tolist() for _, stream in streams]
        roles = [role for role, _ in streams]
        order = np.argsort(received, kind='stable')
        for n, (s, i) in enumerate(zip(which[order].tolist(), place[order].tolist())):
            pipeline.feed(roles[s], stamps[s][i], values[s][i])
            if n % BLOCK == 0:
                samples += pipeline.advance()
    return samples + pipeline.finish(), pipeline


def _bounded(episode: Episode) -> list[Event]:
    """The episode's events; START and END are put at the ends of its data where they were not
    recorded.
    """
    events = sorted(episode.events, key=lambda event: event.stamp)
    stamps = [
        stream.stamps[stream.stamps > 0] for stream in episode.streams.values() if len(stream)
    ]
    stamps = [s for s in stamps if len(s)]
    if not stamps:
        return events
    kinds = {event.type for event in events}
    if EventType.START not in kinds:
        first = int(min(s.min() for s in stamps))
        events.insert(0, Event(first, EventType.START, episode.episode_id, source='reader'))
    if EventType.END not in kinds:
        last = int(max(s.max() for s in stamps)) + 1
        events.append(Event(last, EventType.END, episode.episode_id, source='reader'))
    return events


def as_arrays(samples: list[MetricSample], kind: str, episode_id: str) -> dict[str, NDArray]:
    """The samples of one kind within an episode: field -> (steps,) array, and 'stamp' (steps,)
    int64.
    """
    chosen = [s for s in samples if s.kind == kind and s.episode_id == episode_id]
    arrays: dict[str, NDArray] = {'stamp': np.array([s.stamp for s in chosen], dtype=np.int64)}
    columns = zip(*(s.row for s in chosen)) if chosen else ([] for _ in FIELDS[kind])
    arrays.update({name: np.array(column) for name, column in zip(FIELDS[kind], columns)})
    return arrays
