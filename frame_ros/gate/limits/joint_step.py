# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The step of each joint by itself: the velocities that its limits allow, and the one chosen.

All functions take a Step of K joints, and return (K,) values.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from frame_ros.gate.limits.braking import reach, way_to_rest
from frame_ros.gate.limits.command_limits import JointLimits
from frame_ros.gate.limits.command_step import Step

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

TINY = 1e-7  # rad or m: no way to rest is longer by mistake


def ends(limits: JointLimits, step: Step, slot: float) -> tuple[Array, Array]:
    """Returns the range of positions in which a step may end. For a joint that was measured outside
    its range, it reaches as far as the joint cannot avoid, or as it is to start again, and no
    farther: the joint may only come back.
    """
    i = step.i
    lower, upper = limits.lower[i], limits.upper[i]
    way = np.sign(step.v) * way_to_rest(np.abs(step.v), limits.acceleration[i], slot)
    first, last = step.p + np.minimum(way, 0.0), step.p + np.maximum(way, 0.0)
    least = np.where(first < lower - TINY, first, lower)
    most = np.where(last > upper + TINY, last, upper)
    return np.fmin(least, step.base), np.fmax(most, step.base)


def bounds(limits: JointLimits, step: Step, slot: float) -> tuple[Array, Array]:
    """Returns the least and largest velocity of a step; there is none if the least is the larger.

    A joint that is faster than its limit, because that was lowered, brakes.

    slot: s, the shortest steps in which a joint brakes.
    """
    i, p, v, h = step.i, step.p, step.v, step.h
    a = limits.acceleration[i]
    fastest = np.maximum(limits.velocity[i], np.abs(v) - a * h)
    low = np.maximum(v - a * h, np.maximum(-fastest, -reach(p - step.lower, a, h, slot)))
    high = np.minimum(v + a * h, np.minimum(fastest, reach(step.upper - p, a, h, slot)))
    # The tick limit gives way where no braking would keep to it.
    tick = np.where(np.isinf(step.room), limits.tick[i] / h, math.inf)
    return (
        np.where(low <= high, np.minimum(np.maximum(low, -tick), high), low),
        np.where(low <= high, np.maximum(np.minimum(high, tick), low), high),
    )


def asked_velocity(limits: JointLimits, step: Step) -> Array:
    """Returns the velocity of the request: the lesser of the last two, if they have the same sign.
    A request that jumps has none: taking it over would overshoot.
    """
    fastest, last = limits.velocity[step.i], step.asked
    asked = np.where(np.isfinite(step.before), step.q - step.before, 0.0) / step.h
    lesser = np.sign(asked) * np.minimum(np.abs(asked), np.abs(last))
    return np.where(np.sign(asked) == np.sign(last), np.clip(lesser, -fastest, fastest), 0.0)


def is_met(limits: JointLimits, step: Step, slack: Array) -> Mask:
    """Returns whether a joint that goes where requested can take over its velocity there next.
    Always true if the last command passed unchanged. A joint that comes to where it starts again is
    to rest there.
    """
    comes = np.isfinite(step.room)
    is_behind = (step.p != step.before) | comes
    if not is_behind.any():
        return ~is_behind
    asked = np.where(comes, 0.0, asked_velocity(limits, step))
    change = np.abs((step.q - step.p) / step.h - asked)
    a = limits.acceleration[step.i]
    result: Mask = ~is_behind | (change <= a * step.h + slack)
    return result


def place(limits: JointLimits, step: Step) -> Array:
    """Returns the target: the request, as far as range, measured step and starting place allow. A
    measurement can only keep a joint from going on: one sent too far from it already stays, or
    comes nearer if requested.
    """
    i = step.i
    wanted = np.clip(
        step.q, np.fmin(limits.lower[i], step.base), np.fmax(limits.upper[i], step.base)
    )
    if step.measured is not None:
        middle = np.where(np.isfinite(step.measured), step.measured, wanted)
        near = np.clip(wanted, middle - limits.step[i], middle + limits.step[i])
        wanted = np.clip(near, np.fmin(step.p, wanted), np.fmax(step.p, wanted))
    result: Array = np.clip(wanted, step.center - step.room, step.center + step.room)
    return result


def tracking(limits: JointLimits, step: Step, to: Array, slot: float) -> Array:
    """Returns the velocity that catches up with the request, or goes to the place next to it.

    It is as fast as allowed, but lets the joint take over the request's velocity on arrival,
    without overshoot if that is steady.

    Args:
        to: (K,) the places.
        slot: as above.
    """
    goes_on = (to == step.q) & np.isinf(step.room)
    asked = np.where(goes_on, asked_velocity(limits, step), 0.0)
    left = to - step.p - asked * step.h
    a = limits.acceleration[step.i]
    result: Array = asked + np.sign(left) * reach(np.abs(left), a, step.h, slot)
    return result
