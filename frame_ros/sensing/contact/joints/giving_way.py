# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joints of an arm that stands by its commands, and yet give way."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frame_ros.sensing.contact.joints.sticking import STILL

Array = NDArray[np.float64]
GIVEN = 2.0 * STILL  # rad by which a joint has given way


class GivingWay:
    """A second witness of contact, which needs neither a current nor a model of friction.

    While the commands stay the same, a change of the position is one of the position error, and
    that times the servo's stiffness one of the motor's torque: what breaks a joint away, and moves
    it, comes from outside. A joint that goes back to where the arm came to stand is let go, and is
    no witness; one that has come to rest elsewhere begins from there. Within the play of its gear a
    joint moves without a force from outside, as when the arm swings out.
    """

    def __init__(self, count: int, play: float = 0.0) -> None:
        """Takes the number of joints, and rad of their gears' play."""
        self._none: Array = np.zeros(count)
        self._given = GIVEN + play
        self.reset()

    def reset(self) -> None:
        """Forgets where the joints stood."""
        self._home: Array | None = None
        self._anchor: Array = self._none

    def update(self, q: Array, is_stuck: NDArray[np.bool_]) -> Array:
        """Takes a sample of an arm that stands by its commands; returns (N,) the way of each joint
        as a share of GIVEN and play.

        Args:
            q: (N,) rad.
            is_stuck: (N,).
        """
        if self._home is None:
            self._home = self._anchor = q
            return self._none
        self._anchor = np.where(is_stuck, q, self._anchor)
        is_away = np.abs(q - self._home) > np.abs(self._anchor - self._home)
        shares: Array = np.where(is_away, np.abs(q - self._anchor) / self._given, 0.0)
        return shares
