# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Sensed contacts of an episode beside the simulator's true ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from frame_ros.episodes.contact_sensitivity import RecordedSensitivity
from frame_ros.episodes.sensed_contacts import RecordedContact
from frame_ros.episodes.true_contacts import TrueContacts
from frame_ros.evaluation.missed_contacts import MissedContact, missed_contact

SECOND = 1_000_000_000
# s by which a sensed contact may begin before, or behind, a true one: of sampling and filtering.
TOLERANCE = 0.1
# s by which a sensed contact may be longer than the true one.
LARGEST_EXCESS = 0.1
# Least share of a sensed force that the net force of true, expected contacts must have to explain
# it. An estimate from joint efforts is a lower bound of the true force.
FORCE_SHARE = 0.25


@dataclass(frozen=True)
class ContactMatch:
    """A sensed contact and the true ones of its time, those on its link if there are any.

    true_force: N, largest net force of all true contacts in that time. excess: s by which the
    sensed contact is longer than the true ones, whose pauses count up to twice the tolerance; NaN
    without any. is_known: whether truth explains it.
    """

    sensed: RecordedContact
    true: tuple[RecordedContact, ...]
    true_force: float
    excess: float
    is_known: bool

    @property
    def is_overlong(self) -> bool:
        """Whether it is longer than truth by more than LARGEST_EXCESS."""
        return self.is_known and self.excess > LARGEST_EXCESS

    @property
    def is_on_link(self) -> bool:
        """Whether a true contact of its time is on the link that it names."""
        return any(contact.link == self.sensed.link for contact in self.true)


@dataclass(frozen=True)
class ContactComparison:
    """matches: one per sensed contact, in their order. unsensed: true contacts of whose time
    nothing was sensed, and why.
    """

    matches: tuple[ContactMatch, ...]
    unsensed: tuple[MissedContact, ...]

    @property
    def missed(self) -> tuple[MissedContact, ...]:
        """Of the unsensed ones, those that the sensor could have felt, for all that is known."""
        return tuple(each for each in self.unsensed if each.could_be_felt)

    @property
    def false(self) -> tuple[ContactMatch, ...]:
        """Sensed contacts that truth does not know."""
        return tuple(match for match in self.matches if not match.is_known)

    @property
    def overlong(self) -> tuple[ContactMatch, ...]:
        """Sensed contacts that are longer than the true ones."""
        return tuple(match for match in self.matches if match.is_overlong)


def compare_contacts(
    sensed: Sequence[RecordedContact],
    truth: TrueContacts,
    sensitivity: RecordedSensitivity | None = None,
    tolerance: float = TOLERANCE,
) -> ContactComparison:
    """Compares the sensed contacts of an episode with the true ones.

    A true contact belongs to the time of a sensed one if they overlap, or lie no further apart than
    the tolerance, s. One that is not expected explains whatever is sensed at its time; expected
    ones, such as a grasp, explain a force up to 1 / FORCE_SHARE of the net force that they had:
    a hand that holds an object must not excuse a collision of the arm. sensitivity: of the sensor,
    which says of each true contact that was not sensed whether it could have been; None: not known.
    """
    margin = round(tolerance * SECOND)
    matches = tuple(_match(contact, truth, margin) for contact in sensed)
    unsensed = tuple(
        missed_contact(contact, truth, sensitivity)
        for contact in truth.contacts
        if not any(_meet(contact, other, margin) for other in sensed)
    )
    return ContactComparison(matches, unsensed)


def _match(sensed: RecordedContact, truth: TrueContacts, margin: int) -> ContactMatch:
    near = [contact for contact in truth.contacts if _meet(contact, sensed, margin)]
    own = tuple(c for c in near if c.link == sensed.link) or tuple(near)
    force = truth.largest_force(sensed.begin - margin, sensed.end + margin)
    is_explained = math.isnan(sensed.peak_force) or force >= FORCE_SHARE * sensed.peak_force
    return ContactMatch(
        sensed, own, force, _excess(sensed, own, margin),
        any(not contact.is_expected or is_explained for contact in near),
    )  # fmt: skip


def _excess(sensed: RecordedContact, true: Sequence[RecordedContact], margin: int) -> float:
    if not true:
        return math.nan
    return max(0.0, sensed.duration - _touched(true, 2 * margin) / SECOND)


def _touched(contacts: Sequence[RecordedContact], bridged: int) -> int:
    """ns in which one of the contacts went on; pauses no longer than `bridged` count as contact."""
    total, last = 0, None
    for contact in sorted(contacts, key=lambda contact: contact.begin):
        begin = contact.begin if last is None or contact.begin > last + bridged else last
        total += max(0, contact.end - begin)
        last = contact.end if last is None else max(last, contact.end)
    return total


def _meet(first: RecordedContact, second: RecordedContact, margin: int) -> bool:
    return first.begin <= second.end + margin and second.begin <= first.end + margin
