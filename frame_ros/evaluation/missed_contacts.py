# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Reasons for unsensed true contacts: too weak or too short for the sensor, or missed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import nan

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.episodes.contact_sensitivity import RecordedSensitivity
from frame_ros.episodes.sensed_contacts import RecordedContact
from frame_ros.episodes.true_contacts import TrueContacts
from frame_ros.sensing.contact.sensitivity import FELT

Array = NDArray[np.float64]


class WhyMissed(StrEnum):
    """The reason for an unsensed true contact, in the words of a report."""

    TOO_WEAK = 'too weak'
    TOO_SHORT = 'too short'
    MISSED = 'missed'
    UNKNOWN = 'not sensed'


@dataclass(frozen=True)
class MissedContact:
    """A true contact of whose time nothing was sensed.

    Attributes:
        why: TOO_WEAK, the net force never reached the sensor's limit; TOO_SHORT, not for long
            enough; MISSED, it could have been felt; UNKNOWN, the bag does not hold the sensor's
            limit.
        net_force: N, the largest net force of all true contacts in its time: of two fingers that
            squeeze an object nothing is left over.
        lasting_force: N, the largest that lasted for response_time, s.
        threshold: N, of the sensor at that moment. NaN if unknown.
    """

    true: RecordedContact
    why: WhyMissed
    net_force: float
    lasting_force: float = nan
    threshold: float = nan
    response_time: float = nan

    @property
    def could_be_felt(self) -> bool:
        """True if the sensor must have felt it, as far as is known."""
        return self.why in (WhyMissed.MISSED, WhyMissed.UNKNOWN)


def missed_contact(
    true: RecordedContact, truth: TrueContacts, sensitivity: RecordedSensitivity | None
) -> MissedContact:
    """Compares the net force in the time of a true contact with the sensor's limit then."""
    first, last = np.searchsorted(truth.stamps, (true.begin, true.end + 1))
    forces = truth.forces[first:last]
    largest = float(forces.max(initial=0.0))
    if sensitivity is None or not len(forces):
        return MissedContact(true, WhyMissed.UNKNOWN, largest)
    stamps = truth.stamps[first:last]
    thresholds, times = sensitivity.at(stamps)
    shares = FELT * forces / thresholds
    if not np.isfinite(shares).any():
        return MissedContact(true, WhyMissed.UNKNOWN, largest)
    # Each sample stands for the time until the next.
    ends = np.append(truth.stamps[first + 1 : last + 1], true.end)[: len(stamps)]
    lasting = _lasting(stamps, ends, np.nan_to_num(shares), np.nan_to_num(times))
    if lasting is None:
        row, why = int(np.nanargmax(shares)), WhyMissed.TOO_SHORT
    else:
        row, why = lasting, WhyMissed.MISSED
    if not (shares >= 1.0).any():
        why = WhyMissed.TOO_WEAK
    elif shares[row] < 1.0:
        why = WhyMissed.TOO_SHORT
    return MissedContact(
        true, why, largest, nan if lasting is None else float(forces[row]),
        float(thresholds[row]), float(times[row]),
    )  # fmt: skip


def _lasting(
    stamps: NDArray[np.int64], ends: NDArray[np.int64], shares: Array, times: Array
) -> int | None:
    """The weakest sample of the strongest stretch that lasts as long as its first sample's time, s;
    None if all together are shorter.
    """
    best, found = -1.0, None
    for begin, stamp in enumerate(stamps.tolist()):
        end = int(np.searchsorted(ends, stamp + round(times[begin] * SECOND)))
        if end >= len(ends):
            break
        stretch = shares[begin : end + 1]
        if (least := float(stretch.min())) > best:
            best, found = least, begin + int(stretch.argmin())
    return found
