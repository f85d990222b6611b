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


class StandingArm:
    """An arm all of whose joints have come to stick while their commands stay the same.

    From then on nothing moves a joint but a force from outside, until the command changes: what is
    unexplained needs no allowance for breaking away, reversals or speed. Without commands that is
    not known.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self.stands = False
        self._command: Array | None = None
        self._since = 0

    def update(self, stamp: int, command: Array | None, is_quiet: bool) -> bool:
        """Takes a sample; returns `stands`.

        Args:
            stamp: ns.
            command: (N,) rad; None, or NaN of a joint: unknown.
            is_quiet: whether all joints stick, and nothing is left unexplained.
        """
        if command is None or not math.isfinite(np.add.reduce(command)):
            self.reset()
            return False
        if self._command is None or np.abs(command - self._command).max() > SAME:
            self._command, self._since, self.stands = command, stamp, False
        elif is_quiet and stamp - self._since >= SETTLED:
            self.stands = True
        return self.stands
