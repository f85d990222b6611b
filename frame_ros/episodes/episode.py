# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What an episode is, without ROS: events, streams of stamped values, metric samples."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from numpy.typing import NDArray

from frame_ros.bags.streams.stream import Stream
from frame_ros.core.events import Event
from frame_ros.episodes.reference import Reference


@dataclass
class Episode:
    """One recorded episode.

    streams: role ('pose', 'action', 'contact', 'proximity', 'inference', 'joint_states', 'object',
    'goal', and 'gripper' where it is no other's topic) ->
    Stream. live: kind ('quality', 'safety', 'efficiency', 'confidence') -> the recorded metric
    topic, one array per field. metrics: kind -> the same recomputed: field -> (steps,) array, plus
    'stamp' (steps,) int64. summary: field of EpisodeSummary -> value, recomputed. data_quality:
    counters by name, e.g. 'pose.gaps'. references: those that ATE and RTE were computed against
    where they were given at reading, instead of recorded. is_own_reference: whether those given are
    from its own bag, and so do not count. problems: what a person should know, in words: truncated
    bag, missing topic, unreadable type; those that make no number doubtful are of type
    `findings.Note`. heard_since: role -> stamp (ns) from which on the live metrics node received a
    stream, where the recording begins before.
    """

    path: Path
    episode_id: str
    attributes: dict[str, str]
    events: list[Event]
    streams: dict[str, Stream]
    live: dict[str, Stream]
    metrics: dict[str, dict[str, NDArray]] = field(default_factory=dict)
    summary: dict = field(default_factory=dict)
    data_quality: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    is_truncated: bool = False
    references: tuple[Reference, ...] = ()
    is_own_reference: bool = False
    heard_since: dict[str, int] = field(default_factory=dict)
