# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recomputes the metrics of a recorded episode through the metric pipeline."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.repeated_rows import chosen_rows, different_rows
from frame_ros.bags.streams.form import Stream
from frame_ros.bags.streams.table import FED_ROLES
from frame_ros.core.errors import FrameRosError
from frame_ros.core.events import Event, EventType, Outcome
from frame_ros.core.input_files import load_json
from frame_ros.core.options import evolved
from frame_ros.core.stamps import LONGEST
from frame_ros.episodes.bounds import FAR, extent, start_of
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.live_inputs import unseen_steps
from frame_ros.episodes.metric_pipeline.control_steps import NONE
from frame_ros.episodes.metric_pipeline.options import (
    PipelineOptions,
    sporadic_streams,
    target_streams,
)
from frame_ros.episodes.metric_pipeline.pipeline import MetricPipeline
from frame_ros.episodes.metric_pipeline.recorded_grasp import grasp_of
from frame_ros.episodes.metric_pipeline.robot_actions import action_settings
from frame_ros.episodes.metric_pipeline.sample_columns import SampleColumns
from frame_ros.episodes.reference import Reference
from frame_ros.episodes.released import outlasting
from frame_ros.episodes.stream_feed import feed_streams

BOUNDS = (EventType.START, EventType.END)
# An episode without a name in its bag gets one here, to distinguish it from samples outside.
NAMELESS = '(nameless)'
NOT_NORMALISED = 'actions are not normalised'
# rad: a joint that steps from so close to pi to so close to -pi has passed pi.
NEAR_PI = 0.2


def process_episode(episode: Episode, references: Sequence[Reference] | None = None) -> None:
    """Computes `metrics`, `summary`, and adds to `data_quality` and `problems` of an episode.

    references: of ATE and RTE, instead of the recorded ones; kept in the episode.
    """
    episode.references = tuple(references or ())
    settings = settings_of(episode)
    columns, pipeline = run_pipeline(episode, settings)
    _note_turns(episode, settings.continuous)
    episode.metrics, episode.summary = columns.metrics(), columns.summary
    episode.data_quality.update(pipeline.data_quality())
    episode.problems.extend(pipeline.problems)


def _note_turns(episode: Episode, continuous: Collection[str]) -> None:
    """Notes joints of the actions that jump from pi to -pi, or back, and are not known to turn
    without end: live and from the bag the jump counts as motion.
    """
    actions = episode.streams.get('action')
    if actions is None or len(actions) < 2:
        return
    names, positions = actions.values['names'], actions.values['positions']
    # Messages may have more names than positions, or fewer; those are not used.
    width = min(names.shape[1], positions.shape[1])
    is_whole = actions.values['names_count'] == actions.values['positions_count']
    names = chosen_rows(names, is_whole)[:, :width]
    positions = chosen_rows(positions, is_whole)[:, :width]
    found = []
    for joint in dict.fromkeys(different_rows(names).ravel().tolist()):
        if joint in ('', *continuous):
            continue
        own = positions[names == joint]
        with np.errstate(invalid='ignore'):
            is_within = (np.abs(own) <= np.pi + NEAR_PI).all()
            jumps = int((np.abs(np.diff(own)) > 2.0 * (np.pi - NEAR_PI)).sum())
        if is_within and jumps:
            found.append(f'{joint} ({jumps})')
    if found:
        _note(
            episode,
            f'joints jump by a turn at pi, which counts as motion: {", ".join(found)}; the '
            'settings of the metrics do not say that they turn without end (type continuous)',
        )


def recompute_as_live(episode: Episode) -> dict[str, dict[str, NDArray]]:
    """Returns an episode's metrics as of a live run that lacked the lagging streams.

    The recorded quality topic has the missing streams of each step, and the metrics node's
    readiness the time from which it received each stream; the recording itself is complete. The
    result is like `Episode.metrics`, and that itself if nothing was missing.
    """
    lagging, unseen = _recorded_lags(episode), unseen_steps(episode)
    if not lagging and not unseen and not episode.heard_since:
        return episode.metrics
    heard = replace(episode, streams=_heard(episode))
    columns, _ = run_pipeline(heard, settings_of(episode), lagging, unseen)
    return columns.metrics()


def _recorded_lags(episode: Episode) -> dict[int, int]:
    live = episode.live.get('quality')
    if live is None or 'lagging' not in live.values:
        return {}
    return {
        int(stamp): int(bits) for stamp, bits in zip(live.stamps, live.values['lagging']) if bits
    }


def _heard(episode: Episode) -> dict[str, Stream]:
    """Returns the streams without messages before the live metrics node's connection."""
    since = episode.heard_since
    return {
        role: stream.select(stream.stamps >= since[role]) if role in since else stream
        for role, stream in episode.streams.items()
    }


@outlasting
def settings_of(episode: Episode) -> PipelineOptions:
    """Returns the settings recorded with the episode, else the limits of its robot, else raw
    actions. References given at reading replace the recorded ones. A fallback is noted in the
    problems.
    """
    settings = _recorded_settings(episode)
    if episode.references:
        return evolved(settings, references=episode.references)
    return settings


