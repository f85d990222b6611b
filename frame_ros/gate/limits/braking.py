# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How far a joint still goes that brakes in steps, each of s seconds or more.

A step is done at the velocity at its end, as the differences of commands show it, and is slower by
a times its duration than the one before. Shorter steps need a longer way: with steps of s s it is
the longest, and as s goes to 0 it becomes v^2 / 2a. So a joint that has room for steps of s s has
room for any that are as long or longer.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def time_to_rest(duration: float, s: float) -> float:
    """How long (s) the velocities would have to last for the way of a braking of `duration` s in
    steps of s s.
    """
    if duration <= s:
        return 0.0
    if s <= 0.0:
        return duration / 2.0
    count = math.floor(duration / s)
    return s * (count - s * count * (count + 1.0) / (2.0 * duration))


def way_to_rest(speed: Array, a: Array, s: float) -> Array:
    """The way still to go after a step at `speed`, if each one more takes s s."""
    if s <= 0.0:
        whole: Array = speed * speed / (2.0 * a)
        return whole
    count = np.floor(speed / (a * s))
    result: Array = s * count * (speed - a * s * (count + 1.0) / 2.0)
    return result


def reach(distance: Array, a: Array, h: Array, s: float) -> Array:
    """The largest speed of a step of h s that, with steps of s s that bring the joint to rest,
    takes no more than `distance`; 0 where that is not above 0.
    """
    left = np.maximum(distance, 0.0)
    if s <= 0.0:
        whole: Array = a * (np.sqrt(h * h + 2.0 * left / a) - h)
        return whole
    # After a step at n a s, n - 1 more follow that go anywhere: the largest n there is room for.
    late = h - s / 2.0
    count = np.floor((np.sqrt(late * late + 2.0 * left / a) - late) / s)
    result: Array = (left + a * s * s * count * (count + 1.0) / 2.0) / (h + count * s)
    return result
