# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Limits of rates by stamps."""

from __future__ import annotations

from frame_ros.core.stamps import SECOND


class RateLimit:
    """Lets stamps through at most at a rate; a stream of just that rate passes whole, jitter and
    all.
    """

    def __init__(self, rate: float) -> None:
        """`rate` in Hz; 0 lets nothing through."""
        self._period = int(SECOND / rate) if rate > 0 else 0
        self._next = 0

    def is_due(self, stamp: int) -> bool:
        """Whether to act at this stamp (ns)."""
        if not self._period or stamp < self._next:
            return False
        # Lateness is made up for by a tenth of the period at most, so that none is much early.
        self._next = stamp + self._period - min(stamp - self._next, self._period // 10)
        return True

    def reset(self) -> None:
        """Start anew: the clock was set back."""
        self._next = 0
