# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""True contacts of an episode, if recorded by the simulator."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.reader import Bag
from frame_ros.core.errors import BagError
from frame_ros.core.time import SECOND, stamp_ns
from frame_ros.episodes.bounds import bounds_of
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.sensed_contacts import RecordedContact, cut, namespace_of
from frame_ros.sensing.contact.source import ContactSource

TOPIC = 'ground_truth/contact'
STATE_TYPE = 'frame_ros/msg/ContactState'


@dataclass(frozen=True)
class TrueContacts:
    """True contacts by their begin, cut to the episode."""

    begin: int  # of the episode, ns
    end: int  # of the episode, ns
    contacts: tuple[RecordedContact, ...]
    stamps: NDArray[np.int64]  # (T,) ns of the truth's samples
    forces: NDArray[np.float64]  # (T,) N, norm of the net force of all contacts at each

    def largest_force(self, begin: int, end: int) -> float:
        """Returns the largest net force, N, within [begin, end], ns; 0 without a sample there."""
        first, last = np.searchsorted(self.stamps, (begin, end + 1))
        return float(self.forces[first:last].max(initial=0.0))


def true_contacts(episode: Episode, bag: Bag | None) -> TrueContacts | None:
    """Returns the contacts under ground_truth/contact; None if nothing was recorded. The duration
    of each contact dates its begin exactly; its end is exact to one sample.
    """
    topic = f'{namespace_of(episode)}/{TOPIC}'
    if bag is None or topic not in bag.topics or bag.topics[topic].message_type != STATE_TYPE:
        return None
    try:
        messages = [message for _, message in bag.messages(topic)]
    except BagError as error:
        if str(error) not in episode.problems:
            episode.problems.append(str(error))
        return None
    messages.sort(key=lambda message: stamp_ns(message.header.stamp))
    begin, end = bounds_of(episode)
    found = [cut(c, begin, end) for c in _contacts(messages) if c.end >= begin and c.begin <= end]
    found.sort(key=lambda contact: (contact.begin, contact.number))
    stamps = np.array([stamp_ns(message.header.stamp) for message in messages], np.int64)
    forces = np.nan_to_num([message.force for message in messages])
    return TrueContacts(begin, end, tuple(found), stamps, forces)


def _contacts(messages: list[Any]) -> list[RecordedContact]:
    """Returns one per stretch in which the same link touches the same object, expected or not."""
    running: dict[tuple[str, str], RecordedContact] = {}
    found: list[RecordedContact] = []
    for message in messages:
        stamp = stamp_ns(message.header.stamp)
        now: dict[tuple[str, str], RecordedContact] = {}
        for row in range(len(message.links)):
            contact = _contact(message, row, stamp, len(found) + len(running) + row)
            pair = contact.link, contact.other
            before = running.get(pair)
            if before is not None and contact.begin <= before.end:
                if before.is_expected == contact.is_expected:
                    contact = _continued(before, contact)
                    running.pop(pair)
                else:
                    contact = replace(contact, begin=before.end)
            now[pair] = contact
        found += running.values()
        running = now
    return [*found, *(replace(contact, is_open=True) for contact in running.values())]


def _contact(message: Any, row: int, stamp: int, number: int) -> RecordedContact:
    duration = float(message.durations[row]) if row < len(message.durations) else 0.0
    position = message.positions[row]
    return RecordedContact(
        stamp - round(max(duration, 0.0) * SECOND), stamp, number, ContactSource.SIMULATOR,
        str(message.links[row]), str(message.others[row]), bool(message.is_expected[row]),
        str(message.reasons[row]), float(message.peak_forces[row]), math.nan,
        (float(position.x), float(position.y), float(position.z)), str(message.header.frame_id),
    )  # fmt: skip


def _continued(before: RecordedContact, now: RecordedContact) -> RecordedContact:
    return replace(
        now,
        begin=before.begin,
        number=before.number,
        peak_force=max(before.peak_force, now.peak_force),
    )
