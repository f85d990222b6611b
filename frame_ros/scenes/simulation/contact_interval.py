# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The true contacts of an interval as one reading, including any impact between two readings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from frame_ros.scenes.simulation.contacts import Contact

Array = NDArray[np.float64]


@dataclass(frozen=True)
class IntervalContacts:
    """contacts: each pair that touched in the interval, as it was last, unexpected if it ever was;
    peak_force is that of all instants since the pair began. force, torque: (3,) N and N m about the
    base's origin, net of all contacts, on average over the instants.
    """

    contacts: tuple[Contact, ...]
    force: Array
    torque: Array


class ContactInterval:
    """Collects the contacts of instants that follow each other until they are taken."""

    def __init__(self) -> None:
        self._peaks: dict[tuple[str, str], float] = {}
        self._clear()

    def _clear(self) -> None:
        self._pairs: dict[tuple[str, str], Contact] = {}
        self._wrench = np.zeros(6)
        self._count = 0

    def add(self, contacts: Sequence[Contact]) -> None:
        """Takes the contacts of one instant."""
        self._count += 1
        now = {(contact.link, contact.other): contact for contact in contacts}
        self._peaks = {
            pair: max(contact.force, self._peaks.get(pair, 0.0)) for pair, contact in now.items()
        }
        for pair, contact in now.items():
            before = self._pairs.get(pair)
            if before is not None and not before.is_expected:
                contact = replace(contact, is_expected=False, reason=before.reason)
            self._pairs[pair] = replace(contact, peak_force=self._peaks[pair])
            self._wrench += np.concatenate((contact.net_force, contact.net_torque))

    def take(self) -> IntervalContacts:
        """Returns those since the last time; none without an instant."""
        mean = self._wrench / max(self._count, 1)
        found = IntervalContacts(
            tuple(self._pairs[pair] for pair in sorted(self._pairs)), mean[:3], mean[3:]
        )
        self._clear()
        return found
