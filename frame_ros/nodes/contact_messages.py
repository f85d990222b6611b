# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Detections and tracked contacts as messages; stamps in ns, all in the robot's base frame."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, nan

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Vector3, Wrench, WrenchStamped
from numpy.typing import NDArray

from frame_ros.msg import ContactEvent, ContactState
from frame_ros.sensing.contact_source import ContactSource
from frame_ros.sensing.contact_tracker import ContactEventRecord, TrackedContact
from frame_ros.sensing.detection import Detection

Array = NDArray[np.float64]
SECOND = 1_000_000_000
# From the source whose wrench is told first to the last.
PREFERRED = (ContactSource.WRENCH, ContactSource.ROBOT, ContactSource.JOINT_EFFORT)


def state_message(
    stamp: int, frame: str, detections: Sequence[Detection], contacts: Sequence[TrackedContact]
) -> ContactState:
    """The state that the newest detections of the sources, and the contacts made of them, tell.

    detections: one per source, at least one. If none is available, all that is measured is NaN.
    """
    known = [detection for detection in detections if detection.is_contact is not None]
    message = ContactState(source=source_of(known or detections))
    fill_header(message.header, stamp, frame)
    add_joints(message, detections)
    if not known:
        reasons = (f'{name_of(d.source)}: {d.unavailable}' for d in detections)
        message.unavailable = '; '.join(dict.fromkeys(reasons))
        message.force = nan
        set_wrench(message.wrench, np.full(6, nan))
        return message
    best = strongest(known)
    message.in_contact = bool(contacts) or any(d.is_contact for d in known)
    message.in_collision = any(not contact.is_expected for contact in contacts)
    message.force = best.force
    set_wrench(message.wrench, best.wrench)
    add_contacts(message, contacts)
    return message


def add_contacts(message: ContactState, contacts: Sequence[TrackedContact]) -> None:
    """The contacts one by one."""
    if not contacts:
        return
    message.links = [contact.link for contact in contacts]
    message.others = [contact.other for contact in contacts]
    message.is_expected = [contact.is_expected for contact in contacts]
    message.reasons = [contact.reason for contact in contacts]
    message.forces = [contact.force for contact in contacts]
    message.peak_forces = [contact.peak_force for contact in contacts]
    message.durations = [contact.duration for contact in contacts]
    message.impulses = [contact.impulse for contact in contacts]
    message.positions = [set_vector(Point(), contact.position) for contact in contacts]
    message.normals = [set_vector(Vector3(), contact.normal) for contact in contacts]


def add_joints(message: ContactState, detections: Sequence[Detection]) -> None:
    """The joints' residuals, of the detection that has them."""
    for detection in detections:
        if detection.joint_names:
            message.joint_names = list(detection.joint_names)
            message.joint_residuals = detection.residuals.tolist()
            message.joint_thresholds = detection.thresholds.tolist()
            message.is_stalled = list(detection.is_stalled)


def event_message(record: ContactEventRecord, frame: str) -> ContactEvent:
    """A contact that began or has ended."""
    message = ContactEvent(
        type=int(record.type),
        source=int(record.source),
        id=record.id,
        link=record.link,
        other=record.other,
        is_expected=record.is_expected,
        reason=record.reason,
        force=float(record.force),
        peak_force=float(record.peak_force),
        impulse=float(record.impulse),
        duration=float(record.duration),
    )
    fill_header(message.header, record.stamp, frame)
    set_vector(message.position, record.position)
    set_vector(message.normal, record.normal)
    return message


def wrench_message(stamp: int, frame: str, wrench: Array) -> WrenchStamped:
    """external_wrench: (6,) N and N m, in axes of `frame`."""
    message = WrenchStamped()
    fill_header(message.header, stamp, frame)
    set_wrench(message.wrench, wrench)
    return message


def strongest(known: Sequence[Detection]) -> Detection:
    """The detection whose force is told: of the source that measures it best, of those that measure
    one; of those in contact, if any is.
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


def fill_header(header: object, stamp: int, frame: str) -> None:
    """Stamp and frame."""
    header.stamp = Time(sec=stamp // SECOND, nanosec=stamp % SECOND)  # type: ignore[attr-defined]
    header.frame_id = frame  # type: ignore[attr-defined]


def set_wrench(message: Wrench, values: Array) -> None:
    """(6,) N and N m."""
    set_vector(message.force, values[:3])
    set_vector(message.torque, values[3:])


def set_vector(message: Point | Vector3, values: Array) -> Point | Vector3:
    """(3,)."""
    message.x, message.y, message.z = values.tolist()
    return message
