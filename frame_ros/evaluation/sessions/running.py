# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A session that runs: its trials begin and end in the journal."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable

from frame_ros.core.errors import FrameRosError, PolicyError, SetupError
from frame_ros.core.plain_text import plain
from frame_ros.evaluation.sessions.folder import SessionFolder
from frame_ros.evaluation.sessions.journal import (
    BEGUN,
    DUE,
    ENDED,
    INVALID,
    MARKED,
    OPENED,
    RECONNECTED,
    REFUSED,
    SERVED,
    SERVER,
    Event,
    Trial,
    trials_of,
)
from frame_ros.evaluation.sessions.schedule import Attempt, Schedule

START_DIGITS = 16
AGAIN = "the connection to its policy's server was lost and made again"
LOOK_PERIOD = 0.3  # s between two looks at whether the operator has marked a trial


class EpisodeRefusedError(PolicyError):
    """No trial begins in this episode, whatever is marked meanwhile."""


class SessionRun:
    """The trials of a session that is served. Called from several threads.

    say: gets a line for the operator whenever another trial is due.

    Raises:
        SetupError: the key does not fit, the labels are open, or a file cannot be written.
    """

    def __init__(self, folder: SessionFolder, say: Callable[[str], object]) -> None:
        self.folder, self._say = folder, say
        self._key = folder.key()
        folder.check_log()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name='session', daemon=True)
        self._size = -1
        if was_opened(folder.journal.events()):
            raise SetupError(f'the labels of {folder.path} are open: no trial is blind any more')

    @property
    def policies(self) -> dict[str, dict[str, object]]:
        """The options of the policies' servers, by name."""
        return {name: dict(options) for name, options in self._key.policies.items()}

    def start(self, **settings: object) -> None:
        """Notes that the session is served, with these settings, and says what is due."""
        self.folder.journal.add(SERVED, **settings)
        self._thread.start()

    def stop(self) -> None:
        """Ends the announcements."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def begin(self, instruction: str, start: str = '') -> Attempt:
        """Begins the trial that is due.

        instruction: of the observation. start: the client's name of its START; '' if it has none.

        Raises:
            EpisodeRefusedError: the trial before is not marked yet, was of this START, or was not
                marked when this START was refused.
            PolicyError: none is left, or the cell has another instruction.
        """
        name = hashlib.sha256(start.encode()).hexdigest()[:START_DIGITS] if start else ''
        with self.folder.journal.held() as add:
            events = self.folder.journal.events()
            had = next((e for e in events if name and e.get('episode') == name), None)
            if unmarked := open_trial(trials_of(events)):
                if name and had is None:
                    add(REFUSED, trial=unmarked.id, episode=name)
                raise EpisodeRefusedError(
                    f'trial {unmarked.id} is not closed yet: frame-ros session mark says how it '
                    'ended; then start another episode'
                )
            if had is not None:
                how = 'was of' if had['event'] == BEGUN else 'was not closed at the start of'
                raise EpisodeRefusedError(
                    f'trial {had["trial"]} {how} this episode: start another one for the next'
                )
            due = Schedule.after(self._key, events).next
            if due is None or was_opened(events):
                raise PolicyError('the session has no trial left')
            wanted = self.folder.plan.instructions.get(due.what.cell, instruction)
            if instruction != wanted:
                raise PolicyError(
                    f'the cell {due.what.cell!r} has the instruction {wanted!r}, and the '
                    f'observation has {instruction!r}'
                )
            what = {'block': due.what.block, 'cell': due.what.cell, 'episode': name}
            add(BEGUN, trial=due.id, **what)
            return due

    def end(self, trial: str, last_action: str) -> None:
        """Notes when the policy of a trial answered last."""
        self.folder.journal.add(ENDED, trial=trial, last_action=last_action)

    def note_reconnection(self, trial: str) -> None:
        """Notes that the policy's server was connected to again in a trial, and says it."""
        self.folder.journal.add(RECONNECTED, trial=trial)
        self._say(f'trial {trial}: {AGAIN}; look at it before you mark it')

    def break_off(self, trial: str, why: str) -> None:
        """Marks a trial as invalid, unless the operator has marked it already."""
        with self.folder.journal.held() as add:
            if not trials_of(self.folder.journal.events())[trial].marks:
                add_mark(add, trial, INVALID, why, SERVER)

    def announce(self) -> None:
        """Notes the trial that is due, if none is running, and says it."""
        with self.folder.journal.held() as add:
            events = self.folder.journal.events()
            if open_trial(trials_of(events)) or was_opened(events):
                return
            due = Schedule.after(self._key, events).next
            id = due.id if due else ''
            noted = [e for e in events if e['event'] in (DUE, SERVED)]
            if not noted or noted[-1].get('trial') != id:
                what = {'block': due.what.block, 'cell': due.what.cell} if due else {}
                add(DUE, trial=id, **what)
        if not noted or noted[-1].get('trial') != id:
            self._say(due_text(self.folder, due.what.cell, id) if due else 'all trials are done')

    def _watch(self) -> None:
        while not self._stop.is_set():
            try:
                size = self.folder.journal.path.stat().st_size
                if size != self._size:
                    self.announce()
                    self._size = size
            except (FrameRosError, OSError) as error:
                self._say(f'the journal: {error}')
                self._stop.wait(10.0)
            self._stop.wait(LOOK_PERIOD)


def due_text(folder: SessionFolder, cell: str, id: str) -> str:
    """Returns what is to be set up next, in words."""
    instruction = folder.plan.instructions.get(cell, '')
    return plain(f'next: trial {id}, cell {cell}') + (f': {instruction!r}' if instruction else '')


def open_trial(trials: dict[str, Trial]) -> Trial | None:
    """Returns the trial that is not marked yet; None if all are."""
    return next((trial for trial in trials.values() if not trial.marks), None)


def was_opened(events: Iterable[Event]) -> bool:
    """Returns whether the labels are open."""
    return any(event['event'] == OPENED for event in events)


def mark(folder: SessionFolder, trial: str, outcome: str, why: str, by: str) -> None:
    """Adds an outcome to the journal; earlier ones of the trial stay in it, and no longer hold."""
    add_mark(folder.journal.add, trial, outcome, why, by)


def add_mark(add: Callable[..., None], trial: str, outcome: str, why: str, by: str) -> None:
    """Does the same with a journal that is held."""
    add(MARKED, trial=trial, outcome=outcome, why=why, by=by)
