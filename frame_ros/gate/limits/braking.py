# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Stopping distance of a joint that brakes in steps of s seconds or more.

A step's velocity is that at its end, as the differences of commands show it, and lower than the
previous one by a times its duration. Shorter steps need a longer way: it is longest with steps of s
s, and approaches v^2 / 2a as s goes to 0. So a joint that has room for steps of s s has room for
any steps as long or longer.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def time_to_rest(duration: float, s: float) -> float:
    """Returns how long (s) the velocities would have to last for a braking of `duration` s."""
    if duration <= s:
        return 0.0
    if s <= 0.0:
        return duration / 2.0
    count = math.floor(duration / s)
    return s * (count - s * count * (count + 1.0) / (2.0 * duration))


def way_to_rest(speed: Array, a: Array, s: float) -> Array:
    """Returns the distance still to go after a step at `speed`, if each further one takes s s."""
    if s <= 0.0:
        whole: Array = speed * speed / (2.0 * a)
        return whole
    count = np.floor(speed / (a * s))
    result: Array = s * count * (speed - a * s * (count + 1.0) / 2.0)
    return result


def reach(distance: Array, a: Array, h: Array, s: float) -> Array:
    """Returns the largest speed of a step of h s from which a joint can stop within `distance`. The
    steps that follow take s s each. 0 where the distance is not above 0,
    infinite where it is.
    """
    is_endless = np.isinf(distance)
    left = np.maximum(np.where(is_endless, 0.0, distance), 0.0)
    if s <= 0.0:
        whole: Array = a * (np.sqrt(h * h + 2.0 * left / a) - h)
        return np.where(is_endless, math.inf, whole)
    # A step at n a s is followed by n - 1 more that move: the largest n for which there is room.
    late = h - s / 2.0
    count = np.floor((np.sqrt(late * late + 2.0 * left / a) - late) / s)
    result: Array = (left + a * s * s * count * (count + 1.0) / 2.0) / (h + count * s)
    return np.where(is_endless, math.inf, result)
