# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Waiting inside a callback while the executor serves others."""

from __future__ import annotations

from rclpy.callback_groups import CallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.task import Future


async def pause(node: Node, seconds: float, group: CallbackGroup) -> None:
    """Waits in an async callback. group: of the callback, and reentrant: a mutually exclusive one
    would keep the timer, and whatever else is in it, waiting too.
    """
    over = Future()
    timer = node.create_timer(
        seconds,
        lambda: over.set_result(None),
        callback_group=group,
        clock=Clock(clock_type=ClockType.STEADY_TIME),
    )
    try:
        await over
    finally:
        node.destroy_timer(timer)
