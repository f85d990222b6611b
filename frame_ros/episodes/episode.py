# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What an episode is, without ROS: events, streams of stamped values, metric samples."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.episodes.reference_loading import Reference


class EventType(IntEnum):
    """Kinds of event; the numbers are those of EpisodeEvent.msg."""

    START = 1
    END = 2
    SUCCESS = 3
    FAILURE = 4
    STOP = 5
    OPERATION_START = 6
    OPERATION_SUCCESS = 7
    OPERATION_FAILURE = 8
    INTERVENTION_START = 9
    INTERVENTION_END = 10
    NOTE = 11


class Outcome(IntEnum):
    """How an episode ended; the numbers are those of EpisodeEvent.msg."""

    UNKNOWN = 0
    SUCCESS = 1
    FAILURE = 2
    TIMEOUT = 3
    STOPPED = 4


@dataclass(frozen=True)
class Event:
    """One EpisodeEvent. stamp: ns. received: the recorder's receive time, ns; 0: not from a bag."""

    stamp: int
    type: EventType
    episode_id: str = ''
    outcome: Outcome = Outcome.UNKNOWN
    operation: int = 0
    source: str = ''
    text: str = ''
    attributes: dict[str, str] = field(default_factory=dict)
    received: int = field(default=0, compare=False)


class MetricSample:
    """What the pipeline yields: one metric message without ROS.

    kind: 'quality', 'safety', 'efficiency', 'confidence' or 'summary'. stamp: ns. fields: the
    message's field names. row: their values, in that order. A tuple rather than a mapping, since
    one is made at every control step.
    """

    __slots__ = ('kind', 'stamp', 'episode_id', 'fields', 'row')

    def __init__(
        self, kind: str, stamp: int, episode_id: str, fields: tuple[str, ...], row: tuple
    ) -> None:
        self.kind = kind
        self.stamp = stamp
        self.episode_id = episode_id
        self.fields = fields
        self.row = row

    @property
    def values(self) -> dict[str, Any]:
        """Field name -> value."""
        return dict(zip(self.fields, self.row))


@dataclass
class Stream:
    """Samples of one topic: T stamps, T receive times, and one array per value name.

    stamps: (T,) int64, header stamps in ns, in recorded order. received: (T,) int64, the recorder's
    receive time in ns. values: name -> (T, ...) array. frame_id: the frame that the first message
    names; '' if none, or if it was not asked for.
    """

    topic: str
    message_type: str
    stamps: NDArray[np.int64]
    received: NDArray[np.int64]
    values: dict[str, NDArray]
    frame_id: str = ''

    def select(self, is_chosen: NDArray[np.bool_]) -> Stream:
        """Returns the samples that are chosen, (T,)."""
        return replace(
            self,
            stamps=self.stamps[is_chosen],
            received=self.received[is_chosen],
            values={name: column[is_chosen] for name, column in self.values.items()},
        )

    def __len__(self) -> int:
        return len(self.stamps)


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
