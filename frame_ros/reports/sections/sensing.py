# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The contacts of an episode, and the stretches in which contact and proximity were not known."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

from frame_ros.bags.reader import Bag
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.sensed_contacts import (
    CameraCheck,
    RecordedContact,
    sensed_contacts,
)
from frame_ros.reports.model.numbers import counted, readable
from frame_ros.reports.sections.section import EpisodeSection, as_row
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


class SensingSection(EpisodeSection):
    """The contacts of one episode and what was not known of contact and proximity; times in s since
    START.
    """

    key = 'sensing'

    def __init__(self, episode: Episode, bag: Bag | None) -> None:
        super().__init__(episode, bag)
        self.found = sensed_contacts(episode, bag)
        found = self.found
        self.is_shown = bool(found.contacts is not None or found.outages or found.cameras)

    @cached_property
    def data(self) -> dict[str, Any]:
        """contacts: one by one, null where no contact events were recorded; outages: stretches in
        which a sensor says why it does not know; cameras: what the calibration check found.
        """
        found = self.found
        return {
            'contacts': None
            if found.contacts is None
            else [_contact(contact, found.begin) for contact in found.contacts],
            'outages': [
                as_row(outage, found.begin, 'sensor', 'reason', 'begin', 'end')
                for outage in found.outages
            ],
            'cameras': [
                {**vars(check), 'unavailable': check.unavailable or None} for check in found.cameras
            ],
        }

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The contacts that the page has room for."""
        return (self.data['contacts'] or [])[:MOST_ROWS]

    @property
    def left_out(self) -> int:
        """The number of contacts that are in the JSON only."""
        return len(self.data['contacts'] or []) - len(self.rows)

    @property
    def outages(self) -> list[dict[str, Any]]:
        """By sensor and reason: how often and for how long, the longest first."""
        groups: dict[tuple[str, str], list[float]] = {}
        for outage in self.found.outages:
            groups.setdefault((outage.sensor, outage.reason), []).append(outage.duration)
        rows = [
            {'sensor': sensor, 'reason': reason, 'times': len(own), 'seconds': sum(own)}
            for (sensor, reason), own in groups.items()
        ]
        return sorted(rows, key=lambda row: -float(row['seconds']))[:MOST_ROWS]

    @property
    def cameras(self) -> list[str]:
        """Results of the calibration check of each camera, in words."""
        return [_camera_sentence(check) for check in self.found.cameras]

    @property
    def sentence(self) -> str:
        """The number of contacts, in words."""
        contacts, unexpected = self.found.contacts, self.found.unexpected
        if contacts is None:
            return 'No contact events were recorded.'
        if not contacts:
            return 'The robot touched nothing.'
        words = 'none of them unexpected' if not unexpected else f'{unexpected} of them unexpected'
        return f'{counted(len(contacts), "contact")}, {words}.'


def _contact(contact: RecordedContact, start: int) -> dict[str, Any]:
    own = ('begin', 'duration', 'link', 'other', 'is_expected', 'reason', 'peak_force', 'impulse')
    is_placed = all(map(math.isfinite, contact.position))
    return {
        **as_row(contact, start, *own),
        'position': contact.position if is_placed else None,
        'frame': contact.frame,
        'source': SOURCE_WORDS[contact.source],
        'is_open': contact.is_open,
        'is_cut': contact.is_cut,
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
