# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Friction of a Franka arm's joints in the readings of their torque sensors.

Gaz, Cognetti, Oliva, Robuffo Giordano and De Luca, "Dynamic Identification of the Franka Emika
Panda Robot With Retrieval of Feasible Parameters Using Penalty-Based Optimization", IEEE Robotics
and Automation Letters 2019, found it in tau_J of a Panda, N m per joint at speeds dq, rad/s:

    phi1 / (1 + exp(-phi2 (dq + phi3))) - phi1 / (1 + exp(-phi2 phi3))
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ValueRangeError

Array = NDArray[np.float64]
PHI1 = np.array([0.54615, 0.87224, 0.64068, 1.2794, 0.83904, 0.30301, 0.56489])  # N m
PHI2 = np.array([5.1181, 9.0657, 10.136, 5.5903, 8.3469, 17.133, 10.336])  # s/rad
PHI3 = np.array([0.039533, 0.025882, -0.04607, 0.036194, 0.026226, -0.021047, 0.0035526])  # rad/s
# As published; and, of twice its size, dry: the published one has no friction at rest.
GAZ, DAHL = JOINT_FRICTIONS = 'gaz', 'dahl'
WAY = 4e-4  # rad over which dry friction turns round to 0.37 (Dahl 1968; an assumption)


class JointFriction:
    """Friction, N m, of all seven joints."""

    def __init__(self, kind: str) -> None:
        """kind: of JOINT_FRICTIONS.

        Raises:
            ValueRangeError: it is none.
        """
        if kind not in JOINT_FRICTIONS:
            raise ValueRangeError(f'friction is {kind!r}; of {", ".join(JOINT_FRICTIONS)} expected')
        self._is_dry = kind == DAHL
        self._state: Array = np.zeros(len(PHI1))
        self._position: Array | None = None

    def __call__(self, positions: Array, velocities: Array) -> Array:
        """Returns the friction (7,) N m at the next positions (7,) rad and velocities (7,) rad/s,
        true ones.
        """
        if not self._is_dry:
            return _sigmoid(velocities) - _sigmoid(np.zeros_like(velocities))
        moved = np.zeros_like(positions) if self._position is None else positions - self._position
        self._position = np.array(positions)
        # Exact for a joint that does not turn round between two samples.
        kept = np.exp(-np.abs(moved) / WAY)
        self._state = np.sign(moved) * (1.0 - kept) + kept * self._state
        return PHI1 * self._state


def _sigmoid(velocities: Array) -> Array:
    found: Array = PHI1 / (1.0 + np.exp(-PHI2 * (velocities + PHI3)))
    return found
