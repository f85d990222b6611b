# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The journal of a session: a line per event, only ever added to, and on the disk at once.

Each line has the digest of the one before it, so that a line before the last that is changed, added
or removed later is noticed. The last line, and a journal that is written again as a whole, are held
by nothing but the digest of the file, once it is published.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from frame_ros.core.errors import SetupError
from frame_ros.core.input_files import UNPACKED_PART, load_json, read_bytes
from frame_ros.core.output_files import appending
from frame_ros.evaluation.appended_lines import append_line, drop_cut_line

SUCCESS, FAILURE, INVALID, RECORDED = 'success', 'failure', 'invalid', 'recorded'
OUTCOMES = {
    SUCCESS: 'the task was done',
    FAILURE: 'it was not done',
    INVALID: 'the trial says nothing of the policy, and is repeated',
    RECORDED: 'the trial counts, and its bag has the outcome',
}
OPERATOR, SERVER = 'operator', 'server'
# Kinds of events.
PLANNED, SERVED, DUE, BEGUN, ENDED = 'planned', 'served', 'due', 'begun', 'ended'
REFUSED, RECONNECTED, MARKED, OPENED = 'refused', 'reconnected', 'marked', 'opened'

BEFORE = 'before'  # field: SHA-256 of the line before; '' in the first
HAS_DIGESTS = 'has_digests'  # field of PLANNED, and of the plan: every line has BEFORE

Event = Mapping[str, Any]


@dataclass(frozen=True)
class Mark:
    """An outcome that was noted: `by` the operator or the server, with the reason."""

    outcome: str
    why: str
    by: str
    time: str


@dataclass(frozen=True)
class Trial:
    """One trial as the journal has it. Times are ISO 8601, UTC; '' before they are known.

    Attributes:
        id: says nothing of the policy.
        marks: in their order; the last holds.
        last_action: time of the last answer of its policy.
        is_interrupted: the server ended before the trial was marked.
        reconnections: how often its policy's server was connected to again.
    """

    id: str
    block: int
    cell: str
    begun: str
    last_action: str = ''
    is_interrupted: bool = False
    reconnections: int = 0
    marks: tuple[Mark, ...] = field(default=())

    @property
    def outcome(self) -> str:
        """One of OUTCOMES; '' while it is not marked."""
        return self.marks[-1].outcome if self.marks else ''

    @property
    def is_valid(self) -> bool:
        """True if it is marked, and counts."""
        return self.outcome not in ('', INVALID)


class Journal:
    """The file of events; several processes may add to it.

    has_digests: every line must have BEFORE. False: of a session of a version that wrote none; the
    lines that are added to it have it all the same, and then all after them must.
    """

    def __init__(self, path: Path, has_digests: bool = True) -> None:
        self.path, self._has_digests = path, has_digests

    def add(self, event: str, **fields: Any) -> None:
        """Adds an event with the time of now.

        Raises:
            SetupError: it cannot be written.
        """
        with self.held() as add:
            add(event, **fields)

    @contextmanager
    def held(self) -> Iterator[Callable[..., None]]:
        """Yields `add`, while nobody else can add anything: what is decided by the events still
        holds when it is added. A line that was cut when a process or the computer ended is removed
        before.

        Raises:
            SetupError: it cannot be written.
        """
        try:
            with appending(self.path) as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                drop_cut_line(file)
                lines = self._content().splitlines()
                last = _digest(lines[-1]) if lines else ''

                def add(event: str, **fields: Any) -> None:
                    nonlocal last
                    fields = {**fields, BEFORE: last}
                    line = json.dumps({'time': now(), 'event': event, **fields}, allow_nan=False)
                    append_line(file, line)
                    last = _digest(line.encode())

                yield add
        except OSError as error:
            raise SetupError(f'{self.path} cannot be written: {error.strerror}') from error

    def events(self) -> list[Event]:
        """Returns all events that are whole.

        Raises:
            SetupError: it cannot be read, a line but the last is wrong, or one was changed, added
                or removed.
        """
        *lines, _ = self._content().split(b'\n')
        events = [self._event(line, number) for number, line in enumerate(lines, 1)]
        first = 0
        if not (self._has_digests or any(event.get(HAS_DIGESTS) for event in events)):
            first = next((place for place, e in enumerate(events) if BEFORE in e), len(events))
        for place in range(first, len(events)):
            before = _digest(lines[place - 1]) if place else ''
            if events[place].get(BEFORE) != before:
                raise SetupError(
                    f'{self.path}, line {place + 1} does not follow the line before: one of the '
                    'two was changed, or lines were added or removed; a journal is only ever added '
                    'to (frame-ros session mark --trial corrects a mark)'
                )
        return events

    def digest(self) -> str:
        """Returns the SHA-256 of the file."""
        return _digest(self._content())

    def _content(self) -> bytes:
        try:
            return read_bytes(self.path, UNPACKED_PART)
        except OSError as error:
            raise SetupError(f'{self.path} cannot be read: {error.strerror}') from error

    def _event(self, line: bytes, number: int) -> Event:
        try:
            event = load_json(line)
            if isinstance(event, dict) and {'time', 'event'} <= event.keys():
                return event
        except ValueError:
            pass
        raise SetupError(f'{self.path}, line {number} is no event of a session')


def trials_of(events: Iterable[Event]) -> dict[str, Trial]:
    """Returns id -> trial, in the order in which they were begun.

    Raises:
        SetupError: an event is of a trial that never began, or lacks something.
    """
    trials: dict[str, Trial] = {}
    try:
        for event in events:
            kind, id = event['event'], event.get('trial', '')
            if kind == BEGUN:
                trials[id] = Trial(id, int(event['block']), event['cell'], event['time'])
            elif kind == ENDED:
                trials[id] = replace(trials[id], last_action=event['last_action'])
            elif kind == RECONNECTED:
                count = trials[id].reconnections + 1
                trials[id] = replace(trials[id], reconnections=count)
            elif kind == MARKED:
                mark = Mark(event['outcome'], event['why'], event['by'], event['time'])
                trials[id] = replace(trials[id], marks=(*trials[id].marks, mark))
            elif kind == SERVED:
                cut = {each.id for each in trials.values() if not each.marks}
                trials |= {id: replace(trials[id], is_interrupted=True) for id in cut}
    except (KeyError, TypeError, ValueError) as error:
        raise SetupError(f'the journal has an event that cannot be: {dict(event)}') from error
    return trials


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def now() -> str:
    """Returns the time as the journal writes it."""
    return datetime.now(timezone.utc).strftime('%Y-%m-%dT%H:%M:%S.%fZ')
