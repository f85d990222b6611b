# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The steps of an episode at which the contact state was known, and the collisions at these."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.episodes.episode import Episode


@dataclass(frozen=True)
class ContactSensing:
    """is_sensed: whether contact was sensed at any of the `steps` steps. lost: steps behind the
    first such at which it was not. lost_from: (K,) stamps in ns at which it was lost.
    """

    is_sensed: bool
    steps: int
    lost: int
    lost_from: NDArray[np.int64]


def contact_sensing(episode: Episode) -> ContactSensing:
    """Returns at which steps contact was sensed, by the recomputed safety metrics.

    Steps before the first contact message are no loss: the sensor's period is longer than a step.
    """
    safety = episode.metrics.get('safety', {})
    is_sensed = np.asarray(safety.get('is_contact_sensed', ()), dtype=bool)
    if not is_sensed.any():
        return ContactSensing(False, len(is_sensed), 0, np.empty(0, np.int64))
    first = int(is_sensed.argmax())
    is_lost = ~is_sensed[first:]
    begins = np.flatnonzero(is_lost[1:] & ~is_lost[:-1]) + 1
    lost_from = np.asarray(safety['stamp'], dtype=np.int64)[first:][begins]
    return ContactSensing(True, len(is_sensed), int(is_lost.sum()), lost_from)


def collisions(episode: Episode) -> int | None:
    """Returns how many there were; None where contact was not sensed."""
    is_sensed = contact_sensing(episode).is_sensed
    return int(episode.last('safety', 'collisions')) if is_sensed else None
