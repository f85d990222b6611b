# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The least force that a contact sensor detects at a moment, and its least duration."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite, nan

# Time constants in which a first-order filter reaches FELT of a constant force.
SETTLED = 3.0
FELT = 0.95


@dataclass(frozen=True)
class Sensitivity:
    """A detection limit.

    Attributes:
        force: N at the tip that counts as contact, in the most sensitive direction; NaN if unknown.
        response_time: s for which that force must last to be felt (to 95 %) and to count.
    """

    force: float = nan
    response_time: float = nan


UNKNOWN = Sensitivity()


def best_of(found: Iterable[Sensitivity]) -> Sensitivity:
    """Returns the most sensitive one; UNKNOWN if none is known."""
    known = [each for each in found if isfinite(each.force)]
    return min(known, key=lambda each: each.force, default=UNKNOWN)
