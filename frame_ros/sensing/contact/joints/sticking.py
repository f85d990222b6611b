# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Dry friction of joints that slide, stick and break away."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from frame_ros.sensing.contact.joints.motor_model import MotorModel

Array = NDArray[np.float64]
BOOLS = NDArray[np.bool_]
STILL = 0.002  # rad: more than a step of an encoder of 4096 per turn; a joint within it stands
STICK_TIME = 0.07  # s within STILL after which a joint sticks
BAND = 1.25  # times the friction at rest that was identified: what a joint may hold
LEAST_LIMIT = 1e-9  # N m
SLIDE_TIME = 0.1  # s of sliding after which a joint that goes to its goal is not pushed there
HELD_TIME = 0.25  # s in which the external torque on a joint that sticks fades to 0.37


class StickWatch:
    """Joints that stick: each stays within STILL of where it last was for STICK_TIME.

    Attributes:
        is_stuck: (N,).
        moved: (N,) rad since it was last seen to move; 0 while it stays within STILL of that.
    """

    __slots__ = ('is_stuck', 'moved', '_anchor', '_still')

    def __init__(self, count: int) -> None:
        """Takes the number of joints."""
        self._still = np.empty(count)
        self.reset()

    def reset(self) -> None:
        """Forgets everything: until they move, all joints stick."""
        self._still[:] = np.inf
        self.is_stuck: BOOLS = np.ones(len(self._still), np.bool_)
        self.moved: Array = np.zeros(len(self._still))
        self._anchor: Array | None = None

    def resume(self, q: Array) -> None:
        """Goes on at positions (N,) rad after a gap: of no joint is known whether it sticks."""
        self.reset()
        self._anchor = np.array(q)
        self._still[:] = 0.0
        self.is_stuck = np.zeros(len(self._still), np.bool_)

    def update(self, q: Array, seconds: float) -> None:
        """Takes the positions (N,) rad, `seconds` after the last ones (NaN: at the beginning)."""
        if self._anchor is None:
            self._anchor = np.array(q)
            return
        away = q - self._anchor
        leaves = np.abs(away) > STILL
        self.moved = away * leaves
        np.copyto(self._anchor, q, where=leaves)
        self._still += seconds if seconds == seconds else 0.0
        self._still[leaves] = 0.0
        self.is_stuck = self._still >= STICK_TIME