def _recorded_settings(episode: Episode) -> PipelineOptions:
    text = episode.attributes.get('metrics_config')
    if text:
        try:
            return _parsed_settings(text)
        except FrameRosError as error:
            _note(episode, f'the recorded settings of the metrics are not usable: {error}')
    robot = episode.attributes.get('robot')
    if robot:
        try:
            settings = _settings_for(robot)
            if _names_any(episode.streams.get('action'), settings.action_names):
                if settings.bounds is None:
                    _note(episode, f'{robot!r} has joints without limits: {NOT_NORMALISED}')
                return settings
            _note(episode, f'the actions name no joint of {robot!r}')
        except (FrameRosError, ImportError) as error:
            _note(episode, f'the limits of robot {robot!r} are not known: {error}')
    _note(episode, f'settings of the metrics were not recorded: {NOT_NORMALISED}')
    return PipelineOptions()


@lru_cache(maxsize=32)
def _parsed_settings(text: str) -> PipelineOptions:
    """The settings are frozen, and campaigns have many episodes of the same ones."""
    return PipelineOptions.from_json(text)


def _names_any(actions: Stream | None, joints: Sequence[str]) -> bool:
    """Returns whether actions name one of the joints, or there are none."""
    return actions is None or bool(np.isin(different_rows(actions.values['names']), joints).any())


def _settings_for(robot: str) -> PipelineOptions:
    from frame_ros.robots import load_robot

    known = load_robot(robot)
    return PipelineOptions(**action_settings(known.joint_limits, known.continuous))


def _note(episode: Episode, problem: str) -> None:
    if problem not in episode.problems:
        episode.problems.append(problem)


def run_pipeline(
    episode: Episode,
    config: PipelineOptions,
    lagging: Mapping[int, int] | None = None,
    unseen: Mapping[int, int] = NONE,
) -> tuple[SampleColumns, MetricPipeline]:
    """Returns the samples of an episode, fed in the order of reception, events first."""
    pipeline, events = MetricPipeline(config, lagging, unseen), _bounded(episode)
    for event in events:
        pipeline.feed('event', event.stamp, event)
    streams = _fed_streams(episode, config)
    if 'pose' in streams:
        pipeline.pose_frame = streams['pose'].frame_id
    _feed_known(episode, config, streams, pipeline)
    columns = SampleColumns(_id(episode), _expected(streams))
    ends = [event.stamp for event in events if event.type is EventType.END]
    for samples in feed_streams(streams, pipeline, min(ends, default=LONGEST)):
        columns.add(samples)
    columns.add(pipeline.finish())
    return columns, pipeline


def _expected(streams: Mapping[str, Stream]) -> dict[str, int]:
    """Returns kind -> number of samples at most: one for each action, or each inference."""
    roles = {'quality': 'action', 'safety': 'action', 'confidence': 'inference'}
    return {kind: len(streams[role]) for kind, role in roles.items() if role in streams}


def _fed_streams(episode: Episode, config: PipelineOptions) -> dict[str, Stream]:
    """Returns role -> stream of the pipeline's inputs with these settings."""
    wanted = set(FED_ROLES).difference(('object', 'goal', 'grasp')).union(target_streams(config))
    streams = {role: episode.streams[role] for role in FED_ROLES if role in episode.streams}
    if 'grasp' in wanted.difference(streams) and (decided := grasp_of(episode)) is not None:
        streams['grasp'] = decided
    return {role: stream for role, stream in streams.items() if role in wanted and len(stream)}


def _feed_known(
    episode: Episode, config: PipelineOptions, streams: dict[str, Stream], pipeline: MetricPipeline
) -> None:
    """Feeds static poses from before the episode, as recorded in its settings."""
    try:
        known = load_json(episode.attributes.get('metrics_config', ''))['known']
        poses = {s: (int(v[0]), (*map(float, v[1:4]), str(v[4]))) for s, v in known.items()}
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
        return
    start = start_of(episode) or 0
    for role in sporadic_streams(config):
        stamp, value = poses.get(role, (0, None))
        is_recorded = role in streams and stamp in streams[role].stamps
        if 0 < stamp <= start and not is_recorded:
            pipeline.feed(role, stamp, value)


def _id(episode: Episode) -> str:
    return episode.episode_id or NAMELESS


def _bounded(episode: Episode) -> list[Event]:
    """Returns the events, with START and END, if missing, at the ends of the data."""
    name = _id(episode)
    events = [
        replace(event, episode_id=name) if event.type in BOUNDS else event
        for event in sorted(episode.events, key=lambda event: event.stamp)
    ]
    data = extent(episode)
    if data is None:
        return events
    first, last = data
    starts = [event.stamp for event in events if event.type is EventType.START]
    if not starts:
        events.insert(0, Event(first, EventType.START, name, source='reader'))
    begin = min(starts, default=first)
    ends = [event for event in events if event.type is EventType.END]
    if any(event.stamp > begin for event in ends):
        return events
    if ends:
        _note(episode, 'END is not behind the start: the end of the data is taken as the end')
    others = [event for event in events if event not in ends]
    # Events soon after the last step still belong to the episode.
    last = max([last, begin, *(e.stamp for e in others if e.stamp <= last + FAR)])
    outcome = _named_outcome(episode.events)
    return [*others, Event(last + 1, EventType.END, name, outcome=outcome, source='reader')]


def _named_outcome(events: Sequence[Event]) -> Outcome:
    """Returns the outcome that an END of the same name as a START states, whatever its stamp: the
    clock may have been set back between them.
    """
    names = {event.episode_id for event in events if event.type is EventType.START} - {''}
    found = [e.outcome for e in events if e.type is EventType.END and e.episode_id in names]
    return found[-1] if found else Outcome.UNKNOWN
