# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Intervals between samples in which others are missing."""

from __future__ import annotations

from collections import deque
from statistics import median_low

MISSING = 1.5  # times the usual interval, from which samples are missing
LOOKED_AT = 9  # intervals whose median is the usual one: several may be long at once


class SampleGaps:
    """Tells intervals with missing samples from others, by the last ones.

    Attributes:
        is_gap: whether samples are missing in the newest interval; not at the beginning.
        usual: ns, the usual interval; 0: none yet.
    """

    __slots__ = ('is_gap', 'usual', '_intervals')

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self.is_gap = False
        self.usual = 0
        self._intervals: deque[int] = deque(maxlen=LOOKED_AT)

    def update(self, interval: int) -> bool:
        """Takes the interval between the last two samples, ns; returns `is_gap`."""
        known = self._intervals
        self.is_gap = bool(known) and interval > MISSING * self.usual
        known.append(interval)
        self.usual = median_low(known)
        return self.is_gap
