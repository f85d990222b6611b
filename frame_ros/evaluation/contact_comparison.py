# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Comparison of sensed contacts with the simulator's true ones."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from frame_ros.bags.reader import Bag
from frame_ros.core.time import SECOND
from frame_ros.episodes.contact_sensitivity import RecordedSensitivity, recorded_sensitivity
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.recorded.robot import known_robot
from frame_ros.episodes.sensed_contacts import RecordedContact, namespace_of, sensed_contacts
from frame_ros.episodes.true_contacts import TOPIC as CONTACT_TOPIC
from frame_ros.episodes.true_contacts import TrueContacts, true_contacts
from frame_ros.evaluation.missed_contacts import MissedContact, missed_contact
from frame_ros.robots.hand_links import hand_links

# s by which a sensed contact may begin before, or behind, a true one: of sampling and filtering.
TOLERANCE = 0.1
# s by which a sensed contact may be longer than the true one.
LARGEST_EXCESS = 0.1
# Least share of a sensed force that the net force of true, expected contacts must have to explain
# it. An estimate from joint efforts is a lower bound of the true force.
FORCE_SHARE = 0.25


class Verdict(StrEnum):
    """The truth's verdict on a sensed contact, in the words of a report."""

    KNOWN = 'known'
    OVERLONG = 'overlong'
    OTHER_SIDE = 'on the other side'
    FALSE = 'false'
    FALSE_COLLISION = 'false collision'


@dataclass(frozen=True)
class ContactMatch:
    """A sensed contact and the true ones of its time: on its link if any, else on its side, else
    all.

    Attributes:
        true_force: N, largest net force of all true contacts in that time.
        excess: s by which the sensed contact is longer than the true ones, whose pauses count up to
            twice the tolerance; NaN without any.
        is_known: whether there is a true contact of that force.
        is_collision: whether there is a true collision at that time.
        is_on_side: whether a true contact is on the side, arm or hand, of the named link; true if
            the sensor names none.
    """

    sensed: RecordedContact
    true: tuple[RecordedContact, ...]
    true_force: float
    excess: float
    is_known: bool
    is_collision: bool
    is_on_side: bool

    @property
    def verdict(self) -> Verdict:
        """The gravest error of it."""
        if not self.is_known:
            return Verdict.FALSE
        if not self.sensed.is_expected and not self.is_collision:
            return Verdict.FALSE_COLLISION
        if not self.is_on_side:
            return Verdict.OTHER_SIDE
        return Verdict.OVERLONG if self.is_overlong else Verdict.KNOWN

    @property
    def is_overlong(self) -> bool:
        """True if it is longer than truth by more than LARGEST_EXCESS."""
        return self.is_known and self.excess > LARGEST_EXCESS


@dataclass(frozen=True)
class ContactComparison:
    """The comparison of an episode's contacts.

    Attributes:
        matches: one per sensed contact, in their order.
        unsensed: true contacts of whose time nothing was sensed, and why.
        excused: true collisions that the sensor could have felt, at whose time only expected
            contacts were sensed.
    """

    matches: tuple[ContactMatch, ...]
    unsensed: tuple[MissedContact, ...]
    excused: tuple[MissedContact, ...] = ()

    @property
    def missed(self) -> tuple[MissedContact, ...]:
        """Unsensed contacts that the sensor could have felt, as far as is known."""
        return tuple(each for each in self.unsensed if each.could_be_felt)

    @property
    def false(self) -> tuple[ContactMatch, ...]:
        """Sensed contacts without a true one."""
        return self.of(Verdict.FALSE)

    @property
    def false_collisions(self) -> tuple[ContactMatch, ...]:
        """Sensed collisions that are only expected contacts in truth."""
        return self.of(Verdict.FALSE_COLLISION)

    def of(self, verdict: Verdict) -> tuple[ContactMatch, ...]:
        """Returns sensed contacts with a verdict."""
        return tuple(match for match in self.matches if match.verdict is verdict)

    @property
    def overlong(self) -> tuple[ContactMatch, ...]:
        """Sensed contacts that are longer than the true ones."""
        return tuple(match for match in self.matches if match.is_overlong)


