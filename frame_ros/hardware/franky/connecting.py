# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Connections that may take for ever: libfranka waits without a limit for an arm or a hand that
another client has.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any

from frame_ros.hardware.device_error import DeviceError


class Connecting:
    """Attempts to connect, one at a time: one that has not ended is waited for again, as it would
    take the arm from the next.

    make: connects, and returns the connection. what: 'the arm at 172.16.0.2', for errors. timeout:
    s to wait at a time.
    """

    def __init__(self, make: Callable[[], Any], what: str, timeout: float) -> None:
        self._make, self._what, self._timeout = make, what, timeout
        self._pending: Future[Any] | None = None

    def wait(self) -> Any:
        """Returns a connection.

        Raises:
            DeviceError: nothing came of it in time. Exception: that of `make`.
        """
        if self._pending is None:
            self._pending = Future()
            run = threading.Thread(
                target=self._run, args=(self._pending,), name='franka connection', daemon=True
            )
            run.start()
        try:
            found = self._pending.result(self._timeout)
        except FutureTimeoutError:
            raise DeviceError(
                f'{self._what} does not answer within {self._timeout:g} s: is another client '
                'connected to it?'
            ) from None
        except Exception:
            self._pending = None
            raise
        self._pending = None
        return found

    def give_up(self) -> None:
        """Ends the attempt under way, if there is one: its connection is closed as soon as there
        is one.
        """
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.cancel()

    def _run(self, pending: Future[Any]) -> None:
        try:
            found = self._make()
        except Exception as error:
            if pending.set_running_or_notify_cancel():
                pending.set_exception(error)
            return
        if pending.set_running_or_notify_cancel():
            pending.set_result(found)
