# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The state of all contacts, of the newest detections and the contacts that last: what a
ContactState says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite, nan

import numpy as np
from numpy.typing import NDArray

from frame_ros.sensing.contact.belief import LinkBelief
from frame_ros.sensing.contact.detection import Detection, unknown
from frame_ros.sensing.contact.sensitivity import UNKNOWN, Sensitivity
from frame_ros.sensing.contact.source import ContactSource
from frame_ros.sensing.contact.tracker import TrackedContact

Array = NDArray[np.float64]
# Sources in the order in which their wrench is reported.
PREFERRED = (ContactSource.WRENCH, ContactSource.ROBOT, ContactSource.JOINT_EFFORT)


@dataclass(frozen=True)
class ContactRecord:
    """The fields of msg/ContactState but those of single contacts and beliefs, which are in
    `contacts` and `beliefs`. stamp: ns. wrench: (6,) N and N m. is_known: whether anything is
    measured.
    """

    stamp: int
    source: int
    is_known: bool = False
    unavailable: str = ''
    in_contact: bool = False
    in_collision: bool = False
    force: float = nan
    force_threshold: float = nan
    response_time: float = nan
    wrench: Array = field(default_factory=lambda: unknown(6))
    contacts: Sequence[TrackedContact] = ()
    beliefs: Sequence[LinkBelief] = ()
    warnings: Sequence[str] = ()
    joint_names: Sequence[str] = ()
    joint_residuals: Array = field(default_factory=lambda: unknown(0))
    joint_thresholds: Array = field(default_factory=lambda: unknown(0))
    is_stalled: Sequence[bool] = ()


def contact_record(
    stamp: int,
    detections: Sequence[Detection],
    contacts: Sequence[TrackedContact],
    sensitivity: Sensitivity = UNKNOWN,
    beliefs: Sequence[LinkBelief] = (),
    warnings: Sequence[str] = (),
) -> ContactRecord:
    """Returns the state by the newest detections of the sources and their contacts.

    detections: one per source, at least one. If none is available, all measurements are NaN.
    sensitivity: of the most sensitive source. beliefs: one per link and source.
    """
    known = [detection for detection in detections if detection.is_contact is not None]
    of_joints = next((each for each in reversed(detections) if each.joint_names), None)
    found = ContactRecord(
        stamp,
        source_of(known or detections),
        force_threshold=sensitivity.force,
        response_time=sensitivity.response_time,
        beliefs=beliefs,
        warnings=tuple(dict.fromkeys(warnings)),
    )
    values = dict(vars(found))
    if of_joints is not None:
        values |= {
            'joint_names': of_joints.joint_names,
            'joint_residuals': of_joints.residuals,
            'joint_thresholds': of_joints.thresholds,
            'is_stalled': of_joints.is_stalled,
        }
    if known:
        best = strongest(known)
        values |= {
            'is_known': True,
            'in_contact': bool(contacts) or any(d.is_contact for d in known),
            'in_collision': any(not contact.is_expected for contact in contacts),
            'force': best.force,
            'wrench': best.wrench,
            'contacts': contacts,
        }
    else:
        reasons = (f'{name_of(d.source)}: {d.unavailable}' for d in detections)
        values['unavailable'] = '; '.join(dict.fromkeys(reasons))
    return ContactRecord(**values)


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
