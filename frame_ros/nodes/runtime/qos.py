# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Qualities of service, by what a topic carries."""

from __future__ import annotations

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy


def latched(depth: int) -> QoSProfile:
    """Returns a reliable profile under which who comes later gets the last `depth` messages."""
    return QoSProfile(depth=depth, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def best_effort(depth: int) -> QoSProfile:
    """Returns a profile of messages of which some may be lost; it hears every publisher."""
    return QoSProfile(depth=depth, reliability=ReliabilityPolicy.BEST_EFFORT)


STATE = latched(1)  # how something is now: descriptions, readiness, who has taken over
EVENTS = latched(50)  # what has happened: of an episode, of a run
STREAM = QoSProfile(depth=50)  # one message after another; reliable
NEWEST = QoSProfile(depth=1)  # only the last one counts: commands to controllers; reliable
ESTIMATES = best_effort(10)  # as ros2_control's broadcasters of estimates publish
