# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The gate's stop, asked for until the gate confirms it."""

from __future__ import annotations

import time
from typing import Any

from rclpy.node import Node
from std_srvs.srv import Trigger

from frame_ros.core.health import Level, Status
from frame_ros.nodes.monitor.topics import GATE_STOP
from frame_ros.nodes.runtime.endpoints import endpoint

# The STOP event, which says why, is on its way to the gate for so long, s.
HEAD_START = 0.05
PATIENCE = 1.0  # s without an answer, after which it is asked again


class GateStop:
    """Calls the gate's service after the STOP event of a halt, which stops it too: the answer
    shows that it has stopped.

    Attributes:
        problem: why the arm may not have been stopped; '': it was, or nobody asked.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._client = node.create_client(*endpoint(GATE_STOP))
        self._asked = self._called = 0.0  # time.monotonic()
        self._is_wanted = False
        self._futures: list[Any] = []  # of calls without an answer
        self.problem = ''

    def ask(self) -> None:
        """Asks for a stop; `look` calls the service."""
        self._is_wanted, self._asked, self._called = True, time.monotonic(), 0.0
        self._drop_calls()
        self.problem = ''

    def look(self) -> None:
        """Calls the service when that is due, and reads its answer. For one thread."""
        now = time.monotonic()
        if not self._is_wanted or now - self._asked < HEAD_START:
            return
        for future in [each for each in self._futures if each.done()]:
            self._take(future)
        if self._is_wanted and now - self._called >= PATIENCE:
            self._call(now)

    def _call(self, now: float) -> None:
        """Again and again: a stop that nobody confirmed may not have happened."""
        name = self._node.resolve_service_name(GATE_STOP.name)
        if self._futures:
            self._say(f'{name} has not answered for {now - self._asked:.0f} s')
        self._called = now
        if not self._client.service_is_ready():
            self._say(f'nobody offers {name}; is a command gate running?')
            return
        self._futures.append(self._client.call_async(Trigger.Request()))

    def _take(self, future: Any) -> None:
        """An answer that it did not stop, or that failed, ends nothing: it is asked again."""
        if future in self._futures:
            self._futures.remove(future)
        if error := future.exception():
            self._say(f'the gate did not stop: {error}')
        elif future.result().success:
            self._is_wanted, self.problem = False, ''
            self._drop_calls()
            self._node.get_logger().warning(f'the gate has {future.result().message}')
        else:
            self._say(f'the gate did not stop: {future.result().message}')

    def _drop_calls(self) -> None:
        for future in self._futures:
            self._client.remove_pending_request(future)
        self._futures = []

    def _say(self, text: str) -> None:
        if text != self.problem:
            self._node.get_logger().error(f'the arm may not have been stopped: {text}')
        self.problem = text

    def status(self) -> Status:
        """Returns whether a halt stops the arm, for diagnostics."""
        if self.problem:
            return Status('gate', Level.ERROR, self.problem)
        if not self._client.service_is_ready():
            name = self._node.resolve_service_name(GATE_STOP.name)
            return Status('gate', Level.WARN, f'a halt may not stop the arm: nobody offers {name}')
        return Status('gate', Level.OK, 'it is asked to stop at a halt')

    def close(self) -> None:
        """Takes the client off the node."""
        self._node.destroy_client(self._client)
