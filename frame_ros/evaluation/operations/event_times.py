# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Times of the events of an episode since its start, also where the clock of the stamps jumps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.streams.form import Stream
from frame_ros.core.events import Event, EventType
from frame_ros.core.time import SECOND
from frame_ros.episodes.bounds import bounds_of
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.interventions import event_segments

# A single stamp far away is an error of its message, no jump of the clock.
WIDTH = 5


class EventTimes:
    """Times of moments of an episode, in s since its START, or since its first step without one.

    The stamps decide. Where their clock jumps inside the episode, the receive times of the events
    do, if all have one. Which it was, and what lies outside of the episode, is in the notes.

    Attributes:
        duration: s.
        is_received: whether times are those of receipt.
        notes: in words.
    """

    def __init__(self, episode: Episode, smallest: float) -> None:
        """`smallest`: jump of the clock that is believed, s."""
        self.notes: list[str] = []
        begin, end = bounds_of(episode)
        jumps = clock_jumps(_densest(episode), smallest)
        bounds = [_first(episode.events, EventType.START), finish_of(episode)]
        self.is_received = bool(jumps) and all(event.received > 0 for event in episode.events)
        self.is_received &= None not in bounds
        if self.is_received and bounds[0] and bounds[1]:
            begin, end = bounds[0].received, bounds[1].received
        self._begin = begin
        self.duration = max(end - begin, 0) / SECOND
        self._note_bounds(episode, bounds)
        self._note_jumps(jumps)

    def of(self, event: Event) -> float:
        """The time of an event, s, before 0 and beyond the duration outside of the episode."""
        return ((event.received if self.is_received else event.stamp) - self._begin) / SECOND

    def of_stream(self, stream: Stream) -> NDArray[np.float64]:
        """The times (T,) of the samples of a stream, s."""
        stamps = stream.received if self.is_received else stream.stamps
        return (stamps - self._begin) / SECOND

    def takeovers(self, events: list[Event]) -> list[tuple[float, float]]:
        """Begins and ends (s) of the stretches in which an operator drove."""
        moved = [replace(event, stamp=round(self.of(event) * SECOND)) for event in events]
        segments = event_segments(moved, 0, round(self.duration * SECOND))
        return [(segment.begin / SECOND, segment.end / SECOND) for segment in segments]

    def inside(self, events: list[Event]) -> list[tuple[float, Event]]:
        """Times and events within the episode, by time; those outside are noted."""
        timed = sorted(((self.of(event), event) for event in events), key=lambda pair: pair[0])
        kept = [pair for pair in timed if 0.0 <= pair[0] <= self.duration]
        for place, count in (
            ('before its START', sum(time < 0.0 for time, _ in timed)),
            ('after its END', sum(time > self.duration for time, _ in timed)),
        ):
            if count:
                self.notes.append(f'{count} of its events are stamped {place}: left out')
        return kept

    def _note_bounds(self, episode: Episode, bounds: list[Event | None]) -> None:
        start, finish = bounds
        if start is None:
            self.notes.append('no START: times count from its first step')
        if finish is None:
            self.notes.append('no END: it lasts to its last step')
        elif start is not None and finish.stamp < start.stamp and not self.is_received:
            self.notes.append('its END is stamped before its START: it lasts to its last step')
        if self.duration == 0.0:
            self.notes.append('it has no duration')

    def _note_jumps(self, jumps: list[float]) -> None:
        if not jumps:
            return
        sizes = ', '.join(f'{jump:+.{0 if abs(jump) >= 10 else 1}f} s' for jump in jumps[:3])
        rule = (
            'times are those at which the events were received'
            if self.is_received
            else 'the events have no receive times, so its times are doubtful'
        )
        self.notes.append(f'the clock of its stamps jumps ({sizes}): {rule}')


def clock_jumps(stream: Stream | None, smallest: float) -> list[float]:
    """Returns the jumps of the clock of a stream's stamps, s, by the receive times: backwards, or
    forwards by more than time passed, at least `smallest` (s). A clock that runs at another rate
    (simulated time), and one that pauses, does not jump.
    """
    from scipy.signal import medfilt

    if stream is None or len(stream) <= WIDTH:
        return []
    order = np.argsort(stream.received, kind='stable')
    order = order[stream.stamps[order] > 0]
    if len(order) <= WIDTH:
        return []
    half = WIDTH // 2
    stamps = medfilt((stream.stamps[order] - stream.stamps[order[0]]) / SECOND, WIDTH)
    steps = np.diff(stamps[half:-half])
    passed = np.diff(stream.received[order][half:-half] / SECOND)
    usual = float(np.median(passed))
    rate = max(1.0, float(np.median(steps)) / usual) if usual > 0 else 1.0
    sizes = np.where(steps < 0, steps, np.maximum(steps - rate * passed, 0.0))
    return [float(size) for size in sizes if size < -smallest or size > smallest]


def _densest(episode: Episode) -> Stream | None:
    """Returns the stream of most samples, which shows a jump of the clock best."""
    return max(episode.streams.values(), key=len, default=None)


def finish_of(episode: Episode) -> Event | None:
    """Returns the END that bounds an episode: the first after its START, else the last of all."""
    start = _first(episode.events, EventType.START)
    ends = [event for event in episode.events if event.type is EventType.END]
    later = [event for event in ends if start is not None and event.stamp > start.stamp]
    return min(later, key=lambda event: event.stamp) if later else (ends[-1] if ends else None)


def _first(events: list[Event], kind: EventType) -> Event | None:
    return next((event for event in events if event.type is kind), None)
