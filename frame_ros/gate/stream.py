# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The commanded and measured states of a gate's arm, and where it starts again.

After a pause a joint goes on from its last command, which its servo still holds, if it is measured
near there; otherwise something else moved it, and it goes on from where it is measured, once it is
still. Only commands lead it there: a held or stopped joint is not sent elsewhere.

A driver that was silent may have been started again, with the arm elsewhere or its turns counted
elsewhere: nobody knows where the arm is. Such an arm is braked, but its joints are held only once
they have been still near where they were sent; others start with a command, as after a pause.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.time import SECOND
from frame_ros.core.turns import TURN, nearest_turn
from frame_ros.gate.causes import Cause
from frame_ros.gate.command_input import Command
from frame_ros.gate.limits.command_limiter import CommandLimiter
from frame_ros.gate.limits.command_step import Proposal
from frame_ros.gate.measured_joints import LAG, MeasuredJoints, measured_at
from frame_ros.gate.measured_turns import SIDE, MeasuredTurns
from frame_ros.gate.options import HOLD_STILL, GateRules
from frame_ros.gate.records import Known, Moment, Output, Reason
from frame_ros.gate.sent_path import SentPath
from frame_ros.gate.watchdogs import Watch

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]
STANDING = (Cause.SECOND_PUBLISHER, Cause.COMMAND_FLOOD)
NEAR = 0.1  # rad from where a joint was sent, within which it goes on from there after a pause
HUGE = 1e6  # rad from which on the turn nearest a place is lost in rounding
CATCH_UP = 0.05  # s in which what came meanwhile is taken, after the process stood still
LATE = 1.0  # s that something may have waited before it is taken


