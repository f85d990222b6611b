# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joints that stand while their commands have gone on, farther off than they ever were in free
motion.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.sensing.contact.joints.fitting.recording import JointRecording
from frame_ros.sensing.contact.joints.giving_way import GIVEN
from frame_ros.sensing.contact.joints.motor_model import MotorModel

Array = NDArray[np.float64]
TIME = 0.3  # s for which a joint is off its goal: more than a servo's latency
SLOW = 0.2  # rad/s towards the goal, on the mean of TIME, up to which the identification counts it
SHOWN = 2.0  # s of such motion that show a direction; else all motion counts
LIGHT = 0.05  # N m of weight below which a joint has no direction with it or against it
DRIVES = 0.5  # share of the torque at its largest free distance, below which a motor is let go
YIELDS = 2.0  # times the way towards the goal that a joint may come once it counts as held
SHARE = 0.5  # of a joint's largest distance, from which a slow one shows its motor's stiffness


class NotFollowing:
    """A second witness of contact in motion: a joint that its command drives, and that stands.

    A servo drives by its stiffness times the distance from its goal. In free motion gear and weight
    hold a joint, up to the largest distance that the identification has seen, with its weight and
    against it. A joint that has been farther off for TIME, to one side, and meanwhile came no
    nearer than the play of its gear, is held by something else. How that torque splits into
    friction and weight need not be known. Beyond the weights of the identification the stiffness
    says how much farther off a joint may be. A motor that does not drive, as one that is switched
    off, is no witness.

    A gear that holds the more, the more its motor brings, lets a joint break away far beyond where
    it slides, and minutes hardly show that with the largest weight. Where the identification has
    that share at rest and sliding (`load_rest`, `load_friction`; of a motor that never brakes the
    first alone is its own effort), a motor that does not overcome both with margin is none.
    """

    def __init__(self, motors: MotorModel, margin: float) -> None:
        """Takes motors without `off_against` or `off_with` as such that are not judged; margin:
        factor of these.
        """
        self._off: Array = np.stack((motors.off_against, motors.off_with))
        self._is_known = (self._off > 0.0).all(axis=0) & (motors.stiffness > 0.0)
        self._weight = motors.off_weight
        self._stiffness = np.maximum(motors.stiffness, 1e-9)
        # A gear that takes all of its motor's torque is never overcome.
        self._rest, self._left = motors.rest, np.maximum(1.0 - motors.load_rest, 1e-9)
        self._holds_load = (motors.load_rest > 0.0) & (motors.load_friction > 0.0)
        self._play = GIVEN + motors.play
        self._none: Array = np.zeros(len(motors.joint_names))
        self.change(margin)
        self.reset()

    @property
    def is_used(self) -> bool:
        """Returns whether a joint is judged."""
        return bool(self._is_known.any())

    def change(self, margin: float) -> None:
        """Takes another margin."""
        self._margin = margin

    def reset(self) -> None:
        """Forgets what came before."""
        self._past: deque[tuple[int, Array, Array]] = deque()
        self._is_off: NDArray[np.bool_] = np.zeros(len(self._none), np.bool_)

    def update(self, stamp: int, q: Array, command: Array | None, motor: Array, load: Array,
               held: Array | float = 0.0) -> Array:  # fmt: skip
        """Takes a sample; returns (N,) how far each joint is off its goal for TIME: 0 up to the
        largest distance of free motion, 1 at that with margin and play.

        Args:
            stamp: ns, later than the last.
            q: (N,) rad.
            command: (N,) rad; None, or NaN of a joint: unknown.
            motor: (N,) N m of the motors.
            load: (N,) N m that hold the links against their weight.
            held: (N,) N m of weight that an object in the gripper may add.
        """
        if command is None:
            self.reset()
            return self._none
        error = command - q
        past = self._past
        past.append((stamp, q, error))
        while len(past) > 1 and past[1][0] <= stamp - TIME * SECOND:
            past.popleft()
        free, allowed = self._bounds(error, load, held)
        is_far = self._is_known & (np.abs(error) > free)
        if not is_far.any() or stamp - past[0][0] < TIME * SECOND:
            self._is_off[:] = False
            return self._none
        side = np.sign(error)
        off = (side * np.array([each[2] for each in past])).min(axis=0)
        # What is pressed on may yield.
        is_far &= side * (q - past[0][1]) <= np.where(self._is_off, YIELDS, 1.0) * self._play
        is_far &= side * motor >= DRIVES * self._stiffness * free
        # At breaking away motor - weight = rest + load_rest motor.
        driven = np.where(side * load > 0.0, np.abs(load) + held, 0.0)
        breaks = np.where(self._holds_load, (self._rest + driven) / self._left, 0.0)
        is_far &= side * motor >= self._margin * breaks
        shares: Array = np.where(is_far, (off - free) / (allowed - free), 0.0)
        self._is_off = shares >= 1.0
        return np.maximum(shares, 0.0, out=shares)

    def _bounds(self, error: Array, load: Array, held: Array | float) -> tuple[Array, Array]:
        """Returns (N,) rad: of free motion, and that with margin and play."""
        weight = np.abs(load)
        against, along = self._off
        off = np.where(error * load > 0.0, against, along)
        off = np.where(weight < LIGHT, np.maximum(against, along), off)
        more = np.maximum(weight + held - self._weight, 0.0) / self._stiffness
        return off + more, self._margin * off + more + self._play


