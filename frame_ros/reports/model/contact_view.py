# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the robot touched, and when contact and proximity could not be told, for page and JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from frame_ros.bags.reader import Bag
from frame_ros.core.time import SECOND
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.sensed_contacts import (
    CameraCheck,
    Outage,
    RecordedContact,
    SensedContacts,
    sensed_contacts,
)
from frame_ros.reports.model.numbers import counted, finite, readable
from frame_ros.sensing.contact.source import ContactSource

MOST_ROWS = 200
SOURCE_WORDS = {
    ContactSource.UNKNOWN: '',
    ContactSource.SIMULATOR: 'simulator',
    ContactSource.WRENCH: 'force-torque sensor',
    ContactSource.JOINT_EFFORT: 'joint effort',
    ContactSource.ROBOT: 'the robot itself',
    ContactSource.FUSED: 'several sensors',
}


def contact_data(episode: Episode, bag: Bag | None) -> dict[str, Any]:
    """One episode for JSON, times in s since its START.

    contacts: one by one, null where no contact events were recorded; outages: stretches in which a
    sensor said why it could not tell; cameras: what the calibration check found.
    """
    found = sensed_contacts(episode, bag)
    contacts = found.contacts
    return {
        'contacts': None if contacts is None else [_contact(c, found.begin) for c in contacts],
        'outages': [_outage(outage, found.begin) for outage in found.outages],
        'cameras': [_camera(check) for check in found.cameras],
    }


def contact_view(episode: Episode, bag: Bag | None) -> dict[str, Any]:
    """What the template needs: `contacts`, None where there is nothing to say."""
    found = sensed_contacts(episode, bag)
    if found.contacts is None and not found.outages and not found.cameras:
        return {'contacts': None}
    rows = [_contact(contact, found.begin) for contact in found.contacts or ()]
    return {
        'contacts': {
            'sentence': _sentence(found),
            'rows': rows[:MOST_ROWS],
            'left_out': max(0, len(rows) - MOST_ROWS),
            'outages': _outage_rows(found.outages),
            'cameras': [_camera_sentence(check) for check in found.cameras],
        }
    }


def _contact(contact: RecordedContact, begin: int) -> dict[str, Any]:
    is_placed = all(map(math.isfinite, contact.position))
    return {
        'begin': (contact.begin - begin) / SECOND,
        'duration': contact.duration,
        'link': contact.link,
        'other': contact.other,
        'is_expected': contact.is_expected,
        'reason': contact.reason,
        'peak_force': finite(contact.peak_force),
        'impulse': finite(contact.impulse),
        'position': list(contact.position) if is_placed else None,
        'frame': contact.frame,
        'source': SOURCE_WORDS[contact.source],
        'is_open': contact.is_open,
        'is_cut': contact.is_cut,
    }


def _outage(outage: Outage, begin: int) -> dict[str, Any]:
    return {
        'sensor': outage.sensor,
        'reason': outage.reason,
        'begin': (outage.begin - begin) / SECOND,
        'end': (outage.end - begin) / SECOND,
    }


def _outage_rows(outages: Sequence[Outage]) -> list[dict[str, Any]]:
    """By sensor and reason: how often and for how long, the longest first."""
    groups: dict[tuple[str, str], list[Outage]] = {}
    for outage in outages:
        groups.setdefault((outage.sensor, outage.reason), []).append(outage)
    rows = [
        {
            'sensor': sensor,
            'reason': reason,
            'times': len(own),
            'seconds': sum(outage.duration for outage in own),
        }
        for (sensor, reason), own in groups.items()
    ]
    return sorted(rows, key=lambda row: -float(row['seconds']))[:MOST_ROWS]


def _camera(check: CameraCheck) -> dict[str, Any]:
    return {
        'camera': check.camera,
        'checked': check.checked,
        'misaligned': check.misaligned,
        'largest_translation': finite(check.largest_translation),
        'largest_rotation': finite(check.largest_rotation),
        'unavailable': check.unavailable or None,
    }


def _camera_sentence(check: CameraCheck) -> str:
    if not check.checked:
        return f'Camera {check.camera}: its calibration could not be checked ({check.unavailable}).'
    if not check.misaligned:
        return f'Camera {check.camera} saw the arm where kinematics puts it.'
    return (
        f'Camera {check.camera} was misaligned in {check.misaligned} of '
        f'{counted(check.checked, "check")}: by up to '
        f'{readable(1e3 * check.largest_translation, 2)} mm and '
        f'{readable(math.degrees(check.largest_rotation), 2)} degrees.'
    )


def _sentence(found: SensedContacts) -> str:
    if found.contacts is None:
        return 'No contact events were recorded.'
    if not found.contacts:
        return 'The robot touched nothing.'
    unexpected = found.unexpected
    words = 'none of them unexpected' if not unexpected else f'{unexpected} of them unexpected'
    return f'{counted(len(found.contacts), "contact")}, {words}.'
