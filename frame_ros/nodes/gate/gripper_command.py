# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A gripper commanded by goals of the action control_msgs/GripperCommand."""

from __future__ import annotations

import time
from typing import Any

from rclpy.action import ActionClient
from rclpy.node import Node

from frame_ros.core.errors import SetupError

# A gripper moves for about a second per goal, and a new goal interrupts it: so only what is another
# position is a new goal, and not at the rate of the commands.
LEAST_CHANGE = 0.002  # rad or m
LEAST_INTERVAL = 0.2  # s


class GripperCommandOutput:
    """Sends a goal when the gripper is to be somewhere else.

    sent: goals sent so far.
    """

    def __init__(self, node: Node, action: str, effort: float) -> None:
        """action: its name. effort: N, the most that a grasp may use.

        Raises:
            SetupError: control_msgs is not installed.
        """
        self._goal = _goal_type()
        self._client = ActionClient(node, self._goal, action)
        self._effort = effort
        self._last: float | None = None
        self._sent_at = -LEAST_INTERVAL
        self.sent = 0

    def send(self, position: float) -> bool:
        """Returns whether a goal was sent. position: of one finger, m (or rad).

        One that comes too soon, or that the server rejects, is not lost: the next command, which
        repeats it, sends it.
        """
        now = time.monotonic()
        is_same = self._last is not None and abs(position - self._last) < LEAST_CHANGE
        if is_same or now - self._sent_at < LEAST_INTERVAL or not self._client.server_is_ready():
            return False
        goal = self._goal.Goal()
        goal.command.position, goal.command.max_effort = float(position), self._effort
        self._last, self._sent_at = position, now
        self._client.send_goal_async(goal).add_done_callback(self._on_answer)
        self.sent += 1
        return True

    def _on_answer(self, answer: Any) -> None:
        if not answer.cancelled() and (answer.exception() or not answer.result().accepted):
            self._last = None

    def close(self) -> None:
        """Takes the client off its node."""
        self._client.destroy()


def _goal_type() -> Any:
    try:
        from control_msgs.action import GripperCommand
    except ImportError as error:
        raise SetupError(
            'this output commands the gripper by an action of control_msgs, which is not '
            'installed: sudo apt install ros-$ROS_DISTRO-control-msgs, or set the gripper output '
            "to 'none'"
        ) from error
    return GripperCommand
