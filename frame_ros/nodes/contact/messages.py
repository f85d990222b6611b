# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Detections and tracked contacts as messages; stamps in ns, all in the robot's base frame."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, nan

import numpy as np
from geometry_msgs.msg import WrenchStamped
from numpy.typing import NDArray

from frame_ros.msg import ContactEvent, ContactState
from frame_ros.nodes.runtime import message_parts as parts
from frame_ros.sensing.contact.belief import LinkBelief
from frame_ros.sensing.contact.detection import Detection
from frame_ros.sensing.contact.sensitivity import UNKNOWN, Sensitivity
from frame_ros.sensing.contact.source import ContactSource
from frame_ros.sensing.contact.tracker import ContactEventRecord, TrackedContact

Array = NDArray[np.float64]
# Sources in the order in which their wrench is reported.
PREFERRED = (ContactSource.WRENCH, ContactSource.ROBOT, ContactSource.JOINT_EFFORT)


def state_message(
    stamp: int,
    frame: str,
    detections: Sequence[Detection],
    contacts: Sequence[TrackedContact],
    sensitivity: Sensitivity = UNKNOWN,
    beliefs: Sequence[LinkBelief] = (),
    warnings: Sequence[str] = (),
) -> ContactState:
    """Returns the state by the newest detections of the sources and their contacts.

    detections: one per source, at least one. If none is available, all measurements are NaN.
    sensitivity: of the most sensitive source. beliefs: one per link and source.
    """
    known = [detection for detection in detections if detection.is_contact is not None]
    header = parts.header_message(stamp, frame)
    message = ContactState(header=header, source=source_of(known or detections))
    message.force_threshold = sensitivity.force
    message.response_time = sensitivity.response_time
    add_joints(message, detections)
    add_beliefs(message, beliefs)
    message.warnings = list(dict.fromkeys(warnings))
    if not known:
        reasons = (f'{name_of(d.source)}: {d.unavailable}' for d in detections)
        message.unavailable = '; '.join(dict.fromkeys(reasons))
        message.force = nan
        parts.fill_wrench(message.wrench, np.full(6, nan))
        return message
    best = strongest(known)
    message.in_contact = bool(contacts) or any(d.is_contact for d in known)
    message.in_collision = any(not contact.is_expected for contact in contacts)
    message.force = best.force
    parts.fill_wrench(message.wrench, best.wrench)
    parts.fill_contacts(message, contacts)
    return message


def add_joints(message: ContactState, detections: Sequence[Detection]) -> None:
    """The joints' residuals, of the detection that has them."""
    for detection in detections:
        if detection.joint_names:
            message.joint_names = list(detection.joint_names)
            message.joint_residuals = detection.residuals.tolist()
            message.joint_thresholds = detection.thresholds.tolist()
            message.is_stalled = list(detection.is_stalled)


def add_beliefs(message: ContactState, beliefs: Sequence[LinkBelief]) -> None:
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


def strongest(known: Sequence[Detection]) -> Detection:
    """Returns the detection whose force is reported: of the most accurate source that measures one.

    Sources in contact take precedence.
    """

    def rank(detection: Detection) -> tuple[bool, bool, int]:
        source = detection.source
        order = PREFERRED.index(source) if source in PREFERRED else len(PREFERRED)
        return not isfinite(detection.force), not detection.is_contact, order

    return min(known, key=rank)


def source_of(detections: Sequence[Detection]) -> int:
    """SOURCE_* of them all."""
    sources = {int(detection.source) for detection in detections}
    return sources.pop() if len(sources) == 1 else int(ContactSource.FUSED)


def name_of(source: int) -> str:
    """As in the parameter `sources`."""
    return ContactSource(source).name.lower()
