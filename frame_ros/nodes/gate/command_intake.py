# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One topic of commands: counted as they come, thinned to the newest where many wait."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rclpy.node import Node

from frame_ros.bags.message_readers import JointStateReader, ReadJointState
from frame_ros.core.topics import Topic
from frame_ros.gate.causes import Cause
from frame_ros.gate.command_flow import CommandFlow
from frame_ros.gate.records import Reason
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.nodes.runtime.options import BEST_EFFORT
from frame_ros.nodes.runtime.publisher_identity import UNKNOWN
from frame_ros.sensing.stream_health.newest import newest_of_each

DEPTH = 10  # the newest that are kept until they are taken
NEWEST = 4  # of each publisher, handed on at once; the older of more are left out
MOST_PUBLISHERS = 100


class CommandIntake:
    """Takes the commands of one topic. For one thread.

    rate_limit: commands per second, more of which are a flood; 0: any. flow: how many come.
    thinned: commands that were taken and left out so far. is_crowded: whether some were when they
    were taken last.
    """

    def __init__(self, node: Node, topic: Topic, rate_limit: float) -> None:
        # Of commands only the newest count, so that best effort does; nothing latched counts.
        self.subscription = FittingSubscription(
            node, topic, depth=DEPTH, reliability=BEST_EFFORT, is_live=True,
            is_identified=True, read=JointStateReader().positions,
        )  # fmt: skip
        self.topic = topic.name
        self.flow = CommandFlow(rate_limit)
        self.thinned = 0
        self.is_crowded = False
        self._numbers: dict[bytes, int] = {}

    def take(self, at: int) -> Iterator[tuple[ReadJointState, bytes, int]]:
        """The newest commands, oldest first: (command, GID of its publisher, when it was received,
        ns of the system clock). at: now, monotonic, ns.
        """
        taken = self.subscription.take_unread(2 * DEPTH)
        newest = newest_of_each(taken, NEWEST, lambda each: _publisher(each[1]))
        self.is_crowded = len(taken) > NEWEST
        if not taken:
            return
        sent = sum(self._sent(info) for _, info in taken)
        self.flow.add(sent, at)
        self.thinned += len(taken) - len(newest)
        for command, info in self.subscription.readable(newest):
            yield command, _publisher(info), info['received_timestamp']

    def flood(self, at: int) -> Reason | None:
        """That too many commands come, while they do."""
        if not self.flow.is_flooded(at):
            return None
        rate, limit = self.flow.rate(at), self.flow.limit
        text = f'{rate:.0f} commands per second on {self.topic}'
        return Reason(Cause.COMMAND_FLOOD, text, value=rate, limit=limit, unit='Hz')

    def _sent(self, info: dict) -> int:
        """Commands that a publisher has sent since its last that was taken, itself included."""
        number = info.get('publication_sequence_number') or 0
        publisher = _publisher(info)
        if publisher not in self._numbers and len(self._numbers) >= MOST_PUBLISHERS:
            self._numbers.clear()
        before = self._numbers.get(publisher, number - 1)
        self._numbers[publisher] = number
        # Without identities the numbers of several publishers are mixed, and mean nothing.
        return max(number - before, 1) if publisher != UNKNOWN else 1

    def close(self) -> None:
        """Ends the subscription."""
        self.subscription.destroy()


def _publisher(info: dict[str, Any]) -> bytes:
    """The GID of a message's publisher; of all the same one where it cannot be known."""
    publisher: bytes = info.get('publisher', UNKNOWN)
    return publisher
