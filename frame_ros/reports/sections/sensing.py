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
    RecordedContact,
    sensed_contacts,
)
from frame_ros.episodes.unseen_shares import partial_distances
from frame_ros.reports.sections.section import EpisodeSection, as_row
from frame_ros.sensing.contact.source import ContactSource

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
        self.partial = partial_distances(episode.streams.get('proximity'), found.begin, found.end)
        is_sensed = found.contacts is not None or found.outages or found.cameras
        self.is_shown = bool(is_sensed or self.partial)

    @cached_property
    def data(self) -> dict[str, Any]:
        """contacts: one by one, null where no contact events were recorded; outages: stretches in
        which a sensor says why it does not know; cameras: what the calibration check found;
        partial: share of the distances that are partial, and m, median, to the nearest place not
        seen (infinite: null); null where that is not known.
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
            'partial': None if self.partial is None else vars(self.partial),
        }

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
        return sorted(rows, key=lambda row: -float(row['seconds']))[: self.most_rows]


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
