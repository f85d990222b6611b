# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Interventions in an episode: stretches driven by an operator, and the gate's actions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.reader import Bag
from frame_ros.core.errors import BagError
from frame_ros.core.events import Event, EventType
from frame_ros.core.time import SECOND, stamp_ns
from frame_ros.episodes.bounds import bounds_of
from frame_ros.episodes.episode import Episode

GATE_TYPE = 'frame_ros/msg/GateIntervention'
STATE_TYPE = 'frame_ros/msg/GateState'
NOTING = ('policy', 'gate', 'monitor')


class GateAction(IntEnum):
    """Actions of the gate; the numbers are those of GateIntervention.msg."""

    LIMITED = 1
    REFUSED = 2
    HELD = 3
    STOPPED = 4
    RESET = 5
    TAKEOVER = 6


MOMENTS = (GateAction.STOPPED, GateAction.RESET)


@dataclass(frozen=True)
class Segment:
    """A stretch [begin, end] (ns) in which an operator drove."""

    begin: int
    end: int
    source: str = ''  # the publisher of the events
    text: str = ''
    is_open: bool = False  # without an end event, so it lasts to the episode's end

    @property
    def duration(self) -> float:
        """s."""
        return (self.end - self.begin) / SECOND


@dataclass(frozen=True)
class GateRun:
    """A run of interventions of one cause."""

    begin: int  # ns; equal for a stop and a reset
    end: int  # ns; equal for a stop and a reset
    action: GateAction
    cause: str
    joint: str = ''  # of the first
    count: int = 1  # commands or ticks
    value: float = math.nan  # of the first
    limit: float = math.nan  # of the first
    unit: str = ''  # of the first
    text: str = ''  # of the first
    is_open: bool = False  # still so at the episode's end

    @property
    def duration(self) -> float:
        """s."""
        return (self.end - self.begin) / SECOND


@dataclass(frozen=True)
class Interventions:
    """Interventions between the policy and the arm in one episode."""

    segments: tuple[Segment, ...]  # in which an operator drove, separate, in time
    begin: int  # of the episode, ns
    end: int  # of the episode, ns
    runs: tuple[GateRun, ...] | None = None  # of the gate; None: no gate was recorded
    notes: tuple[Event, ...] = ()  # NOTE events of policy, gate and monitor
    stops: tuple[Event, ...] = ()  # STOP events

    @property
    def count(self) -> int:
        """Number of takeovers by an operator."""
        return len(self.segments)

    @property
    def seconds(self) -> float:
        """Seconds driven by an operator."""
        return float(sum(segment.duration for segment in self.segments))

    @property
    def share(self) -> float:
        """Share of the episode driven by an operator, in [0, 1]; NaN without duration."""
        duration = (self.end - self.begin) / SECOND
        return self.seconds / duration if duration > 0 else math.nan

    @property
    def autonomy(self) -> float:
        """Share of the episode driven by the policy, in [0, 1]; NaN without duration."""
        return 1.0 - self.share


def interventions_of(episode: Episode, bag: Bag | None = None) -> Interventions:
    """Returns the interventions of an episode, cut to its START and END.

    bag: the episode's, for the gate's actions; None: only those in the events.
    """
    begin, end = bounds_of(episode)
    runs = gate_runs(bag, episode, begin, end) if bag is not None else None
    inside = [event for event in episode.events if begin <= event.stamp <= end]
    return Interventions(
        tuple(event_segments(episode.events, begin, end)),
        begin,
        end,
        None if runs is None else tuple(runs),
        tuple(e for e in inside if e.type is EventType.NOTE and e.source in NOTING),
        tuple(e for e in inside if e.type is EventType.STOP),
    )


def event_segments(events: Iterable[Event], begin: int, end: int) -> list[Segment]:
    """Returns the stretches between INTERVENTION_START and INTERVENTION_END, within [begin, end]
    (ns).

    Each source has its own; overlapping ones are merged. If the first has no START, it begins with
    the episode; one without an END lasts to the episode's end. An END while nobody drives is
    ignored.
    """
    running: dict[str, Event] = {}
    found: list[Segment] = []
    for event in sorted(events, key=lambda e: e.stamp):
        if event.type is EventType.INTERVENTION_START:
            running.setdefault(event.source, event)
        elif event.type is EventType.INTERVENTION_END:
            # The source that ends it may differ from the one that began it.
            key = event.source if event.source in running else next(iter(running), event.source)
            start = running.pop(key, None)
            if start is None and found:
                continue  # Said again, or by another: it is over already.
            first, text = (start.stamp, start.text) if start else (begin, event.text)
            found.append(Segment(first, event.stamp, event.source, text))
    found += [Segment(e.stamp, end, e.source, e.text, True) for e in running.values()]
    return merged(
        Segment(max(s.begin, begin), min(s.end, end), s.source, s.text, s.is_open)
        for s in found
        if s.end > begin and s.begin < end
    )


