# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Motors whose effort is the current of the supply, and not that of the winding."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def winding_effort(supply: Array, velocity: Array, back_emf: float) -> Array:
    """Returns what is proportional to the motor's torque, (..., N), of a supply's current.

    A bridge that is switched on for a share d of the time draws the winding's current I for that
    share. With s the current at standstill with d = 1, and w0 the speed without load,

        i = d I,   I = s (d - dq / w0),   so   I / sqrt(s) = sqrt(i + h^2) - h,   h = b dq / 2,

    b = sqrt(s) / w0, speeds and currents positive in the drive's direction (a motor of direct
    current with a resistance alone; so the STS3215's Present_Current, see
    docs/evaluation-motor-current). Of a standing motor it is the root of what is read.

    Args:
        supply: (..., N) A, its sign that of the drive; 0 is taken for a motor that is let go.
        velocity: (..., N) rad/s of the joint.
        back_emf: b, sqrt(A) s/rad.
    """
    half: Array = 0.5 * back_emf * velocity
    side = np.where(supply == 0.0, np.sign(half), np.sign(supply))
    result: Array = side * np.sqrt(np.abs(supply) + half * half)
    result -= half
    return result
