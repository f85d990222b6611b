# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""An arm that stands by its commands, so that only an external force moves it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND

Array = NDArray[np.float64]
SAME = 1e-3  # rad within which a command is the same
SETTLED = round(0.3 * SECOND)  # ns after the last change of a command
STEADY = round(0.2 * SECOND)  # ns of one residual, three time constants of the observer


class StandingArm:
    """An arm all of whose joints have come to stick while their commands stay the same.

    From then on nothing moves a joint but a force from outside, until the command changes: what is
    unexplained needs no allowance for breaking away, reversals or speed. Without commands that is
    not known. An error of the friction model that stays as it is, is none of that: once it has been
    the same for STEADY, without contact, it is what the gears hold (`is_steady`). In the play of a
    gear a joint swings on when its motor has come to rest, and seems to stick where it turns back:
    with play all joints must stick for STEADY.

    Attributes:
        stands: whether it does.
        is_steady: whether what is unexplained has not changed since it came to stick.
    """

    def __init__(self, play: float = 0.0) -> None:
        """play: rad, of the gears."""
        self._least_stuck = STEADY if play > 0.0 else 0
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self.stands = self.is_steady = False
        self._command: Array | None = None
        self._residual: Array | None = None
        self._since = self._steady_since = self._stuck_since = 0

    def update(
        self, stamp: int, command: Array | None, residual: Array, least: Array, is_stuck: bool
    ) -> bool:
        """Takes a sample; returns `stands`.

        Args:
            stamp: ns.
            command: (N,) rad; None, or NaN of a joint: unknown.
            residual: (N,) N m that are unexplained.
            least: (N,) N m of it, and of its changes, that are nothing.
            is_stuck: whether all joints stick, and there is no contact.
        """
        if command is None or not math.isfinite(np.add.reduce(command)):
            self.reset()
            return False
        if self._command is None or np.abs(command - self._command).max() > SAME:
            self._command, self._since, self.stands = command, stamp, False
            self._stuck_since = stamp
        changes = self._residual is None or bool((np.abs(residual - self._residual) > least).any())
        if changes or not is_stuck:
            self._residual, self._steady_since = residual, stamp
        if not is_stuck:
            self._stuck_since = stamp
        waited = stamp - self._since >= SETTLED
        self.is_steady = waited and stamp - self._steady_since >= STEADY
        rests = is_stuck and stamp - self._stuck_since >= self._least_stuck
        if waited and rests and bool((np.abs(residual) < least).all()):
            self.stands = True
        return self.stands
