# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Thins out warnings that would repeat for as long as their cause lasts.

The first warning of a subject is logged at once, the next after FIRST_PAUSE, and each pause is
twice the one before, up to LAST_PAUSE; the next warning counts those left out. A subject that was
silent for three of its pauses is new again. The subject of a warning is its kind and its text
without numbers: another topic, joint or reason is another problem, a growing count is not.

While a node starts, its inputs begin one after the other: a missing one is logged as information,
and as a warning only once it has lasted.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

FIRST_PAUSE = 5.0  # s
LAST_PAUSE = 600.0  # s
START_UP = 10.0  # s in which inputs may not have begun yet
MOST_SUBJECTS = 20  # of one kind; further ones share one, so that changing texts cannot flood
# Numbers and addresses, but not numbers in names: joint_2.
NUMBER = re.compile(r'0x[0-9a-fA-F]+|(?<![\w.])[+-]?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?')


class Log(Protocol):
    """The part of a rclpy logger that is used."""

    def info(self, message: str) -> object: ...
    def warning(self, message: str) -> object: ...
    def error(self, message: str) -> object: ...


@dataclass
class _Subject:
    logged: float
    heard: float
    pause: float
    left_out: int = 0


def subject_of(text: str) -> str:
    """Returns a text without its numbers: what it is about."""
    return NUMBER.sub('#', text)


class RepeatedWarnings:
    """Logs repeated reports of a node at growing intervals."""

    def __init__(self, log: Log, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` returns s of a steady clock."""
        self._log, self._clock = log, clock
        self._began = clock()
        self._subjects: dict[str, dict[str, _Subject]] = {}  # kind -> subject
        self._standing: dict[str, frozenset[str]] = {}  # kind -> subjects of `inform_news`

    def warn(self, kind: str, text: str) -> None:
        """Logs a warning if its subject is due; an empty text is ignored."""
        if text and (due := self._text_if_due(kind, text)):
            self._log.warning(due)

    def warn_once(self, kind: str, text: str) -> None:
        """The same, but never again."""
        if due := self._text_if_due(kind, text, first_pause=math.inf):
            self._log.warning(due)

    def warn_once_started(self, kind: str, text: str) -> None:
        """Logs a warning, or only information during the first START_UP seconds."""
        is_starting = self._clock() - self._began < START_UP
        (self.inform if is_starting else self.warn)(kind, text)

    def inform(self, kind: str, text: str) -> None:
        """Logs information under the same rules."""
        if text and (due := self._text_if_due(kind, text)):
            self._log.info(due)

    def inform_news(self, kind: str, texts: Iterable[str]) -> None:
        """Logs as information those texts of a kind whose subjects were not among those of the last
        call: what stays is logged once, what comes and goes under the same rules.
        """
        found = {subject_of(text): text for text in texts}
        for subject, text in found.items():
            if subject not in self._standing.get(kind, ()):
                self.inform(kind, text)
        self._standing[kind] = frozenset(found)

    def fail(self, kind: str, text: str) -> None:
        """Logs an error under the same rules."""
        if text and (due := self._text_if_due(kind, text)):
            self._log.error(due)

    def _text_if_due(self, kind: str, text: str, first_pause: float = FIRST_PAUSE) -> str:
        """Returns the text, with the count of those left out, if it is due; else ''."""
        now = self._clock()
        subjects = self._of_kind(kind, now)
        subject = subject_of(text)
        if subject not in subjects and len(subjects) >= MOST_SUBJECTS:
            subject = ''
        known = subjects.get(subject)
        if known is None or now - known.heard > 3.0 * known.pause:
            subjects[subject] = _Subject(now, now, first_pause)
            return text
        known.heard = now
        if now - known.logged < known.pause:
            known.left_out += 1
            return ''
        left_out, since = known.left_out, now - known.logged
        known.logged, known.left_out = now, 0
        known.pause = min(2.0 * known.pause, LAST_PAUSE)
        again = f' ({left_out} more in the last {since:.0f} s)' if left_out else ''
        return text + again

    def _of_kind(self, kind: str, now: float) -> dict[str, _Subject]:
        """Returns the subjects of a kind, without the expired ones."""
        found = self._subjects.get(kind, {})
        self._subjects[kind] = {
            subject: known
            for subject, known in found.items()
            if now - known.heard <= max(3.0 * known.pause, LAST_PAUSE)
        }
        return self._subjects[kind]
