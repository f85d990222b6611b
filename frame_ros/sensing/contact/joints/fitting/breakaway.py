# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Friction at rest of each joint, from the moments at which it breaks away in free motion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from frame_ros.core.time import SECOND
from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.sensing.contact.joints.fitting.recording import JointRecording
from frame_ros.sensing.contact.joints.motor_model import MotorModel
from frame_ros.sensing.contact.joints.sticking import BAND, StickWatch

Array = NDArray[np.float64]
FEWEST = 8  # moments that show it
HELD_QUANTILE = 0.99  # of what a joint was seen to hold while it stuck


def friction_at_rest(
    motors: MotorModel,
    dynamics: RobotDynamics,
    recording: JointRecording,
    shows_load: Sequence[bool],
    max_gap: float,
) -> dict[str, Any]:
    """Returns the columns rest and load_rest (weight_rest, of gears that lose by weight) of a motor
    model: what balances motor and weight in the last sample before a joint breaks away is what its
    gear can just hold.

    A joint that sticks is left out of the fit of friction that slides, which says little of this.
    Where no joint shows what load does, rest is within BAND of what each was seen to hold: a gear
    that bears its links without the motor holds more than it breaks away from.

    Args:
        motors: identified so far.
        shows_load: of each joint, whether it bears enough to show what its gear holds of its load;
            the others are taken to hold the same share, as gears of one kind.
        max_gap: s between two samples, beyond which nothing is known of what was before.
    """
    by_weight = bool(motors.weight_friction.any())
    loads, held, balance = _breakaways(motors, dynamics, recording, by_weight, max_gap)
    columns = np.zeros((2, len(motors.joint_names)))
    has_enough = [len(each) >= FEWEST for each in loads]
    own = [j for j, shows in enumerate(shows_load) if shows and has_enough[j]]
    for joint in own:
        matrix = np.column_stack((np.ones(len(loads[joint])), loads[joint]))
        columns[:, joint] = nnls(matrix, held[joint])[0]
    if own:
        shared = float(np.median(columns[1, own]))
        for joint in set(range(len(loads))) - set(own):
            if has_enough[joint]:
                without = np.array(held[joint]) - shared * np.array(loads[joint])
                # Small currents of a supply have few levels, of which a median is one.
                middle = np.mean if motors.is_supply_current else np.median
                columns[:, joint] = max(float(middle(without)), 0.0), shared
    elif any(has_enough):
        columns[0] = _seen_to_hold(held, balance)
    return {'rest': columns[0], 'weight_rest' if by_weight else 'load_rest': columns[1]}


def _seen_to_hold(held: list[list[float]], balance: Array) -> Array:
    found = np.zeros(len(held))
    for joint, each in enumerate(held):
        still = balance[np.isfinite(balance[:, joint]), joint]
        if len(each) >= FEWEST and len(still):
            most = float(np.quantile(np.abs(still), HELD_QUANTILE)) / BAND
            found[joint] = max(float(np.median(each)), most)
    return found


def _breakaways(
    motors: MotorModel, dynamics: RobotDynamics, recording: JointRecording, by_weight: bool,
    max_gap: float,
) -> tuple[list[list[float]], list[list[float]], Array]:  # fmt: skip
    """Returns per joint the sizes of the motor's torque, or of the weight, and of what the gear
    holds, N m, as it breaks away; and (T, N) N m that each gear holds while it sticks, else NaN.
    """
    names = range(len(motors.joint_names))
    loads: list[list[float]] = [[] for _ in names]
    held: list[list[float]] = [[] for _ in names]
    watch = StickWatch(len(names))
    seconds = np.diff(recording.stamps, prepend=recording.stamps[:1]) / SECOND
    still = np.zeros_like(recording.positions)
    speeds = still if recording.velocities is None else recording.velocities
    motor = motors.motor_torque(recording.efforts, speeds)
    before: Array = np.zeros(len(names))
    load = before
    balance = np.full_like(motor, math.nan)
    for row, q in enumerate(recording.positions):
        was_stuck = watch.is_stuck
        if seconds[row] > max_gap:
            watch.resume(q)
        else:
            watch.update(q, float(seconds[row]) if row else math.nan)
        if row:
            breaks = was_stuck & ~watch.is_stuck & (watch.moved * before > 0.0)
            for joint in np.flatnonzero(breaks).tolist():
                loads[joint].append(abs(float(load[joint])))
                held[joint].append(abs(float(before[joint])))
        weight = dynamics.gravity(q)
        before = motor[row] - weight
        load = weight if by_weight else motor[row]
        if row:
            balance[row] = np.where(watch.is_stuck, before, math.nan)
    return loads, held, balance
