# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A service whose requests a thread of the node's own takes, so that no executor keeps them
waiting; nor do their answers keep that thread, which another one sends.

As with `polled`, the handle is not public API of rclpy; where it is missing or differs, and
whenever no thread polls, the node's executor serves.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node

from frame_ros.nodes.runtime.service_calls import RequestId, ServiceCalls

MOST_WAITING = 100  # answers; further ones are left out
LAST_WAIT = 0.5  # s for answers that are still waiting when nobody polls any more


class _WhileUnpolled(MutuallyExclusiveCallbackGroup):
    """A group whose service the executor serves unless it is polled."""

    def __init__(self) -> None:
        super().__init__()
        self.is_polled = False

    def can_execute(self, entity: Any) -> bool:
        return not self.is_polled and super().can_execute(entity)


class PolledService:
    """A service of `node`, served by `poll` in the caller's thread, or else by the executor.

    serve: answers a request (request, empty response) -> response; in either thread.
    """

    def __init__(
        self, node: Node, service_type: Any, name: str, serve: Callable[[Any, Any], Any]
    ) -> None:
        self._type, self._serve = service_type, serve
        self._group = _WhileUnpolled()
        self._service = node.create_service(service_type, name, serve, callback_group=self._group)
        handle = getattr(self._service, 'handle', None)
        self._calls: ServiceCalls | None = None
        with contextlib.suppress(AttributeError, ValueError):  # no such functions, other capsules
            self._calls = ServiceCalls(service_type)
        is_pollable = self._calls is not None and isinstance(getattr(handle, 'pointer', None), int)
        self.wait_handle: Any = handle if is_pollable else None
        self._answers: SimpleQueue[tuple[RequestId, Any] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def set_polled(self, is_polled: bool) -> None:
        """Sets whether a thread polls from now on."""
        self._group.is_polled = is_polled and self.wait_handle is not None
        if self._group.is_polled and self._thread is None:
            self._answers = SimpleQueue()
            self._thread = threading.Thread(
                target=self._send, args=(self._answers,), name='answers', daemon=True
            )
            self._thread.start()
        elif not self._group.is_polled and self._thread is not None:
            self._answers.put(None)
            self._thread.join(LAST_WAIT)
            self._thread = None

    def poll(self, max_count: int = 10) -> None:
        """Serves the requests that have come; never blocks."""
        calls = self._calls
        if calls is None or not self._group.is_polled:
            return
        for _ in range(max_count):
            with self.wait_handle:
                taken = calls.take(self.wait_handle.pointer)
            if taken is None:
                return
            request, identity = taken
            response = self._serve(request, self._type.Response())
            if self._answers.qsize() < MOST_WAITING:
                self._answers.put((identity, response))

    def _send(self, answers: SimpleQueue[tuple[RequestId, Any] | None]) -> None:
        assert self._calls is not None
        while (answer := answers.get()) is not None:
            with contextlib.suppress(rclpy_implementation.InvalidHandle), self.wait_handle:
                self._calls.send(self.wait_handle.pointer, *answer)
