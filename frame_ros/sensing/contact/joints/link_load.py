# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The torque that the links take from each joint, of which some stick while others move."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots.dynamics import RobotDynamics

Array = NDArray[np.float64]
BOOLS = NDArray[np.bool_]
FILTER_TIME = 0.005  # s, time constant of the accelerations' filter: less than a sample of a servo


class LinkLoad:
    """The torque that motor and gear of each joint must bring for its links to stay in place.

    Of a joint s that sticks that is its row of the equation of motion with itself at rest
    (dq_s = ddq_s = 0), the others moving,

        load_s = sum over j != s of M_sj(q) ddq_j + (C(q, dq) dq)_s + g_s(q)

    so it holds what the others do to it by their inertia. The equation: Siciliano, Sciavicco,
    Villani and Oriolo, "Robotics" (2009), 7.42. Of a joint that does not stick, load_s = g_s(q).
    Accelerations are differences of the velocities, filtered so that stamps close to each other do
    not make large ones of noise.
    """

    __slots__ = ('_dynamics', '_acceleration')

    def __init__(self, dynamics: RobotDynamics) -> None:
        """Takes the dynamics of the joints."""
        self._dynamics = dynamics
        self.reset()

    def reset(self) -> None:
        """Forgets the accelerations."""
        self._acceleration: Array = np.zeros(len(self._dynamics.joint_names))

    def update(
        self, q: Array, velocity: Array, before: Array, seconds: float, is_stuck: BOOLS
    ) -> Array:
        """Takes a sample; returns (N,) N m, of gravity alone where no acceleration is known.

        Args:
            q, velocity: (N,) rad, rad/s.
            before: (N,) rad/s, the velocity `seconds` ago; either is NaN where there was none.
            is_stuck: (N,) whether each joint sticks.
        """
        gravity = self._dynamics.gravity(q)
        change = (velocity - before) / seconds
        # A sum is NaN or infinite if one of its terms is.
        if not math.isfinite(np.add.reduce(change)):
            self.reset()
            return gravity
        share = seconds / (seconds + FILTER_TIME)
        self._acceleration += share * (change - self._acceleration)
        moves = ~is_stuck
        if moves.all() or not moves.any():
            return gravity
        held = self._dynamics.inverse_dynamics(q, velocity * moves, self._acceleration * moves)
        return np.where(is_stuck, held, gravity)
