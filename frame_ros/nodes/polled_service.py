# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A service whose requests a thread of the node's own takes, so that no executor keeps them
waiting.

As with `polled`, the handle is not public API of rclpy; where it is missing or differs, and
whenever no thread polls, the node's executor serves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node


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
        can_poll = callable(getattr(handle, 'service_take_request', None))
        self.wait_handle = handle if can_poll else None

    def set_polled(self, is_polled: bool) -> None:
        """Whether a thread polls from now on."""
        self._group.is_polled = is_polled and self.wait_handle is not None

    def poll(self, max_count: int = 10) -> list[Callable[[], None]]:
        """Serves the requests that have come; never blocks.

        Returns:
            What sends the answers. The middleware may wait 0.1 s for a client that it has only just
            met: what is urgent comes before.
        """
        answers = []
        while self.wait_handle is not None and self._group.is_polled and len(answers) < max_count:
            with self.wait_handle:
                request, header = self.wait_handle.service_take_request(self._type.Request)
            if header is None:
                break
            response = self._serve(request, self._type.Response())
            answers.append(lambda r=response, h=header: self._service.send_response(r, h))
        return answers