def merged(segments: Iterable[Segment]) -> list[Segment]:
    """Returns separate stretches, in time: overlapping ones become one."""
    result: list[Segment] = []
    for segment in sorted(segments, key=lambda s: (s.begin, s.end)):
        if result and segment.begin <= result[-1].end:
            last = result[-1]
            sources = ', '.join(dict.fromkeys(filter(None, (last.source, segment.source))))
            text = '; '.join(dict.fromkeys(filter(None, (last.text, segment.text))))
            latest = segment if segment.end > last.end else last
            result[-1] = Segment(last.begin, latest.end, sources, text, latest.is_open)
        else:
            result.append(segment)
    return result


def is_intervened(segments: Sequence[Segment], stamps: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Returns whether an operator drove at each stamp (N,), ns, the end of a stretch excluded."""
    result = np.zeros(len(stamps), bool)
    for segment in segments:
        result |= (stamps >= segment.begin) & (stamps < segment.end)
    return result


def gate_runs(bag: Bag, episode: Episode, begin: int, end: int) -> list[GateRun] | None:
    """Returns the gate's runs for the episode's robot within [begin, end] (ns), by begin. None if
    no gate was recorded, or its messages are not readable, which is then in the episode's problems.
    """
    topic = _gate_topic(bag, episode, GATE_TYPE)
    if topic is None:  # a gate that never steps in publishes its state alone
        return None if _gate_topic(bag, episode, STATE_TYPE) is None else []
    try:
        messages = [message for _, message in bag.messages(topic)]
    except BagError as error:
        if str(error) not in episode.problems:
            episode.problems.append(str(error))
        return None
    messages.sort(key=lambda m: (stamp_ns(m.header.stamp), int(m.sequence)))
    return sorted(_runs(messages, begin, end), key=lambda run: run.begin)


def _gate_topic(bag: Bag, episode: Episode, message_type: str) -> str | None:
    """Returns the topic of such messages of the gate in the namespace of the episode's commands."""
    found = sorted(t.name for t in bag.topics.values() if t.message_type == message_type and len(t))
    stream = episode.streams.get('action')
    namespace = stream.topic.rpartition('/')[0] if stream is not None else ''
    own = [name for name in found if name.startswith(f'{namespace}/')]
    return min(own or found, key=len, default=None)


def _runs(messages: Sequence[Any], begin: int, end: int) -> list[GateRun]:
    open_runs: dict[tuple[int, str], Any] = {}
    found = []
    for message in messages:
        stamp, key = stamp_ns(message.header.stamp), (int(message.action), str(message.cause))
        if key[0] not in GateAction.__members__.values():
            continue
        if key[0] in MOMENTS:
            found.append(_run(message, stamp, stamp, int(message.count)))
        elif message.is_over:
            first = open_runs.pop(key, None)
            start = begin if first is None else stamp_ns(first.header.stamp)
            found.append(_run(first or message, min(start, stamp), stamp, int(message.count)))
        else:
            open_runs.setdefault(key, message)
    found += [
        _run(message, stamp_ns(message.header.stamp), end, int(message.count), is_open=True)
        for message in open_runs.values()
    ]
    return [_cut(run, begin, end) for run in found if run.end >= begin and run.begin <= end]


def _run(message: Any, begin: int, end: int, count: int, is_open: bool = False) -> GateRun:
    return GateRun(
        begin,
        end,
        GateAction(int(message.action)),
        str(message.cause),
        str(message.joint),
        count,
        float(message.value),
        float(message.limit),
        str(message.unit),
        str(message.text),
        is_open,
    )


def _cut(run: GateRun, begin: int, end: int) -> GateRun:
    return replace(run, begin=max(run.begin, begin), end=max(begin, min(run.end, end)))
