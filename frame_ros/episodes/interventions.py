# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Who drove in an episode: stretches in which an operator had taken over, and what the command gate
did.
"""

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
NOTING = ('policy', 'gate')


class GateAction(IntEnum):
    """What the gate did; the numbers are those of GateIntervention.msg."""

    LIMITED = 1
    REFUSED = 2
    HELD = 3
    STOPPED = 4
    RESET = 5
    TAKEOVER = 6


MOMENTS = (GateAction.STOPPED, GateAction.RESET)


@dataclass(frozen=True)
class Segment:
    """A stretch [begin, end] (ns) in which an operator drove. source: who said so. is_open: nobody
    said that it ended, so it lasts to the episode's end.
    """

    begin: int
    end: int
    source: str = ''
    text: str = ''
    is_open: bool = False

    @property
    def duration(self) -> float:
        """s."""
        return (self.end - self.begin) / SECOND


@dataclass(frozen=True)
class GateRun:
    """A run of interventions of one cause. begin, end: ns; equal for a stop and a reset. count:
    commands or ticks. joint, value, limit, unit, text: as first said. is_open: still so at the
    episode's end.
    """

    begin: int
    end: int
    action: GateAction
    cause: str
    joint: str = ''
    count: int = 1
    value: float = math.nan
    limit: float = math.nan
    unit: str = ''
    text: str = ''
    is_open: bool = False

    @property
    def duration(self) -> float:
        """s."""
        return (self.end - self.begin) / SECOND


@dataclass(frozen=True)
class Interventions:
    """What came between the policy and the arm in one episode.

    segments: in which an operator drove, apart from each other, in time. runs: of the gate; None:
    the bag has none of its messages. begin, end: of the episode, ns. notes: NOTE events of policy
    and gate. stops: STOP events.
    """

    segments: tuple[Segment, ...]
    begin: int
    end: int
    runs: tuple[GateRun, ...] | None = None
    notes: tuple[Event, ...] = ()
    stops: tuple[Event, ...] = ()

    @property
    def count(self) -> int:
        """How often an operator took over."""
        return len(self.segments)

    @property
    def seconds(self) -> float:
        """s that an operator drove."""
        return float(sum(segment.duration for segment in self.segments))

    @property
    def share(self) -> float:
        """Share of the episode that an operator drove, in [0, 1]; NaN without duration."""
        duration = (self.end - self.begin) / SECOND
        return self.seconds / duration if duration > 0 else math.nan

    @property
    def autonomy(self) -> float:
        """Share of the episode that the policy drove, in [0, 1]; NaN without duration."""
        return 1.0 - self.share


def interventions_of(episode: Episode, bag: Bag | None = None) -> Interventions:
    """Returns the interventions of an episode, cut to its START and END.

    bag: the episode's, for what the gate did; None: only what the events say.
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

    Of several sources each has its own; where they overlap they become one. If the first has no
    START, it begins with the episode; one without an END lasts to the episode's end. Another END
    where nobody drives says nothing new.
    """
    running: dict[str, Event] = {}
    found: list[Segment] = []
    for event in sorted(events, key=lambda e: e.stamp):
        if event.type is EventType.INTERVENTION_START:
            running.setdefault(event.source, event)
        elif event.type is EventType.INTERVENTION_END:
            # Whoever ends it need not be who began it.
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
    """Returns stretches apart from each other, in time: overlapping ones become one."""
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
    """Whether an operator drove at each stamp (N,), ns; the end of a stretch is not in it."""
    result = np.zeros(len(stamps), bool)
    for segment in segments:
        result |= (stamps >= segment.begin) & (stamps < segment.end)
    return result


def gate_runs(bag: Bag, episode: Episode, begin: int, end: int) -> list[GateRun] | None:
    """Returns what the gate of the episode's robot did within [begin, end] (ns), by its begin; None
    if it is not in the bag, or not readable, which is then in the episode's problems.
    """
    topic = _gate_topic(bag, episode)
    if topic is None:
        return None
    try:
        messages = [message for _, message in bag.messages(topic)]
    except BagError as error:
        if str(error) not in episode.problems:
            episode.problems.append(str(error))
        return None
    messages.sort(key=lambda m: (stamp_ns(m.header.stamp), int(m.sequence)))
    return sorted(_runs(messages, begin, end), key=lambda run: run.begin)


def _gate_topic(bag: Bag, episode: Episode) -> str | None:
    """The topic of gate interventions in the namespace that the episode's commands are in."""
    found = sorted(t.name for t in bag.topics.values() if t.message_type == GATE_TYPE and len(t))
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
