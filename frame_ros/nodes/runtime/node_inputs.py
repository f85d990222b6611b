# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The inputs that each node of this process has, as the basis of its readiness."""

from __future__ import annotations

from typing import Protocol
from weakref import WeakKeyDictionary

from rclpy.node import Node

from frame_ros.sensing.stream_health.readiness import InputState


class Input(Protocol):
    """Anything that a node subscribes to."""

    def look(self) -> None:
        """Looks at what is published."""

    def state(self) -> InputState:
        """Returns what it is connected to, and what has come."""


_INPUTS: WeakKeyDictionary[Node, list[Input]] = WeakKeyDictionary()


def inputs_of(node: Node) -> list[Input]:
    """The node's inputs, in the order in which they were made; each adds and removes itself."""
    return _INPUTS.setdefault(node, [])
