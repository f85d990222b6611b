# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Endings that the events of an episode mark."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from frame_ros.core.events import Event, EventType
from frame_ros.evaluation.outcomes.operation import GHOSTS, Ending

# Kinds of event that concern operations.
OPERATION_KINDS = (
    EventType.SUCCESS,
    EventType.FAILURE,
    EventType.STOP,
    EventType.OPERATION_START,
    EventType.OPERATION_SUCCESS,
    EventType.OPERATION_FAILURE,
)
# Attribute of an event: the value of the Ending that it marks, where it is not the usual one.
ENDING = 'ending'


@dataclass(frozen=True)
class Marked:
    """One ending, marked in an episode.

    Attributes:
        time: s since the episode's start.
        begun: s, of the OPERATION_START that belongs to it; None without.
        is_of_task: whether SUCCESS or FAILURE of the whole task mark it, not of one operation.
        is_unexplained: whether nothing says what kind of failure it was.
    """

    time: float
    ending: Ending
    begun: float | None = None
    is_of_task: bool = False
    is_unexplained: bool = False


class Marks:
    """The endings that the events of an episode mark, in time.

    Attributes:
        endings: so far.
        is_done: whether nothing remained to be done after the last of them.
        begun: s, of an OPERATION_START whose operation has not ended; None without.
        notes: in words.
    """

    def __init__(self, events: Iterable[tuple[float, Event]], every_success: bool) -> None:
        """Takes times (s) and events, by time. every_success: each SUCCESS is an operation's."""
        self.endings: list[Marked] = []
        self.is_done = False
        self.begun: float | None = None
        self.notes: list[str] = []
        self._every_success = every_success
        timed = list(events)
        self._counts_operations = any(e.type is EventType.OPERATION_SUCCESS for _, e in timed)
        for time, event in timed:
            self._take(time, event)

    @property
    def last(self) -> Ending | None:
        """The ending of the last one; None without any."""
        return self.endings[-1].ending if self.endings else None

    def add(self, time: float, ending: Ending, is_of_task: bool = False) -> None:
        """Adds an ending at a time, s."""
        self.endings.append(Marked(time, ending, self.begun, is_of_task))
        self.begun = None

    def replace_of_task(self, ending: Ending) -> bool:
        """Replaces what marked the task as done or failed; returns False if nothing did."""
        places = [i for i, each in enumerate(self.endings) if each.is_of_task]
        for place in places:
            self.endings[place] = replace(self.endings[place], ending=ending)
        return bool(places)

    def _take(self, time: float, event: Event) -> None:
        kind = event.type
        if kind is EventType.OPERATION_START:
            self.begun, self.is_done = time, False
        elif kind is EventType.SUCCESS and not self._every_success:
            self._take_task_success(time)
        elif kind in (EventType.OPERATION_SUCCESS, EventType.SUCCESS):
            self.add(time, Ending.SUCCESS)
            self.is_done = False
        elif kind is EventType.OPERATION_FAILURE:
            self._take_failure(time, event)
        elif kind is EventType.STOP:
            self._take_stop(time, event)
        elif kind is EventType.FAILURE:
            self._take_task_failure(time, event)

    def _take_task_success(self, time: float) -> None:
        if self._is_task_over(EventType.SUCCESS):
            return
        if not self._counts_operations:
            self.add(time, Ending.SUCCESS, is_of_task=True)
        self.is_done = True

    def _is_task_over(self, kind: EventType) -> bool:
        """Returns whether the task was done or had failed, or the robot been stopped; then an event
        of such a kind is noted.
        """
        if self.is_done:
            self.notes.append(
                f'{kind.name} when nothing was to be done any more: left out (OPERATION_SUCCESS '
                'marks one of several operations)'
            )
        return self.is_done

    def _take_failure(self, time: float, event: Event) -> None:
        given = self.ending_of(event)
        self.add(time, given or Ending.FAILURE)
        self.endings[-1] = replace(self.endings[-1], is_unexplained=given is None)
        self.is_done = False

    def _take_stop(self, time: float, event: Event) -> None:
        if self.is_done and self.last is Ending.SAFETY_STOP:
            return  # Stopped again, by the gate after the operator for instance.
        if not self._is_task_over(EventType.STOP):
            self.add(time, self.ending_of(event) or Ending.SAFETY_STOP)
            self.is_done = True

    def _take_task_failure(self, time: float, event: Event) -> None:
        """Takes FAILURE, which an operation's failure just before it explains."""
        if self._is_task_over(EventType.FAILURE):
            return
        if not (self.last in GHOSTS and self.begun is None):
            self.add(time, self.ending_of(event) or Ending.FAILURE, is_of_task=True)
        self.is_done = True

    def ending_of(self, event: Event) -> Ending | None:
        """The ending that an event's attribute names; None without, or if it is none (noted)."""
        text = event.attributes.get(ENDING, '').strip().lower()
        found = next((each for each in Ending if each.value == text), None)
        if text and found is None:
            known = ', '.join(Ending)
            self.notes.append(f'{ENDING} of {event.type.name} is {text!r}; expected: {known}')
        return found


def each_once(
    timed: Iterable[tuple[float, Event]], repeat_time: float
) -> tuple[list[tuple[float, Event]], int]:
    """Returns times and events without those that repeat an equal one of the same operation within
    `repeat_time` (s), and the number of these.
    """
    last: dict[tuple[EventType, int], float] = {}
    kept, repeated = [], 0
    for time, event in timed:
        key = (event.type, event.operation)
        if key in last and time - last[key] <= repeat_time:
            repeated += 1
            continue
        last[key] = time
        kept.append((time, event))
    return kept, repeated
