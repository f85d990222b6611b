# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The least force that a contact sensor feels at a moment, and how long it must last."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite, nan

# Time constants in which a first-order filter reaches FELT of a constant force.
SETTLED = 3.0
FELT = 0.95


@dataclass(frozen=True)
class Sensitivity:
    """force: N at the tip that counts as contact, in the direction that is felt best; NaN if it is
    not known. response_time: s for which that force must last to be felt (to 95 %) and to count.
    """

    force: float = nan
    response_time: float = nan


UNKNOWN = Sensitivity()


def best_of(found: Iterable[Sensitivity]) -> Sensitivity:
    """The one that feels the least force; UNKNOWN if none is known."""
    known = [each for each in found if isfinite(each.force)]
    return min(known, key=lambda each: each.force, default=UNKNOWN)
