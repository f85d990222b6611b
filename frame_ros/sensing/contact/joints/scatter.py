# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Error of the residual from torques that change between samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class ResidualScatter:
    """The observer's residual deviation, (N,) N m, from the scatter of the torques behind it.

    An effort is measured at an instant, and stands for the whole interval before. Where commands
    come in coarse steps, late or in bunches, or stamps are not those of the measurement, the torque
    changes in between, and the unexplained part jumps back and forth between samples. An external
    force does not: it begins and ends once. So a change counts only as far as the previous one was
    as large; where samples are missing, all of it counts. Its square passes through the observer's
    filter like independent noise.
    """

    __slots__ = ('deviation', '_variance', '_torque', '_change', '_regular')

    def __init__(self, count: int) -> None:
        """count: of joints."""
        self._variance: Array = np.zeros(count)
        self.deviation: Array = np.zeros(count)
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self._variance = np.zeros_like(self._variance)
        self.deviation = self._variance
        self._torque: Array | None = None
        self._change: Array | None = None
        self._regular: Array | None = None

    def update(self, torque: Array, decay: Array, is_gap: bool) -> Array:
        """Takes a sample and returns `deviation`.

        Args:
            torque: (N,) N m, the unfiltered external torque of the interval.
            decay: (N,) share of the residual that its filter kept.
            is_gap: whether samples are missing before it.
        """
        change = None if self._torque is None else np.abs(torque - self._torque)
        variance = decay * decay * self._variance
        if change is not None and self._change is not None:
            regular = torque if self._regular is None else self._regular
            jump = np.abs(torque - regular) if is_gap else np.minimum(change, self._change)
            jump = (1.0 - decay) * jump
            variance += jump * jump
        if not is_gap or self._regular is None:
            self._regular = torque
        self._torque, self._change, self._variance = torque, change, variance
        self.deviation = np.sqrt(variance)
        return self.deviation
