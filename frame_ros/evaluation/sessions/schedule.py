# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The trial that is next, from the key and what the journal says was run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from frame_ros.core.errors import SetupError
from frame_ros.evaluation.sessions.journal import BEGUN, INVALID, MARKED, Event
from frame_ros.evaluation.sessions.plan import SessionKey, Slot


@dataclass(frozen=True)
class Attempt:
    """One attempt at a slot: an entry of the list of trials."""

    id: str
    slot: int
    number: int
    what: Slot


@dataclass
class Schedule:
    """The attempts that remain, and those that began.

    An invalid trial is repeated under another id, at a random place of what remains of its block,
    or of the block that runs now if its own is over. A correction takes a repeat back that has not
    begun.

    Raises:
        SetupError: the journal has a trial that the key does not have.
    """

    key: SessionKey
    remaining: list[Attempt] = field(default_factory=list)
    begun: dict[str, Attempt] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.remaining = [self._attempt(slot, 0) for slot in range(len(self.key.slots))]
        self._invalid: dict[str, Attempt] = {}  # id of an invalid trial -> its repeat

    @classmethod
    def after(cls, key: SessionKey, events: Iterable[Event]) -> Schedule:
        """Returns the schedule after the events of a journal."""
        schedule = cls(key)
        for event in events:
            schedule.take(event)
        return schedule

    @property
    def next(self) -> Attempt | None:
        """The attempt whose turn it is; None after the last."""
        return self.remaining[0] if self.remaining else None

    def take(self, event: Event) -> None:
        """Takes note of an event."""
        if event['event'] == BEGUN:
            self._begin(event['trial'])
        elif event['event'] == MARKED:
            self._mark(event['trial'], event['outcome'] == INVALID)

    def _begin(self, id: str) -> None:
        found = next((each for each in self.remaining if each.id == id), None)
        if found is None:
            raise SetupError(f'the journal has the trial {id!r}, which the key does not have')
        self.remaining.remove(found)
        self.begun[id] = found

    def _mark(self, id: str, is_invalid: bool) -> None:
        if id not in self.begun:
            raise SetupError(f'the journal marks the trial {id!r}, which never began')
        if is_invalid and id not in self._invalid:
            self._repeat(self.begun[id])
        elif not is_invalid and self._invalid.get(id) in self.remaining:
            self.remaining.remove(self._invalid.pop(id))

    def _repeat(self, attempt: Attempt) -> None:
        repeat = self._attempt(attempt.slot, attempt.number + 1)
        blocks = [each.what.block for each in self.remaining]
        block = attempt.what.block if attempt.what.block in blocks else min(blocks, default=0)
        places = [place for place, each in enumerate(blocks) if each == block]
        first = places[0] if places else 0
        place = first + self.key.place(attempt.slot, repeat.number, len(places) + 1)
        self.remaining.insert(place, repeat)
        self._invalid[attempt.id] = repeat

    def _attempt(self, slot: int, number: int) -> Attempt:
        return Attempt(self.key.trial_id(slot, number), slot, number, self.key.slots[slot])
