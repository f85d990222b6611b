# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The slow drift of a force-torque sensor's bias, followed in free space only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.sensing.contact.wrench.block import WrenchBlock
from frame_ros.sensing.contact.wrench.options import WrenchOptions

Array = NDArray[np.float64]


class BiasDrift:
    """Moves the bias towards the reading in free space, with a time constant and a largest rate.

    Nothing moves in contact, near it (a share of the threshold), while something is held, and for a
    guard time after these. A real contact is absorbed as follows: one that grows more slowly than
    the largest rates (0.002 N/s and 0.0002 N m/s unless set otherwise) is never seen; one that
    stays below the near-contact share is absorbed with the time constant, at most at those rates;
    of any other, nothing once it is near contact.
    """

    def __init__(self, settings: WrenchOptions) -> None:
        self._time = settings.drift_time
        self._below = settings.drift_below
        self._guard = int(settings.drift_guard * SECOND)
        rates = [settings.drift_force_rate] * 3 + [settings.drift_torque_rate] * 3
        self._rates = np.array(rates)
        self._free_from: int | None
        self._last_end: int | None
        self.reset()

    def reset(self) -> None:
        """Forgets all samples, and the time from which to track."""
        self._free_from = self._last_end = None

    def hold(self, stamp: int) -> None:
        """Pauses until the guard time after `stamp`, ns."""
        self._free_from = stamp + self._guard
        self._last_end = None

    def update(self, block: WrenchBlock, bias: Array) -> Array:
        """Returns the bias (6,) after a block, from that before."""
        if block.is_contact or block.worst > self._below or block.is_holding:
            self.hold(block.end)
            return bias
        begun, self._last_end = self._last_end, block.end
        if self._free_from is not None and block.start < self._free_from:
            return bias
        time = (block.end - (block.start if begun is None else begun)) / SECOND
        step = (block.readings.mean(axis=0) - bias) * min(time / self._time, 1.0)
        most = self._rates * time
        return bias + np.clip(step, -most, most)
