# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The distance from obstacles that is used: of the nearest seen, or the cautious bound."""

from __future__ import annotations

from math import isfinite, nan

NEAREST_SEEN, CAUTIOUS = 'nearest_seen', 'cautious'
BOUNDS = (NEAREST_SEEN, CAUTIOUS)
MEANING = (
    'the nearest that was seen, or cautious: the nearest place that was not seen, if that is nearer'
)


def bounded(distance: float, unobserved: float, bound: str) -> float:
    """Returns the distance to use, m; NaN if it is not known.

    Args:
        distance: m, to the nearest that was seen; NaN: nothing was.
        unobserved: m, to the nearest place that was not seen; infinite: none is near, NaN: not
            known.
        bound: one of BOUNDS.
    """
    if bound == NEAREST_SEEN or unobserved != unobserved:
        return distance
    if distance != distance:
        return unobserved if isfinite(unobserved) else nan
    return min(distance, unobserved)
