# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The joint limits that a command exceeds."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from frame_ros.gate.limits.braking import way_to_rest
from frame_ros.gate.limits.command_limits import (
    ACCELERATION,
    JOINT,
    STEP,
    VELOCITY,
    Excess,
    JointLimits,
)
from frame_ros.gate.limits.command_step import Step

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
ROUNDING = 1e-9  # of a limit, by which a value may exceed it in floating point


def excesses(
    limits: JointLimits, step: Step, requested: Array, asked: Array, slot: float
) -> tuple[Excess, ...]:
    """Returns every limit exceeded by the change from the previous command, the gravest first.

    Each names the joint that is worst.

    Args:
        requested, asked: (D,) positions and velocities of the previous command.
        slot: s, of braking.
    """
    i, q, h = step.i, step.q, step.h
    before = np.where(np.isfinite(requested[i]), requested[i], step.p)
    a, fastest, lower, upper = (
        values[i] for values in (limits.acceleration, limits.velocity, limits.lower, limits.upper)
    )
    w = (q - before) / h
    rest = q + np.sign(w) * way_to_rest(np.minimum(np.abs(w), fastest), a, slot)
    change = np.abs(q - before)
    gain = np.abs(w - asked[i]) / h
    limit = np.where(rest > upper, upper, lower)
    found = (
        _worst(limits, JOINT, step, rest, limit, np.maximum(lower - rest, rest - upper)),
        far_from_measured(limits, step),
        _worst(limits, STEP, step, change, limits.tick[i], change - limits.tick[i]),
        _worst(limits, VELOCITY, step, np.abs(w), fastest, np.abs(w) / fastest - 1.0),
        _worst(limits, ACCELERATION, step, gain, a, gain / a - 1.0),
    )
    return tuple(excess for excess in found if excess is not None)


def far_from_measured(limits: JointLimits, step: Step) -> Excess | None:
    """Reports a request farther than the step limit from the measured joints."""
    if step.measured is None:
        return None
    distance, room = np.abs(step.q - step.measured), limits.step[step.i]
    return _worst(limits, STEP, step, distance, room, distance - room)


def lagging(limits: JointLimits, indices: Indices, lags: Array, cause: str) -> Excess:
    """Reports that joints lag, by (K,) rad or m, after an earlier command or a lowered limit."""
    worst = int(np.argmax(lags))
    joint = int(indices[worst])
    name, unit = limits.names[joint], limits.units[joint]
    return Excess(cause, name, float(lags[worst]), 0.0, unit, is_catching_up=True)


def _worst(
    limits: JointLimits, cause: str, step: Step, value: Array, limit: Array, by: Array
) -> Excess | None:
    """Returns the joint that exceeds a limit most, if any."""
    by = np.where(np.isfinite(by), by, -math.inf)
    worst = int(by.argmax())
    if not by[worst] > ROUNDING:
        return None
    joint = int(step.i[worst])
    rates: dict[str, str] = {VELOCITY: '/s', ACCELERATION: '/s^2'}
    unit = limits.units[joint] + rates.get(cause, '')
    return Excess(cause, limits.names[joint], float(value[worst]), float(limit[worst]), unit)
