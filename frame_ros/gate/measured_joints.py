# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Measured joint positions, checked for plausibility."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.plain_text import counted
from frame_ros.core.time import SECOND
from frame_ros.core.turns import TURN
from frame_ros.gate.causes import Cause
from frame_ros.gate.limits.command_limits import JointLimits
from frame_ros.gate.measured_turns import SIDE, MeasuredTurns
from frame_ros.gate.records import Moment, Reason
from frame_ros.gate.sent_path import SentPath
from frame_ros.gate.still_joints import StillJoints

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]

DELAY = 0.5  # s that a measurement may have been on its way; an older stamp counts as this old
TIMING = 0.05  # s by which the times of two measurements may be wrong
BEYOND = 0.1  # of a joint's range by which it may be measured outside of it
DISAGREEMENT = 1.5  # of the step limit: how far a joint may be from where it was sent
LAG = 0.5  # s by which an arm may be late


class MeasuredJoints:
    """The positions of a robot's joints, from plausible measurements only.

    Args:
        limits: of its D joints.
        timeout: s of silence after which another publisher may replace one.
        path: where they were sent.
        is_arm: (D,) whether a joint is one of the arm's, not of a gripper. A gripper's may be read
            seldom, as a Franka Hand's, and come with each state of the arm until the next: the same
            number once more is then no measurement.
        turns: of their driver, if it is known already.

    Attributes:
        positions: (D,) rad or m, NaN where unknown. Joints that turn without end are counted on,
            also of a driver that publishes them within one turn.
        times: (D,) ns on the caller's clock, when each was measured.
        still: the joints that have not moved recently, where they were sent or elsewhere.
        heard: (D,) rad, the newest measurements of joints that turn without end, counted on, also
            such as were not taken; NaN for others, and where unknown.
    """

    def __init__(
        self,
        limits: JointLimits,
        timeout: float,
        path: SentPath,
        is_arm: NDArray[np.bool_],
        turns: MeasuredTurns | None = None,
    ) -> None:
        self.positions: Array = np.full(len(limits.names), math.nan)
        self.times = np.zeros(len(limits.names), dtype=np.int64)
        self.still = StillJoints(len(limits.names))
        self.heard: Array = np.full(len(limits.names), math.nan)
        self._is_arm = is_arm
        self._changed = self.times.copy()  # ns, when each was first measured where it is
        self._limits, self._timeout, self._path = limits, int(timeout * SECOND), path
        self._has_endless = bool(limits.is_endless.any())
        self._turns = turns or MeasuredTurns(limits.is_endless)
        self._astray = DISAGREEMENT * limits.step
        self._at_once = limits.fastest * TIMING  # rad (m) that a joint may go in any time
        self._beyond = BEYOND * (limits.ends[1] - limits.ends[0])
        self._index = {name: i for i, name in enumerate(limits.names)}
        self._publishers: list[Hashable] = [None] * len(limits.names)
        self._published = np.zeros(len(limits.names), dtype=np.int64)  # ns, newest, taken or not
        self._heard = [-self._timeout - 1] * len(limits.names)
        self._names: Sequence[str] | None = None
        self._found: Indices = np.zeros(0, dtype=np.intp)
        self._places: Indices = np.zeros(0, dtype=np.intp)

    def take(
        self,
        names: Sequence[str],
        positions: ArrayLike,
        measured: int,
        now: int,
        moment: Moment,
        publisher: Hashable,
        sent: Array,
    ) -> Indices | Reason | None:
        """Takes positions (K,) of some joints if all of them are plausible.

        Args:
            measured, now: ns, see `measured_at`.
            publisher: the sender of the message.
            sent: (D,) where the joints were sent last, whenever that was; NaN where unknown.

        Returns:
            The joints taken; the reason why they are implausible; or None: the robot has none of
                them.
        """
        if names != self._names:
            self._names = names
            found = [(self._index[n], k) for k, n in enumerate(names) if n in self._index]
            pairs = np.array(found, dtype=np.intp).reshape(-1, 2)
            self._found, self._places = pairs[:, 0], pairs[:, 1]
        i = self._found
        values = np.asarray(positions, dtype=np.float64)
        if values.shape != (len(names),):
            return Reason(
                Cause.MALFORMED,
                f'{counted(values.size, "position")} for {counted(len(names), "joint")}',
            )
        if not i.size:
            return None
        problem = self._other_publisher(i, publisher, moment)
        if problem is not None:
            return problem
        published = values[self._places]
        self._look_at_turns(i, published, measured)
        measured = max(measured, now - int(DELAY * SECOND))
        values = self._counted(i, published, sent[i])
        is_harmless = self._is_harmless(i, values)
        problem = None if is_harmless else self._impossible(i, values)
        if problem is not None:
            self.still.forget(i)
            return problem
        if now - measured < int(DELAY * SECOND):
            self.still.add(i, values, measured)
        problem = None if is_harmless else self._implausible(i, published, values, measured, now)
        if problem is not None:
            return problem
        for k in i.tolist():
            self._publishers[k], self._heard[k] = publisher, moment.monotonic
        self._turns.note(i, published)
        is_new = values != self.positions[i]
        self._changed[i[is_new]] = measured
        self.positions[i] = values
        self.times[i] = np.maximum(measured, self.times[i])
        return i

    def believe(self, positions: Array, now: int) -> None:
        """Sets the positions (D,) of the joints, whatever was measured before; NaN: unknown."""
        is_known = np.isfinite(positions)
        self.positions[is_known], self.times[is_known] = positions[is_known], now

    def is_silent(self, now: int) -> Mask:
        """Returns (D,) whether the driver of a joint, who published it before, has been silent for
        so long that it may have been started again.
        """
        result: Mask = (self._published > 0) & (now - self._published > self._timeout)
        return result

    def resting(self, now: int) -> Array:
        """Returns (D,) where joints stay, plausible there or not; NaN where they move, and where
        their driver is silent.
        """
        return np.where(self.is_silent(now), math.nan, self.still.places(now))

    def forget(self) -> None:
        """Forgets the joints, which may be anywhere after the clock was reset."""
        self.positions[:], self.times[:], self.heard[:] = math.nan, 0, math.nan
        self._published[:] = 0
        self.still.forget(np.arange(len(self.positions)))

    def _other_publisher(
        self, indices: Indices, publisher: Hashable, moment: Moment
    ) -> Reason | None:
        now, others = moment.monotonic, self._publishers
        for i in indices.tolist():
            if publisher != others[i] and now - self._heard[i] <= self._timeout:
                name = self._limits.names[i]
                text = (
                    f'{name} is measured by two publishers: {others[i]} is followed, '
                    f'{publisher} is not'
                )
                return Reason(Cause.SECOND_PUBLISHER, text, name)
        return None

    def _is_harmless(self, i: Indices, values: Array) -> bool:
        """Returns whether positions (K,) are clearly plausible, as they nearly always are."""
        went, away = np.abs(values - self.positions[i]), np.abs(values - self._path.now[i])
        ends = self._limits.ends
        is_true = (went <= self._at_once[i]) & (ends[0][i] <= values) & (values <= ends[1][i])
        return bool(is_true.all()) and not bool((away > self._astray[i]).any())

    def _impossible(self, i: Indices, values: Array) -> Reason | None:
        """Returns why no arm can be at positions (K,), by the worst joint."""
        if not np.isfinite(values).all():
            worst = int(np.argmin(np.isfinite(values)))
            name, text = self._limits.names[i[worst]], f'is {values[worst]}'
            cause = Cause.IMPLAUSIBLE_JOINT_STATES
            return Reason(cause, f'{name} {text}', name, float(values[worst]))
        ends = self._limits.ends
        beyond = np.maximum(ends[0][i] - values, values - ends[1][i])
        return self._worst(i, 'is {0:.3g} {1} out of its range', beyond, self._beyond[i])

    def _look_at_turns(self, i: Indices, published: Array, measured: int) -> None:
        """Notices jumps of a turn in what is published (K,), but for those over a silence: a driver
        that was started again may have lost turns.
        """
        before = self._published[i]
        self._published[i] = np.maximum(measured, before)
        if not self._has_endless:
            return
        was_silent = measured - before > self._timeout
        room = self._room(i, before, measured)
        self._turns.look(i, published, np.where(was_silent, math.inf, room))

    def _counted(self, i: Indices, published: Array, sent: Array) -> Array:
        """Returns positions (K,), counted on where joints turn without end, and notes these."""
        values = self._turns.counted(i, published, self.positions[i], sent)
        if self._has_endless:
            is_heard = np.isfinite(values) & self._limits.is_endless[i]
            self.heard[i[is_heard]] = values[is_heard]
        return values

    def _room(self, i: Indices, since: NDArray[np.int64], measured: int) -> Array:
        """Returns (K,) rad or m that the joints `i` can have gone since (K,), ns."""
        passed = np.maximum(measured - since, 0) / SECOND + TIMING
        room: Array = self._limits.fastest[i] * passed
        return room

    def _implausible(
        self, i: Indices, published: Array, values: Array, measured: int, now: int
    ) -> Reason | None:
        """Returns why this arm cannot be at positions (K,), by the worst joint."""
        held = np.maximum(self._changed[i], measured - int(DELAY * SECOND))
        since = np.where(self._is_arm[i], self.times[i], np.minimum(held, self.times[i]))
        way = self._turns.way(i, published, values, self.positions[i])
        room = self._room(i, since, measured)
        low, high = (ends[i] for ends in self._path.range(now))
        away = np.maximum(low - values, values - high)
        text = 'is {0:.3g} {1} from where it was sent'
        went = 'went {0:.3g} {1}, faster than it can'
        is_endless = self._limits.is_endless[i]
        beyond = way % TURN
        is_by_turns = (way > SIDE) & (np.minimum(beyond, TURN - beyond) <= room)
        if (is_endless & (way > room) & is_by_turns).any():
            went += ': it jumps by a turn, and was silent before or published over more'
        if (is_endless & (away > SIDE)).any():
            text += ': its driver may count its turns elsewhere'
        return self._worst(i, went, way, room) or self._worst(i, text, away, self._astray[i])

    def _worst(self, i: Indices, text: str, value: Array, limit: Array) -> Reason | None:
        """Returns the joint that exceeds a limit most, if any."""
        over = np.where(np.isfinite(value), value - limit, -math.inf)
        worst = int(over.argmax())
        if not over[worst] > 0.0:
            return None
        name, unit = self._limits.names[i[worst]], self._limits.units[i[worst]]
        said = f'{name} ' + text.format(value[worst], unit)
        cause, most = Cause.IMPLAUSIBLE_JOINT_STATES, float(limit[worst])
        return Reason(cause, said, name, float(value[worst]), most, unit)


def measured_at(stamp: int, now: int, clock: int) -> int:
    """Returns when something stamped `stamp` was measured, on the clock that reads `now` (all ns).
    Without a stamp, or with one ahead: now. clock: the stamps' clock.
    """
    return now - (max(clock - stamp, 0) if stamp > 0 else 0)