def free_distances(
    motors: MotorModel, dynamics: RobotDynamics, recording: JointRecording
) -> dict[str, Any]:
    """Returns the columns off_* and stiffness of a motor model, from the commands of its free
    motion; none without commands, or of motors with torque sensors.

    Args:
        dynamics: without armature.
    """
    commands = recording.commands
    if commands is None or not motors.has_friction:
        return {}
    width = math.ceil(TIME * recording.rate) + 1
    if len(commands) < width:
        return {}
    q, error = recording.positions, commands - recording.positions
    loads = np.array([dynamics.gravity(each) for each in q[width - 1 :]])
    windows = sliding_window_view(error, width, axis=0)
    # To one side for TIME, else none; NaN, an unknown command, is none.
    forth, back = windows.min(axis=-1), -windows.max(axis=-1)
    side = np.where(forth > 0.0, 1.0, -1.0)
    off = np.nan_to_num(np.maximum(np.maximum(forth, back), 0.0))
    seconds = (recording.stamps[width - 1 :] - recording.stamps[: -width + 1]) / SECOND
    off[seconds > 1.5 * TIME + 1.0 / recording.rate] = 0.0
    is_slow = side * (q[width - 1 :] - q[: -width + 1]) <= SLOW * TIME
    columns = {}
    is_light = np.abs(loads) < LIGHT
    for name, sense in (('off_against', 1.0), ('off_with', -1.0)):
        way = np.where(is_light | (sense * side * loads > 0.0), off, 0.0)
        held = np.where(is_slow, way, 0.0)
        is_shown = (held > 0.0).sum(axis=0) >= SHOWN * recording.rate
        columns[name] = np.where(is_shown, held.max(axis=0), way.max(axis=0))
    velocities = np.zeros_like(q) if recording.velocities is None else recording.velocities
    motor = motors.motor_torque(recording.efforts, velocities)[width - 1 :]
    slow = np.where(is_slow, off, 0.0)
    is_far = is_slow & (off >= SHARE * slow.max(axis=0))
    far = np.where(is_far, np.nan_to_num(error[width - 1 :]), 0.0)
    stiffness = (far * motor).sum(axis=0) / np.maximum((far**2).sum(axis=0), 1e-12)
    columns['off_weight'] = np.abs(loads).max(axis=0)
    columns['stiffness'] = np.maximum(stiffness, 0.0)
    return columns
