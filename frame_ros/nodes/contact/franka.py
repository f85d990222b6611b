# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The contact and collision flags of a Franka arm, by what is installed."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.serialization import deserialize_message

from frame_ros.bags.franka_flags import IndicatorReader, StateFlagReader
from frame_ros.core.topics import Topic
from frame_ros.msg import ContactState
from frame_ros.nodes.runtime import topics
from frame_ros.nodes.runtime.franka_publishers import robot_state_type
from frame_ros.sensing.contact.robot_indicators import Indicators


def contact_state(data: bytes) -> ContactState:
    """Reads a ContactState."""
    return deserialize_message(data, ContactState)


def flag_input() -> tuple[Topic, Callable[[bytes], Indicators | None]]:
    """Returns the topic of the flags, and what reads its messages."""
    if robot_state_type() is not None:
        return topics.FRANKA_STATE, IndicatorReader().read
    return topics.FRANKA_CONTACT, StateFlagReader(contact_state).read
