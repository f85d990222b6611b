# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The folder of a blinded session: its plan and journal, and the private part with the key."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from frame_ros.core.errors import SetupError
from frame_ros.core.input_files import load_json, read_text
from frame_ros.core.output_files import appending, make_folder, write_whole
from frame_ros.evaluation.appended_lines import append_line
from frame_ros.evaluation.sessions.journal import HAS_DIGESTS, PLANNED, Journal, now
from frame_ros.evaluation.sessions.plan import (
    SessionKey,
    SessionOptions,
    SessionPlan,
    draw_key,
)

PLAN, JOURNAL, LOCK = 'session.json', 'journal.jsonl', 'serving.lock'
# Only for whoever set the session up: the key, and what the policies' servers said.
PRIVATE, KEY, LOG, SERVERS = 'private', 'key.json', 'servers.log', 'servers.jsonl'
Read = TypeVar('Read')


class SessionFolder:
    """An existing session.

    Raises:
        SetupError: there is none.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser()
        if not (self.path / PLAN).is_file():
            raise SetupError(f'{str(self.path)!r} is no session: it has no {PLAN}')
        self.plan = _read(self.path / PLAN, SessionPlan.from_content)
        self.journal = Journal(self.path / JOURNAL, self.plan.has_digests)

    @property
    def log_name(self) -> str:
        """The file of what the policies' servers said, in the folder."""
        return f'{PRIVATE}/{LOG}'

    @classmethod
    def make(
        cls,
        path: str | Path,
        policies: Mapping[str, Mapping[str, Any]],
        options: SessionOptions,
    ) -> SessionFolder:
        """Draws a session and writes it.

        policies: name -> options of its server.

        Raises:
            SetupError: the folder has something in it or cannot be written, there are fewer
                than two policies, or there is no cell.
        """
        folder = Path(path).expanduser()
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise SetupError(f'{str(folder)!r} is not an empty folder; name another')
        key = draw_key(policies, options.cells, options.episodes)
        plan = SessionPlan(
            cells=options.cells,
            episodes=options.episodes,
            policies=len(policies),
            commitment=key.commitment,
            created=now(),
            instructions=dict(options.instructions),
            has_digests=True,
        )
        make_folder(folder, 'the folder of the session')
        try:
            (folder / PRIVATE).mkdir(mode=0o700)
            _write_private(folder / PRIVATE / KEY, key.to_text())
        except OSError as error:
            raise SetupError(f'the key cannot be written: {error}') from error
        named = {'commitment': key.commitment, HAS_DIGESTS: plan.has_digests}
        Journal(folder / JOURNAL).add(PLANNED, **named)
        write_whole(folder / PLAN, plan.to_text(), 'the plan')
        return cls(folder)

    def key(self) -> SessionKey:
        """Returns the key, which is as it was when the session was drawn.

        Raises:
            SetupError: it cannot be read, or does not fit the commitment or the plan.
        """
        place = self.path / PRIVATE / KEY
        key = _read(place, SessionKey.from_content)
        first = next((e for e in self.journal.events() if e['event'] == PLANNED), {})
        for where, commitment in (
            (PLAN, self.plan.commitment),
            (JOURNAL, first.get('commitment')),
        ):
            if key.commitment != commitment:
                raise SetupError(
                    f'{place} is not the key that was drawn: its SHA-256 is {key.commitment}, and '
                    f'{where} has {commitment}'
                )
        cells = {slot.cell for slot in key.slots}
        if set(self.plan.cells) != cells or self.plan.trials != len(key.slots):
            raise SetupError(
                f'{self.path / PLAN} does not fit the key: it has {self.plan.trials} trials on '
                f'{", ".join(self.plan.cells)}, and the key {len(key.slots)} on '
                f'{", ".join(sorted(cells))}'
            )
        return key

    def note(self, text: str) -> None:
        """Adds a line to what the policies' servers said, which the operator does not read.

        Raises:
            SetupError: it cannot be written.
        """
        with self._log() as file:
            append_line(file, f'{now()} {" ".join(text.split())}')

    def check_log(self) -> None:
        """Checks that `note` can write, before a trial depends on it. On a full disk only a line
        shows that it cannot.

        Raises:
            SetupError: it cannot.
        """
        self.note('about to serve')

    @contextmanager
    def _log(self) -> Iterator[BinaryIO]:
        place = self.path / PRIVATE / LOG
        try:
            with appending(place) as file:
                os.fchmod(file.fileno(), 0o600)
                yield file
        except OSError as error:
            raise SetupError(f'{place} cannot be written: {error.strerror}') from error

    def recognise(self, name: str, says: Mapping[str, Any]) -> None:
        """Notes what the server of a policy says of itself when it is first used.

        Raises:
            SetupError: it once said something else: trials would be of two policies with one name.
        """
        known = Journal(self.path / PRIVATE / SERVERS, self.plan.has_digests)
        events = known.events() if known.path.exists() else []
        before = next((e['says'] for e in events if e.get('policy') == name), None)
        if before is None:
            known.add('recognised', policy=name, says=says)
        elif before != says:
            raise SetupError(f'its server says {says}; earlier in this session it said {before}')

    @contextmanager
    def served(self) -> Iterator[None]:
        """Holds the session while a server runs.

        Raises:
            SetupError: another one does.
        """
        try:
            with appending(self.path / LOCK) as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError as error:
                    raise SetupError(f'{self.path} is served already') from error
                yield
        except OSError as error:
            raise SetupError(f'{self.path / LOCK} cannot be written: {error.strerror}') from error


def _write_private(path: Path, text: str) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o600), 'wb') as file:
        append_line(file, text.rstrip('\n'))


def _read(path: Path, make: Callable[[Any, str], Read]) -> Read:
    try:
        return make(load_json(read_text(path)), str(path))
    except OSError as error:
        raise SetupError(f'{path} cannot be read: {error.strerror}') from error
    except ValueError as error:
        raise SetupError(f'{path} is no JSON: {error}') from error
