# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rate limits by stamps."""

from __future__ import annotations

from frame_ros.core.time import SECOND


class RateLimit:
    """Lets stamps through at a limited rate; a stream of that rate passes whole, with jitter."""

    def __init__(self, rate: float) -> None:
        """Sets the rate in Hz; 0 lets nothing through."""
        self._period = int(SECOND / rate) if rate > 0 else 0
        self._next = 0

    def is_due(self, stamp: int) -> bool:
        """Returns whether to act at this stamp (ns)."""
        if not self._period or stamp < self._next:
            return False
        # At most a tenth of a period of lateness is made up for, so that no stamp is much too
        # early.
        self._next = stamp + self._period - min(stamp - self._next, self._period // 10)
        return True

    def reset(self) -> None:
        """Starts again after the clock was set back."""
        self._next = 0