def compared_contacts(episode: Episode, bag: Bag | None) -> ContactComparison | None:
    """Sensed contacts against true ones; None where no truth was recorded, contact was not sensed,
    or the truth is what the metrics used.
    """
    truth, sensed = true_contacts(episode, bag), sensed_contacts(episode, bag).contacts
    is_sensed = sensed is not None or 'contact' in episode.streams
    topic = f'{namespace_of(episode)}/{CONTACT_TOPIC}'
    if truth is None or not is_sensed or _is_used(episode, topic):
        return None
    robot = known_robot(episode)
    hand = hand_links(robot) if robot is not None else ()
    return compare_contacts(sensed or (), truth, recorded_sensitivity(episode, bag), hand)


def compare_contacts(
    sensed: Sequence[RecordedContact],
    truth: TrueContacts,
    sensitivity: RecordedSensitivity | None = None,
    hand: Collection[str] = (),
    tolerance: float = TOLERANCE,
) -> ContactComparison:
    """Compares the sensed contacts of an episode with the true ones.

    A true contact belongs to the time of a sensed one if they overlap, or lie no further apart than
    the tolerance, s. An unexpected one explains anything sensed at its time; expected ones, such as
    a grasp, explain a force up to 1 / FORCE_SHARE of their net force: a hand that holds an object
    must not excuse a collision of the arm. A sensed collision is one only if there is a true one at
    that time.

    If the sensor names a link, it is compared with the true ones by side: the hand, or the arm
    before it. Joint efforts cannot separate links better than that, and a wrench names none.

    Args:
        sensitivity: of the sensor, which shows whether an unsensed contact could have been sensed;
            None: unknown.
        hand: links of the hand, see `hand_links`; empty: sides are not compared.
    """
    margin = round(tolerance * SECOND)
    matches = tuple(_match(contact, truth, frozenset(hand), margin) for contact in sensed)
    unsensed = tuple(
        missed_contact(contact, truth, sensitivity)
        for contact in truth.contacts
        if not any(_meet(contact, other, margin) for other in sensed)
    )
    collisions = [contact for contact in sensed if not contact.is_expected]
    excused = (
        missed_contact(true, truth, sensitivity)
        for true in truth.contacts
        if not true.is_expected
        and any(_meet(true, other, margin) for other in sensed)
        and not any(_meet(true, other, margin) for other in collisions)
    )
    return ContactComparison(matches, unsensed, tuple(e for e in excused if e.could_be_felt))


def _is_used(episode: Episode, topic: str) -> bool:
    stream = episode.streams.get('contact')
    return stream is not None and stream.topic == topic


def _match(
    sensed: RecordedContact, truth: TrueContacts, hand: frozenset[str], margin: int
) -> ContactMatch:
    near = tuple(contact for contact in truth.contacts if _meet(contact, sensed, margin))
    on_side = tuple(c for c in near if _are_on_one_side(c.link, sensed.link, hand))
    own = tuple(c for c in near if c.link == sensed.link) or on_side or near
    force = truth.largest_force(sensed.begin - margin, sensed.end + margin)
    is_explained = math.isnan(sensed.peak_force) or force >= FORCE_SHARE * sensed.peak_force
    return ContactMatch(
        sensed, own, force, _excess(sensed, own, margin),
        any(not contact.is_expected or is_explained for contact in near),
        any(not contact.is_expected for contact in near),
        bool(on_side),
    )  # fmt: skip


def _are_on_one_side(first: str, second: str, hand: frozenset[str]) -> bool:
    return not (hand and first and second) or (first in hand) == (second in hand)


def _excess(sensed: RecordedContact, true: Sequence[RecordedContact], margin: int) -> float:
    if not true:
        return math.nan
    return max(0.0, sensed.duration - _touched(true, 2 * margin) / SECOND)


def _touched(contacts: Sequence[RecordedContact], bridged: int) -> int:
    """Returns ns of contact, with pauses no longer than `bridged`."""
    total, last = 0, None
    for contact in sorted(contacts, key=lambda contact: contact.begin):
        begin = contact.begin if last is None or contact.begin > last + bridged else last
        total += max(0, contact.end - begin)
        last = contact.end if last is None else max(last, contact.end)
    return total


def _meet(first: RecordedContact, second: RecordedContact, margin: int) -> bool:
    return first.begin <= second.end + margin and second.begin <= first.end + margin
