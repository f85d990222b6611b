# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The last observations at the rate of the data that a policy was trained on."""

from __future__ import annotations

import threading
from collections import deque

from frame_ros.core.time import SECOND
from frame_ros.policies.protocol import Observation

# Frames kept for each that is taken: a control rate above the data's may pass more of them.
_KEPT_PER_STEP = 8


class ObservationHistory:
    """Observations by stamp; `add` may be called from another thread than `before`.

    In training, a policy with a history saw `steps` observations `period` s apart, and at the start
    of an episode the first one repeated. So where the observation of a time is missing, the next
    newer one replaces it: it means no motion, while an older one would mean a faster motion than
    the real one.
    """

    def __init__(self, steps: int, period: float) -> None:
        """steps: 1 or more. period: s."""
        self.steps, self.period = steps, period
        self._lock = threading.Lock()
        self._observations: deque[Observation] = deque(maxlen=_KEPT_PER_STEP * steps)

    def clear(self) -> None:
        """Forgets all."""
        with self._lock:
            self._observations.clear()

    def add(self, observation: Observation) -> None:
        """Keeps a reference. Of two with one stamp the last counts; a stamp before the newest means
        that the clock was reset, and all after it are forgotten.
        """
        with self._lock:
            while self._observations and self._observations[-1].stamp >= observation.stamp:
                self._observations.pop()
            self._observations.append(observation)

    def before(self, newest: Observation) -> list[Observation]:
        """The `steps` observations up to `newest`, oldest first. The one `period` earlier is the
        nearest to that time, if it is within half a period.
        """
        with self._lock:
            known = [entry for entry in self._observations if entry.stamp < newest.stamp]
        chosen = [newest]
        for lag in range(1, self.steps):
            wanted = newest.stamp - SECOND * self.period * lag
            nearest = min(known, key=lambda entry: abs(entry.stamp - wanted), default=newest)
            is_near = abs(nearest.stamp - wanted) <= 0.5e9 * self.period
            chosen.append(nearest if is_near else chosen[-1])
        return chosen[::-1]
