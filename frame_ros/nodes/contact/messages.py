# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""States and events of contacts as messages; stamps in ns, all in the robot's base frame."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from geometry_msgs.msg import WrenchStamped
from numpy.typing import NDArray

from frame_ros.msg import ContactEvent, ContactState
from frame_ros.nodes.runtime import message_parts as parts
from frame_ros.sensing.contact.belief import LinkBelief
from frame_ros.sensing.contact.composition.state import ContactRecord
from frame_ros.sensing.contact.tracker import ContactEventRecord

Array = NDArray[np.float64]


def state_message(record: ContactRecord, frame: str) -> ContactState:
    """Returns a state as a message."""
    message = ContactState(header=parts.header_message(record.stamp, frame))
    message.source, message.unavailable = record.source, record.unavailable
    message.in_contact, message.in_collision = record.in_contact, record.in_collision
    message.force, message.force_threshold = record.force, record.force_threshold
    message.response_time = record.response_time
    parts.fill_wrench(message.wrench, record.wrench)
    parts.fill_contacts(message, record.contacts)
    _add_beliefs(message, record.beliefs)
    message.warnings = list(record.warnings)
    message.joint_names = list(record.joint_names)
    message.joint_residuals = record.joint_residuals.tolist()
    message.joint_thresholds = record.joint_thresholds.tolist()
    message.is_stalled = list(record.is_stalled)
    return message


def _add_beliefs(message: ContactState, beliefs: Sequence[LinkBelief]) -> None:
    """One row per link and source."""
    message.belief_links = [belief.link for belief in beliefs]
    message.belief_sources = [int(belief.source) for belief in beliefs]
    message.belief_states = [int(belief.state) for belief in beliefs]
    message.belief_probabilities = [belief.probability for belief in beliefs]
    message.belief_reasons = [belief.reason for belief in beliefs]


def event_message(record: ContactEventRecord, frame: str) -> ContactEvent:
    """A contact that began or has ended."""
    message = ContactEvent(header=parts.header_message(record.stamp, frame))
    return parts.fill_fields(message, record)


def wrench_message(stamp: int, frame: str, wrench: Array) -> WrenchStamped:
    """external_wrench: (6,) N and N m, in axes of `frame`."""
    message = WrenchStamped(header=parts.header_message(stamp, frame))
    parts.fill_wrench(message.wrench, wrench)
    return message