class GateStream:
    """The stream of one arm.

    Args:
        limiter: of its joints.
        arm: the joints that must be measured for any command to pass.
        watch: is notified of measurements.
        turns: of the measured joints, if something is known already.

    Attributes:
        joints: as measured.
        commanded: (D,) the joints that have been commanded since the gate was idle.
        sent_at: ns (monotonic), of the last output.
        is_braking: whether that was the gate's own.
        suspicion: why joint states were not taken, until it is handled.
        doubted: the last suspicion, and when it arose (monotonic, ns).
    """

    def __init__(
        self,
        limiter: CommandLimiter,
        arm: Sequence[str],
        config: GateRules,
        watch: Watch,
        is_simulated: bool,
        turns: MeasuredTurns | None = None,
    ) -> None:
        names = limiter.limits.names
        self.limiter, self.names = limiter, names
        self._config, self._watch = config, watch
        self._is_simulated = is_simulated
        self._path = SentPath(len(names), int(LAG * SECOND))
        # What is measured is plausible or not whatever the limits are lowered to.
        started, timeout = limiter.started, watch.config.joint_states_timeout
        self._arm = np.array([name in arm for name in names])
        self.joints = MeasuredJoints(started, timeout, self._path, self._arm, turns)
        self.suspicion: Reason | None = None
        self.doubted: tuple[Reason, int] | None = None
        self.commanded = np.zeros(len(names), dtype=bool)
        self.sent_at, self.is_braking = 0, False
        self._sent_clock = 0  # ns, the robot's clock at the last command
        self._unseen = self._arm.copy()
        self._near = np.where(self._arm, np.minimum(started.step, NEAR), math.inf)
        self._is_endless = started.is_endless
        self._has_endless = bool(self._is_endless.any())
        self._far = np.where(self._is_endless, SIDE, math.inf)
        self._lost = np.zeros(len(names), dtype=bool)  # joints whose driver was silent
        self._starts = np.zeros(len(names), dtype=bool)  # joints that something may have moved
        self._starting = np.zeros(len(names), dtype=bool)  # of these, who start with this command
        self._rest: Array = np.full(len(names), math.nan)  # where they come back to, held
        self._bases: Array = limiter.base  # where they were to start before the command at hand
        self._seen, self._needed = 0, 0  # ns: the last look; since when the arm must be measured
        self.set_backs = 0  # times that the clock was set back
        self._looked, self._catches_up = 0, 0  # monotonic, ns: the last look; until when it waits

    def time(self, moment: Moment) -> int:
        """Returns ns on the clock by which velocities are measured."""
        return moment.clock if self._is_simulated else moment.monotonic

    def has_stood_still(self, moment: Moment) -> bool:
        """Returns whether nothing was called for longer than a period: the process stood still."""
        return moment.monotonic - self._looked > self.limiter.longest

    def is_catching_up(self, moment: Moment) -> bool:
        """Returns whether the process stood still just now, so that inputs may still be queued."""
        return moment.monotonic < self._catches_up

    def look(self, moment: Moment) -> None:
        """Notices whether the process stood still, or the clock was set back."""
        now = self.time(moment)
        self._notice(now, self.limiter.longest, moment)
        if self.has_stood_still(moment):
            self._needed = now - self.limiter.longest
            if self._looked >= self._catches_up:  # not twice in a row: then it is just slow
                self._catches_up = moment.monotonic + int(CATCH_UP * SECOND)
        self._seen, self._looked = now, moment.monotonic

    def _notice(self, now: int, most: int, moment: Moment) -> None:
        """Forgets the arm's position if the clock was set back by more than `most` ns."""
        by = self._seen - now
        if by <= most:
            return
        self._seen, self.set_backs = now, self.set_backs + 1
        self.joints.forget()
        self._path.forget()
        self.limiter.set_back(by)
        self._starts[:], self._unseen, self._needed = True, self._arm.copy(), now
        self._lost[:] = self._arm
        text = f'the clock was set back by {by / SECOND:.3g} s'
        reason = Reason(Cause.CLOCK_SET_BACK, text, value=by / SECOND, unit='s')
        self.doubt(reason, moment)

    def _notice_silence(self, now: int) -> None:
        """Notices whether something may have moved the arm while its driver was silent."""
        is_silent = self._arm & self.joints.is_silent(now)
        if is_silent.any():
            self._lost |= is_silent
            self._starts |= is_silent

    def measure(
        self,
        names: Sequence[str],
        positions: ArrayLike,
        stamp: int,
        moment: Moment,
        publisher: Hashable,
    ) -> str:
        """Takes plausible measured positions; returns what is wrong with them, or ''."""
        now = self.time(moment)
        self._notice(now, self.limiter.longest + int(LATE * SECOND), moment)
        self._notice_silence(now)
        measured = measured_at(stamp, now, moment.clock)
        sent = self.limiter.positions
        found = self.joints.take(names, positions, measured, now, moment, publisher, sent)
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
        """Notes a suspicion until it is handled."""
        self.suspicion, self.doubted = reason, (reason, moment.monotonic)

    def lasting_doubt(self, moment: Moment) -> Reason | None:
        """Returns the last suspicion, until it has been absent for a while."""
        if self.doubted is None:
            return None
        reason, at = self.doubted
        timeout = int(self._watch.config.joint_states_timeout * SECOND)
        return reason if moment.monotonic - at <= timeout else None

    def standing_doubt(self, moment: Moment) -> Reason | None:
        """Returns the last suspicion, if it lasts and is not about a single measurement. With
        nothing commanded there is nothing to stop, but it keeps the first command from passing.
        """
        reason = self.lasting_doubt(moment)
        return reason if reason is not None and reason.cause in STANDING else None

    def blind(self, moment: Moment) -> Reason | None:
        """Reports that the arm was not measured since the process stood still or the clock was
        set.
        """
        if self._needed and self.joints.times[self._arm].min() < self._needed:
            text = 'the joints were not measured since the gate stood still'
            return Reason(Cause.STALE_JOINT_STATES, text)
        self._needed = 0
        return None

    def turned(self, command: Command, moment: Moment) -> Command:
        """Returns a command with joints that turn without end at the turn nearest the last one, or,
        where they start, nearest where they are: an arm goes the short way, whoever counts. One
        that lags behind by more than a turn gives up whole turns.
        """
        if not self._has_endless:
            return command
        limiter, sent = self.limiter, self.limiter.positions
        lag = limiter.requested - sent
        is_late = self._is_endless & (np.abs(lag) > TURN)
        if is_late.any():
            limiter.requested = np.where(is_late, sent + np.fmod(lag, TURN), limiter.requested)
        starts = limiter.has_paused(self.time(moment)) | self._starts
        goes_on = np.where(starts, sent, limiter.requested)
        is_elsewhere = np.isnan(goes_on) | (starts & self._is_far())
        return self.nearest(command, np.where(is_elsewhere, self.joints.positions, goes_on))

    def nearest(self, command: Command, places: Array) -> Command:
        """Returns a command with joints that turn without end at the turn nearest to `places` (D,),
        NaN where unknown.
        """
        i, positions = command.indices, command.positions
        is_huge = self._is_endless[i] & (np.abs(positions) > HUGE)
        if is_huge.any():
            positions = np.where(is_huge, np.fmod(positions, TURN), positions)
        near = nearest_turn(positions, places[i], self._is_endless[i])
        return command._replace(positions=near)

    def start(self, indices: Indices, moment: Moment) -> Reason | None:
        """Lets those of the joints `indices` that must start again do so; returns why they cannot,
        or None. If the command is then refused, `withdraw` undoes it.
        """
        time, limiter = self.time(moment), self.limiter
        limiter.begin(self.joints.positions, time)
        self._bases = limiter.base
        has_paused = limiter.has_paused(time)
        if not has_paused[indices].any() and not self._starts.any():
            self._starting[:] = False
            self._end_hold()
            return None
        which = np.zeros(len(self.names), dtype=bool)
        which[indices] = True
        which &= has_paused | self._starts
        if (problem := self._moved(which, time)) is not None:
            return problem
        self._count_anew(which)
        elsewhere = np.where(self._is_far(), self.joints.positions, math.nan)
        self._end_hold()
        limiter.start_again(which, elsewhere)
        self._starting = which  # until the command is sent, the arm may still move
        return None

    def _count_anew(self, which: Mask) -> None:
        """Counts the turns of joints (D,) that start as they are measured: their driver may have
        begun to count elsewhere, and what is sent would lead the arm through the turns between.
        """
        if not self._has_endless:
            return
        away = self.joints.positions - self.limiter.positions
        has_lost = which & self._is_endless & (np.abs(away) > SIDE)
        if has_lost.any():
            self.limiter.turn(np.where(has_lost, TURN * np.round(away / TURN), 0.0))

    def _moved(self, which: Mask, time: int) -> Reason | None:
        """Returns why one of the joints (D,) cannot start again: it is elsewhere than it was sent,
        and does not stay there.
        """
        moved = which & self._is_far() & np.isnan(self.joints.still.places(time))
        if not moved.any():
            return None
        k = int(np.argmax(moved))
        name, unit = self.names[k], self.limiter.limits.units[k]
        away = float(abs(self.joints.positions[k] - self.limiter.positions[k]))
        text = f'{name} is {away:.3g} {unit} from where it was sent, and not still there'
        return Reason(Cause.IMPLAUSIBLE_JOINT_STATES, text, name, away, NEAR, unit)

    def obstacle(self, joints: Mask, moment: Moment) -> Reason | None:
        """Returns why the first command to the joints (D,) of an arm at rest may be refused: until
        all measurements have been plausible for a while, the gate may know an older place of it.
        """
        which = joints & self._arm & (self.limiter.has_paused(self.time(moment)) | self._starts)
        return self.lasting_doubt(moment) or self._moved(which, self.time(moment))

    def _end_hold(self) -> None:
        """Ends a hold at a command, and with it the way back to where the arm was held. Joints that
        the command leaves out come to rest where they are.
        """
        if self.is_braking:
            self.limiter.go_on()

    def withdraw(self) -> None:
        """Undoes `start` for a refused command."""
        self.limiter.base = self._bases

    def _is_far(self) -> Mask:
        """Returns (D,) whether a joint is measured elsewhere than it was sent."""
        with np.errstate(invalid='ignore'):
            result: Mask = np.abs(self.joints.positions - self.limiter.positions) > self._near
        return result

    def send(
        self, stamp: int, proposal: Proposal, names: tuple[str, ...], moment: Moment
    ) -> Output:
        """Sends a proposal. names: of its joints, if they are known."""
        positions = self.limiter.commit(proposal)
        self._starts &= ~self._starting
        self._lost &= ~self._starting
        self.commanded[proposal.indices] = True
        known = self._known(self.time(moment), False)
        return self._output(stamp, proposal, positions, names, known, moment)

    def hold(self, moment: Moment) -> Output | None:
        """Returns the next command that brings the arm to rest and keeps it there.

        None: it was never commanded, or not measured since the process stood still. A joint that
        was moved while it had no commands is left out: it stays as it is. So does the whole arm, if
        none of its joints had any, and a joint that may be elsewhere, see `_known`.
        """
        if not self.commanded.any() or self.blind(moment) is not None:
            return None
        limiter, time = self.limiter, self.time(moment)
        self._notice_silence(time)
        known = self._known(time, limiter.is_fast(time))
        if not self.is_braking:
            is_still = self._config.stop_behaviour == HOLD_STILL
            self._rest = np.where(is_still & ~limiter.comes_in(), limiter.positions, math.nan)
        self._rest[self._lost] = math.nan
        has_paused = limiter.has_paused(time)
        is_moved = self.commanded & has_paused & self._is_far()
        is_all = is_moved.any() and has_paused[self.commanded].all()
        which = self.commanded & ~(is_moved | is_all)
        if known is not None:
            which &= ~known.are_lost(limiter.positions)
        limiter.start_again(self.commanded, np.where(which, self._rest, math.nan))
        proposal = limiter.brake(time, which)
        if proposal is None:
            return None
        return self._output(moment.clock, proposal, proposal.positions, None, known, moment)

    def _known(self, time: int, is_fast: bool) -> Known | None:
        """Returns where joints may be held; None: wherever they were sent.

        A joint whose driver was silent must have been still near where it was sent, unless the arm
        is fast and must be braked. One that turns without end may never be on another side of where
        its driver has it, which may count its turns elsewhere.
        """
        if not (self._has_endless or self._lost.any()):
            return None
        places = self.joints.resting(time)
        with np.errstate(invalid='ignore'):
            self._lost &= ~(np.abs(places - self.limiter.positions) <= self._near)
        is_lost = self._lost & (not is_fast)
        places = np.where(np.isnan(places), math.inf, places)
        return Known(
            np.where(is_lost, places, self.joints.heard), np.where(is_lost, self._near, self._far)
        )

    def is_due(self, moment: Moment) -> bool:
        """Returns whether a command of the gate's own may be sent. One may be a period after the
        last; to an arm at rest only if such commands are to be repeated; none while a simulated
        clock stands still, where nothing moves: each would count as a step of the episode.
        """
        if moment.monotonic - self.sent_at < int(self._config.period * SECOND):
            return False
        if self._is_simulated and moment.clock == self._sent_clock:
            return False
        return self._config.stream or self.is_moving(moment)

    def is_moving(self, moment: Moment) -> bool:
        """Returns whether the arm is to be sent farther although no command comes."""
        return self.limiter.is_moving(self.time(moment))

    def must_brake(self, moment: Moment) -> bool:
        """Returns whether the arm brakes on, or must begin to, because no command comes."""
        deadline = self.limiter.deadline()
        time = self.time(moment)
        is_due = self.is_braking or (deadline is not None and time >= deadline)
        return is_due and self.limiter.is_moving(time)

    def next_deadline(self, moment: Moment) -> int | None:
        """Returns when (monotonic, ns) an input is overdue or the arm must brake; None: unknown."""
        overdue = self._watch.next_deadline(moment)
        due = None if self._is_simulated else self.limiter.deadline()
        if due is None or due <= moment.monotonic:
            return overdue
        return due if overdue is None else min(due, overdue)

    def let_go(self, moment: Moment) -> None:
        """Allows an arm at rest to be moved by others until it is commanded again."""
        if not self.commanded.any() or self.is_moving(moment):
            return
        self.commanded[:], self._starts[:], self._lost[:] = False, True, False
        self._path.forget()

    def settled(self, moment: Moment) -> Array | None:
        """Returns the places (D,) of an arm at rest that has been still for a while; else None.
        They may differ from where it was sent.
        """
        places = self.joints.still.places(self.time(moment))
        if self.is_moving(moment) or np.isnan(places[self._arm]).any():
            return None
        return places

    def believe(self, positions: Array, moment: Moment) -> None:
        """Takes positions (D,) found by `settled`, wherever the joints were sent."""
        self._path.forget()
        self.joints.believe(positions, self.time(moment))
        self._watch.on_joint_states(moment.clock, moment)

    def _output(
        self,
        stamp: int,
        proposal: Proposal,
        positions: NDArray[np.float64],
        names: tuple[str, ...] | None,
        known: Known | None,
        moment: Moment,
    ) -> Output:
        i = proposal.indices
        self.is_braking, self.sent_at = names is None, moment.monotonic
        self._sent_clock = moment.clock
        self._path.add(i, self._settled(i, positions), self.time(moment))
        if names is None or len(names) != len(i):
            names = tuple(self.names[k] for k in i)
        speeds, times = proposal.velocities, proposal.times
        return Output(stamp, names, positions, speeds, self.is_braking, times, known)

    def _settled(self, i: Indices, positions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns the positions; NaN for joints still on their way to where they start again."""
        base = self.limiter.base[i]
        if np.isnan(base).all():
            return positions
        with np.errstate(invalid='ignore'):
            return np.where(np.abs(base - positions) > self._near[i], math.nan, positions)
