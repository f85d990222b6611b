# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Events of an episode; the numbers are those of EpisodeEvent.msg."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum


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
    """The outcome of an episode; the numbers are those of EpisodeEvent.msg."""

    UNKNOWN = 0
    SUCCESS = 1
    FAILURE = 2
    TIMEOUT = 3
    STOPPED = 4


@dataclass(frozen=True)
class Event:
    """One EpisodeEvent.

    Attributes:
        stamp: ns.
        received: the recorder's receive time, ns; 0 if not from a bag.
    """

    stamp: int
    type: EventType
    episode_id: str = ''
    outcome: Outcome = Outcome.UNKNOWN
    operation: int = 0
    source: str = ''
    text: str = ''
    attributes: dict[str, str] = field(default_factory=dict)
    received: int = field(default=0, compare=False)
