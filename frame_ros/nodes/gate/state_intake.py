# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joint states as the gate takes them: of each publisher and each set of joints, the newest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rclpy.node import Node

from frame_ros.bags.message_readers import ReadJointState
from frame_ros.nodes.runtime.joint_states import JointStateInput
from frame_ros.nodes.runtime.options import BEST_EFFORT
from frame_ros.nodes.runtime.publisher_identity import UNKNOWN
from frame_ros.sensing.stream_health.newest import Taken, newest_of_each

# All publishers share it. Of two with a kilohertz each it is half a second, in which a gripper's
# states, which come seldom, must be found.
DEPTH = 1000
NEWEST = 4  # of each publisher and set of joints, taken at once; the older of more are left out


class Heard(NamedTuple):
    """Joints as they came. publisher: its GID. received: ns of the system clock."""

    joints: ReadJointState
    publisher: bytes
    received: int


class StateIntake:
    """Takes from joint_states. For one thread."""

    def __init__(self, node: Node) -> None:
        self.subscription = JointStateInput(
            node, depth=DEPTH, reliability=BEST_EFFORT, is_live=True, is_identified=True,
            has_positions_only=True,
        )  # fmt: skip

    def take(self) -> Iterator[Heard]:
        """Yields what was measured last of each joint, oldest first."""
        taken = newest_of_each(self.subscription.take_unread(DEPTH), NEWEST, self._source)
        for joints, info in self.subscription.readable(taken):
            yield Heard(joints, info.get('publisher', UNKNOWN), info['received_timestamp'])

    def _source(self, taken: Taken) -> tuple[bytes, object] | None:
        """Whose a message is, and of which joints; None: not known."""
        data, info = taken
        key = info.get('publisher', UNKNOWN), self.subscription.reader.layout(data)
        return key if all(key) else None

    def close(self) -> None:
        """Ends the subscription."""
        self.subscription.destroy()
