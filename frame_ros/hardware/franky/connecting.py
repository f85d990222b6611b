# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Connections that may take for ever: libfranka waits without a limit for an arm or a hand that
another client has, and never ends where the other side closes the connection before it answers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, field
from typing import Any

from frame_ros.core.thread_priority import lower_priority
from frame_ros.hardware.device_error import DeviceError


@dataclass
class _Attempt:
    """One attempt. owner: who takes the connection; None: it is closed as soon as there is one."""

    owner: Connecting | None
    thread: int = 0  # its native id
    found: Future[Any] = field(default_factory=Future)


# What is connected to -> its attempt that has not ended: it would take the arm from the next.
_ATTEMPTS: dict[tuple[str, ...], _Attempt] = {}
_LOCK = threading.Lock()


class Connecting:
    """Attempts to connect: one that has not ended, and that nobody waits for any more, is waited
    for again, whoever began it.

    make: connects, and returns the connection. what: 'the arm at 172.16.0.2', for errors. timeout:
    s to wait at a time. manner: in what else connections differ that `make` may return.
    """

    def __init__(
        self, make: Callable[[], Any], what: str, timeout: float, manner: str = ''
    ) -> None:
        self._make, self._what, self._timeout = make, what, timeout
        self._key = what, manner
        self._pending: _Attempt | None = None

    def wait(self) -> Any:
        """Returns a connection.

        Raises:
            DeviceError: nothing came of it in time. Exception: that of `make`.
        """
        attempt = self._pending = self._pending or self._begun()
        try:
            found = attempt.found.result(self._timeout)
        except FutureTimeoutError:
            if not attempt.found.done():
                # libfranka gives the thread the highest priority; one that looks for an answer that
                # never comes, without sleeping, would leave the others no core.
                lower_priority(attempt.thread)
                raise DeviceError(
                    f'{self._what} does not answer within {self._timeout:g} s: is another client '
                    'connected to it?'
                ) from None
            # It has come just now, or is an error of the library's own.
            self._pending = None
            found = attempt.found.result()
        except Exception:
            self._pending = None
            raise
        self._pending = None
        return found

    def give_up(self) -> None:
        """Leaves the attempt under way, if there is one, to whoever waits for the same next: else
        its connection is closed as soon as there is one.
        """
        attempt, self._pending = self._pending, None
        if attempt is not None:
            with _LOCK:
                if attempt.owner is self:
                    attempt.owner = None

    def _begun(self) -> _Attempt:
        with _LOCK:
            attempt = _ATTEMPTS.get(self._key)
            if attempt is not None and attempt.owner is None:
                attempt.owner = self
                return attempt
            attempt = _Attempt(self)
            _ATTEMPTS.setdefault(self._key, attempt)
        thread = threading.Thread(
            target=self._run, args=(attempt,), name='franka connection', daemon=True
        )
        thread.start()
        attempt.thread = thread.native_id or 0
        return attempt

    def _run(self, attempt: _Attempt) -> None:
        found, problem = None, None
        try:
            found = self._make()
        except Exception as error:
            problem = error
        with _LOCK:
            if _ATTEMPTS.get(self._key) is attempt:
                del _ATTEMPTS[self._key]
            is_wanted = attempt.owner is not None
        if problem is not None:
            attempt.found.set_exception(problem)
        else:
            attempt.found.set_result(found if is_wanted else None)