class StickingFriction:
    """The friction of each joint, N m, as it opposes the motor. Gears that lose by what they hold
    are taken to hold the links alone, without what pushes them, which is looked for.

    A joint that slides has the friction of the motor model, in the direction of its motion, reached
    over the presliding when that changes. One that pauses, as an encoder sees it, may creep on or
    be about to stick: it has what balances motor and weight, up to its limit, as far as that
    opposes its last motion, or all of it if its motor drove that motion: a motor that turns round
    finds a gear at rest. (What moves a joint against its motor is no gear's.) So it does if it
    braked a joint that had slid for SLIDE_TIME and moved towards its goal. One that sticks has
    what balances motor and the load of its links, which other joints accelerate (`LinkLoad`),
    whatever that is up to its limit: nothing that it holds shows in motor or position, neither a
    command that has not broken it away yet nor a push. So what is unexplained stays as it was, and
    fades, because the end of a push may not show either. It does not stay where a joint that slid
    came to rest while samples were missing: when its friction turned round is not known.

    Attributes:
        friction: (N,) N m.
        limit: (N,) N m, what each joint can hold now.
        is_stuck: (N,).
    """

    __slots__ = (
        'friction', 'limit', 'direction', '_motors', '_gain', '_watch', '_per_way',
        '_held', '_balance', '_ahead', '_slid', '_is_driven', '_is_unsure', '_holds_driven',
    )  # fmt: skip

    def __init__(self, motors: MotorModel, gain: float, holds_driven: bool = True) -> None:
        """Takes the gain, 1/s, of the observer that follows the external torque.

        holds_driven: whether a joint that pauses is held against what turns its motor round.
        """
        self._gain, self._holds_driven = gain, holds_driven
        self._motors = motors
        self._per_way = 1.0 / motors.presliding
        self._watch = StickWatch(len(motors.joint_names))
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self._watch.reset()
        count = len(self._motors.joint_names)
        self.direction: Array = np.zeros(count)
        self.friction: Array = np.zeros(count)
        self.limit: Array = np.zeros(count)
        self._held: Array = np.zeros(count)
        self._balance: Array = np.zeros(count)
        self._ahead: Array = np.full(count, math.nan)
        self._slid: Array = np.zeros(count)
        self._is_driven: BOOLS = np.zeros(count, np.bool_)
        self._is_unsure: BOOLS = np.zeros(count, np.bool_)

    def settle(self) -> None:
        """Takes what balances motor and links now for what each joint can hold, until it moves:
        nothing pushes the arm.
        """
        self._held = np.abs(self._balance)

    @property
    def is_stuck(self) -> BOOLS:
        """(N,) of the newest sample."""
        return self._watch.is_stuck

    def update(
        self, q: Array, velocity: Array, motor: Array, links: Array, external: Array,
        seconds: float, is_gap: bool = False, goal: Array | None = None,
    ) -> Array:  # fmt: skip
        """Takes a sample; returns `friction`.

        Args:
            q, velocity: (N,) rad, rad/s.
            motor: (N,) N m of the motors, less their offset.
            links: (N,) N m that hold the links, see `LinkLoad`.
            external: (N,) N m, the external torque until now; NaN: it is not known.
            seconds: since the last sample; NaN: it is the first.
            is_gap: whether samples are missing between.
            goal: (N,) rad, of the servos; None: unknown.
        """
        watch = self._watch
        was_stuck = watch.is_stuck
        watch.update(q, seconds)
        load, weight = np.abs(motor), np.abs(links)
        sliding = self._motors.dry_friction(velocity, load, weight)
        self.limit = BAND * self._motors.dry_friction(np.zeros_like(velocity), load, weight)
        self._held = np.where(watch.is_stuck, self._held, 0.0)
        np.maximum(self.limit, self._held, out=self.limit)
        self.direction += self._per_way * watch.moved
        np.clip(self.direction, -1.0, 1.0, out=self.direction)
        friction = self.direction * sliding
        pauses = watch.moved == 0.0
        before, self._balance = self._balance, motor - links
        self._slid = np.where(watch.is_stuck, 0.0, self._slid + (seconds if seconds > 0.0 else 0.0))
        self._note_motion(before, was_stuck, is_gap)
        self._ahead = np.full_like(q, math.nan) if goal is None else goal - q
        if pauses.any():
            held = np.nan_to_num(external) * self._held_share(seconds)
            held[self._is_unsure] = 0.0
            balance = np.clip(self._balance + held, -self.limit, self.limit)
            is_held = self._is_driven | (self.direction * balance > 0.0)
            np.copyto(friction, np.where(is_held, balance, 0.0), where=pauses)
            np.copyto(friction, balance, where=watch.is_stuck)
            share = np.clip(balance / np.maximum(sliding, LEAST_LIMIT), -1.0, 1.0)
            np.copyto(self.direction, share, where=watch.is_stuck)
        self.friction = friction
        return friction

    def _note_motion(self, before: Array, was_stuck: BOOLS, is_gap: bool) -> None:
        """Keeps of each joint what its newest motion shows.

        before: (N,) N m, what the gears had to hold at the sample before. Where the goal lay then
        is still known, too.
        """
        moved = self._watch.moved
        is_moving = moved != 0.0
        is_driven = moved * self._balance > 0.0
        is_driven |= (moved * self._ahead > 0.0) & (self._slid > SLIDE_TIME)
        if is_gap:
            is_driven |= moved * before > 0.0
        if self._holds_driven:
            np.copyto(self._is_driven, is_driven, where=is_moving)
        np.copyto(self._is_unsure, is_gap & ~was_stuck, where=is_moving)

    def _held_share(self, seconds: float) -> float:
        """Of the external torque, with which the observer comes to what is left of it."""
        if not seconds > 0.0:
            return 0.0
        kept = math.exp(-self._gain * seconds)
        return (math.exp(-seconds / HELD_TIME) - kept) / (1.0 - kept)
