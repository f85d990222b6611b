# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a command gate sends and measures: where the arm was sent, and where it starts again.

After a pause a joint goes on from where it was sent last, which its servo still holds, if it is
measured near there; otherwise something else moved it, and it goes on from where it is measured.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.robots.command_limiter import CommandLimiter
from frame_ros.robots.command_step import Proposal
from frame_ros.robots.gate_causes import Cause
from frame_ros.robots.gate_config import HOLD_STILL, GateConfig
from frame_ros.robots.gate_records import SECOND, Moment, Output, Reason
from frame_ros.robots.gate_watch import Watch
from frame_ros.robots.measured_joints import LAG, MeasuredJoints, measured_at
from frame_ros.robots.sent_path import SentPath

Indices = NDArray[np.intp]
NEAR = 0.1  # rad from where a joint was sent, within which it goes on from there after a pause


class GateStream:
    """Of one arm.

    limiter: of its joints. arm: the joints without whose measured positions nothing passes. watch:
    is told when they have been measured.

    joints: as measured. commanded: (D,) the joints that have been commanded since the gate was
    idle. sent_at: ns (monotonic), when anything was sent last. is_braking: whether that was the
    gate's own. suspicion: why joint states were not taken, until somebody takes notice. doubted:
    the last suspicion, and when it arose (monotonic, ns).
    """

    def __init__(
        self, limiter: CommandLimiter, arm: Sequence[str], config: GateConfig, watch: Watch
    ) -> None:
        names = limiter.limits.names
        self.limiter, self.names = limiter, names
        self._config, self._watch = config, watch
        self._path = SentPath(len(names), int(LAG * SECOND))
        self.joints = MeasuredJoints(limiter.limits, watch.config.joint_states_timeout, self._path)
        self.suspicion: Reason | None = None
        self.doubted: tuple[Reason, int] | None = None
        self.commanded = np.zeros(len(names), dtype=bool)
        self.sent_at, self.is_braking = 0, False
        self._arm = np.array([name in arm for name in names])
        self._unseen = self._arm.copy()
        self._near = np.where(self._arm, np.minimum(limiter.limits.step, NEAR), math.inf)
        self._seen, self._needed = 0, 0  # ns: the last look; since when the arm must be measured

    def time(self, moment: Moment) -> int:
        """ns on the clock that velocities are by."""
        return moment.clock if self._config.is_simulated else moment.monotonic

    def look(self, moment: Moment) -> None:
        """Notices if nobody looked for longer than a period may be: the process stood still."""
        now = self.time(moment)
        if now - self._seen > self.limiter.longest:
            self._needed = now - self.limiter.longest
        self._seen = now

    def measure(
        self,
        names: Sequence[str],
        positions: ArrayLike,
        stamp: int,
        moment: Moment,
        publisher: Hashable,
    ) -> str:
        """Takes measured positions if they can be true; what is wrong with them, or ''."""
        now = self.time(moment)
        measured = measured_at(stamp, now, moment.clock)
        found = self.joints.take(names, positions, measured, now, moment, publisher)
        if isinstance(found, Reason):
            if found.cause != Cause.MALFORMED:
                self.doubt(found, moment)
            return found.text
        if found is not None:
            self._unseen[found] = False
            if not self._unseen.any() and self._arm[found].any():
                self._unseen = self._arm.copy()
                self._watch.on_joint_states(stamp, moment)
        return ''

    def doubt(self, reason: Reason, moment: Moment) -> None:
        """Something that should not be, until somebody takes notice."""
        self.suspicion, self.doubted = reason, (reason, moment.monotonic)

    def lasting_doubt(self, moment: Moment) -> Reason | None:
        """The last suspicion, until it has not arisen again for a while."""
        if self.doubted is None:
            return None
        reason, at = self.doubted
        timeout = int(self._watch.config.joint_states_timeout * SECOND)
        return reason if moment.monotonic - at <= timeout else None

    def start(self, indices: Indices, moment: Moment, is_idle: bool) -> Reason | None:
        """Lets the joints `indices` start again that must; why they cannot, or None."""
        time, limiter = self.time(moment), self.limiter
        if self._needed:
            if self.joints.times[self._arm].min() < self._needed:
                text = 'the joints were not measured since the gate stood still'
                return Reason(Cause.STALE_JOINT_STATES, text)
            self._needed = 0
        limiter.begin(self.joints.positions, time)
        if not is_idle and time - int(limiter.times[indices].min()) <= limiter.longest:
            return None
        which = np.zeros(len(self.names), dtype=bool)
        which[indices] = True
        has_paused = limiter.has_paused(time)
        which &= has_paused | (is_idle & np.isnan(limiter.base))
        with np.errstate(invalid='ignore'):
            is_far = np.abs(self.joints.positions - limiter.positions) > self._near
        limiter.start_again(which, np.where(is_far, self.joints.positions, math.nan))
        return None

    def send(
        self, stamp: int, proposal: Proposal, names: tuple[str, ...], moment: Moment
    ) -> Output:
        """Makes a proposal what is sent. names: of its joints, if they are known."""
        positions = self.limiter.commit(proposal)
        self.commanded[proposal.indices] = True
        return self._sent(stamp, proposal, positions, names, moment)

    def hold(self, moment: Moment, is_idle: bool) -> Output | None:
        """The next command that brings the arm to rest and keeps it there. None: it was never
        commanded, or must be measured before it is known where to hold it.
        """
        if not self.commanded.any():
            return None
        if self.start(np.flatnonzero(self.commanded), moment, is_idle) is not None:
            return None
        limiter = self.limiter
        if self._config.stop_behaviour == HOLD_STILL and not self.is_braking:
            limiter.start_again(self.commanded & np.isnan(limiter.base), limiter.positions)
        proposal = limiter.brake(self.time(moment), self.commanded)
        if proposal is None:
            return None
        return self._sent(moment.clock, proposal, proposal.positions, None, moment)

    def is_due(self, moment: Moment) -> bool:
        """Whether a command of the gate's own may be sent: a period after the last, and of an arm
        at rest only where such commands are to be repeated.
        """
        if moment.monotonic - self.sent_at < int(self._config.period * SECOND):
            return False
        return self._config.is_streaming or self.is_moving(moment)

    def is_moving(self, moment: Moment) -> bool:
        """Whether the arm is to be sent farther although no command comes."""
        return self.limiter.is_moving(self.time(moment))

    def must_brake(self, moment: Moment) -> bool:
        """Whether the arm goes on braking, or must begin, because no command comes."""
        deadline = self.limiter.deadline()
        time = self.time(moment)
        is_due = self.is_braking or (deadline is not None and time >= deadline)
        return is_due and self.limiter.is_moving(time)

    def next_deadline(self, moment: Moment) -> int | None:
        """When (monotonic, ns) something watched may be overdue, or the arm must be braked if no
        command comes; None: not yet known.
        """
        overdue = self._watch.next_deadline(moment)
        due = None if self._config.is_simulated else self.limiter.deadline()
        if due is None or due <= moment.monotonic:
            return overdue
        return due if overdue is None else min(due, overdue)

    def forget(self) -> None:
        """The arm may be anywhere until it is sent somewhere again."""
        self._path.forget()

    def _sent(
        self,
        stamp: int,
        proposal: Proposal,
        positions: NDArray[np.float64],
        names: tuple[str, ...] | None,
        moment: Moment,
    ) -> Output:
        i = proposal.indices
        self.is_braking, self.sent_at = names is None, moment.monotonic
        self._path.add(i, self._settled(i, positions), self.time(moment))
        if names is None or len(names) != len(i):
            names = tuple(self.names[k] for k in i)
        speeds, times = proposal.velocities, proposal.times
        return Output(stamp, names, positions, speeds, self.is_braking, times)

    def _settled(self, i: Indices, positions: NDArray[np.float64]) -> NDArray[np.float64]:
        """The positions; NaN of joints that are still on their way to where they start again."""
        base = self.limiter.base[i]
        if np.isnan(base).all():
            return positions
        with np.errstate(invalid='ignore'):
            return np.where(np.abs(base - positions) > self._near[i], math.nan, positions)
