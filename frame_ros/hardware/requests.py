# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Requests of other threads to the thread that owns a robot, served between two of its cycles."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

from frame_ros.core.errors import FrameRosError
from frame_ros.hardware.device_error import DeviceError


@dataclass
class _Request:
    action: Callable[[], None]
    done: Future[None] = field(default_factory=Future)


class Requests:
    """A queue of requests: any thread asks, the owner serves."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[_Request] = SimpleQueue()

    def ask(self, action: Callable[[], None], timeout: float) -> None:
        """Has `action` done by the owner. timeout: s to wait for it.

        Raises:
            FrameRosError: what the action raised. DeviceError: it was not done in time.
        """
        request = _Request(action)
        self._queue.put(request)
        try:
            request.done.result(timeout)
        except FutureTimeoutError:
            text = f'the device did not come to it within {timeout:g} s'
            if not request.done.cancel():  # nor will it later, unless it is at it
                text += ', and is still at it'
            raise DeviceError(text) from None

    def serve(self) -> None:
        """Does what has been asked, in the owner's thread."""
        while True:
            try:
                request = self._queue.get_nowait()
            except Empty:
                return
            if not request.done.set_running_or_notify_cancel():
                continue
            try:
                request.action()
            except Exception as error:
                request.done.set_exception(error)
                if not isinstance(error, FrameRosError):
                    raise
            else:
                request.done.set_result(None)
