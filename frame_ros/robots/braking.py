# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How far a joint still goes that brakes in steps of h s, each slower by a h than the one before.

A step is done at the velocity at its end, as the differences of commands tell it. Shorter steps
need a longer way; as h goes to 0 it becomes v^2 / 2a.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
FARTHEST = 1e12  # in units of a h^2: any distance


def time_to_rest(duration: float, h: float) -> float:
    """How long (s) the velocities would have to last for the way of a braking of `duration` s in
    steps of h s.
    """
    if duration <= h:
        return 0.0
    count = math.floor(duration / h)
    return h * (count - h * count * (count + 1.0) / (2.0 * duration))


def way_to_rest(speed: Array, a: Array, h: Array) -> Array:
    """The way still to go after a step of h s at `speed`, if each one more is slower by a h."""
    count = np.floor(speed / (a * h))
    result: Array = h * count * (speed - a * h * (count + 1.0) / 2.0)
    return result


def reach(distance: Array, a: Array, h: Array) -> Array:
    """The largest speed of a step of h s that, with those that bring the joint to rest, takes no
    more than `distance`; 0 where that is not above 0.
    """
    unit = a * h * h
    left = np.clip(distance / unit, 0.0, FARTHEST)
    count = np.floor((np.sqrt(1.0 + 8.0 * left) - 1.0) / 2.0)  # of the steps after this one
    result: Array = a * h * (left / (count + 1.0) + count / 2.0)
    return result
