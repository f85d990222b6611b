# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The command gate: takes commands, sends on what the arm may execute, and reports why they
differ.

It monitors and limits. It is no certified safety function.

    IDLE      a command that passes -> PASSING; an episode without commands -> HOLDING
    PASSING   an input is missing -> HOLDING or STOPPED; the episode is over -> IDLE
    HOLDING   a command that passes -> PASSING; for too long -> STOPPED; the episode is over -> IDLE
    STOPPED   nothing passes until `reset`
    TAKEOVER  the teleoperator's commands pass; its end -> HOLDING

Nothing here waits or knows ROS: the caller passes in each input with its time, calls `tick` once
per period, and sends the commands returned to the arm.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.gate.causes import Cause
from frame_ros.gate.command_input import Command, CommandReader, too_far
from frame_ros.gate.duty import Duty
from frame_ros.gate.episode import GateEpisode
from frame_ros.gate.limits.command_limiter import CommandLimiter
from frame_ros.gate.limits.command_step import Proposal
from frame_ros.gate.measured_turns import MeasuredTurns
from frame_ros.gate.options import CLAMP, REFUSE, GateRules
from frame_ros.gate.records import (
    Act,
    GateCounts,
    GateStatus,
    InterventionLog,
    Moment,
    Output,
    Reason,
)
from frame_ros.gate.release import Release
from frame_ros.gate.stream import GateStream
from frame_ros.gate.watchdogs import STOP, Heartbeat, Watch

Array = NDArray[np.float64]
POLICY, TELEOPERATOR = 'policy', 'teleoperator'


class CommandGate:
    """One arm's gate; not thread-safe.

    Args:
        limiter: the limits of its joints.
        arm: the joints that must be measured for any command to pass.
        log: gets the interventions.
        announce: gets 'stop', 'takeover_start' and 'takeover_end' with their reason, when they
            happen.
        is_simulated: whether velocities are measured by the robot's clock, which is simulated.
        turns: of the measured joints, if something is known already of an earlier gate.

    Attributes:
        status, reason, since: the state, its cause and its start (ns, robot's clock).
        version: grows whenever status or cause change.
    """

    def __init__(
        self,
        limiter: CommandLimiter,
        arm: Sequence[str],
        config: GateRules,
        log: InterventionLog,
        announce: Callable[[str, Reason, Moment], None] = lambda kind, reason, moment: None,
        is_simulated: bool = False,
        turns: MeasuredTurns | None = None,
    ) -> None:
        self.config, self.counts, self.version = config, GateCounts(), 0
        self.status, self.reason, self.since = GateStatus.IDLE, Reason(''), 0
        self.episode, self.watch = GateEpisode(), Watch(config.watchdogs)
        self._duty = Duty(self.watch, self.episode)
        self._stream = GateStream(limiter, arm, config, self.watch, is_simulated, turns)
        self._limiter, self._log, self._announce = limiter, log, announce
        self._readers = {
            source: CommandReader(limiter.limits.names, config.watchdogs.command_timeout)
            for source in (POLICY, TELEOPERATOR)
        }
        self._is_synchronised = self._has_taken_over = False
        self._set_backs = 0  # of the clock, that the readers have been notified of
        self._policies: frozenset[bytes] = frozenset()

    # Inputs.

    def activate(self, moment: Moment) -> None:
        """Begins, and ignores everything that happened before."""
        self.since = moment.clock

    @property
    def measured(self) -> Array:
        """(D,) rad or m, the last plausible positions; NaN where unknown."""
        return self._stream.joints.positions

    @property
    def set_backs(self) -> int:
        """Number of times that the clock was set back."""
        return self._stream.set_backs

    def on_joint_states(
        self,
        names: Sequence[str],
        positions: ArrayLike,
        stamp: int,
        moment: Moment,
        publisher: Hashable = None,
    ) -> str:
        """Takes measured positions (K,), stamp in ns; returns what is wrong with them, or ''.
        Implausible positions are not taken; the next `tick` stops an arm that is being commanded.
        publisher: identifies the sender.
        """
        return self._stream.measure(names, positions, stamp, moment, publisher)

    def doubt(self, reason: Reason, moment: Moment) -> None:
        """Notes a suspicion: the next `tick` stops an arm that is being commanded. No reset
        releases the stop until the suspicion has been absent for a while.
        """
        self._stream.doubt(reason, moment)

    def on_heartbeat(self, beat: Heartbeat, moment: Moment) -> None:
        """Notes that the policy node is alive."""
        self.watch.on_heartbeat(beat, moment)

    def on_boundary(self, kind: str, episode_id: str, stamp: int) -> None:
        """Notes START or END (gate_episode) of an episode at `stamp`, ns."""
        self.episode.add(kind, episode_id, stamp)

    def on_episode_stop(
        self, episode_id: str, is_history: bool, text: str, moment: Moment
    ) -> Output | None:
        """Stops because another node stopped the robot, whatever the event's stamp and episode.
        is_history: published before this gate began, so that it counts only for an episode that
        still runs.
        """
        self._update(moment)
        is_current = self.episode.is_running and self.episode.is_meant(episode_id)
        if is_history and not is_current:
            return None
        return self.stop(Reason(Cause.EPISODE_STOP, text), moment)

    def leave_out(self, source: str, count: int) -> None:
        """Counts commands that were skipped because newer ones had arrived."""
        if (source == TELEOPERATOR) == self._has_taken_over:
            self.counts.received += count
            self.counts.refused += count

    def on_command(
        self,
        source: str,
        stamp: int,
        names: Sequence[str],
        positions: ArrayLike,
        moment: Moment,
        publisher: Hashable = None,
    ) -> Output | None:
        """Takes a command of POLICY or TELEOPERATOR, stamp in ns; returns the command to send, or
        None. A source that does not drive is ignored. publisher: identifies the sender.
        """
        if (source == TELEOPERATOR) != self._has_taken_over:
            return None
        self._update(moment)
        self.counts.received += 1
        reader = self._readers[source]
        other = reader.other_publisher(publisher, moment)
        if other is not None:
            self.counts.refused += 1
            self._log.add(Act.REFUSED, other, moment, self.episode.episode_id)
            return None
        command = reader.read(stamp, names, positions, moment)
        if isinstance(command, Reason):
            return self._refuse(command, self.config.reactions.bad_command, moment)
        reader.accept(command, publisher, moment)
        self._duty.on_command(command, moment)
        if self.status == GateStatus.STOPPED:
            self.counts.refused += 1
            return None
        if self._stream.suspicion is not None and self._is_sending():
            self.counts.refused += 1
            return self.stop(self._stream.suspicion, moment)
        problem = self.watch.problem(moment, source == POLICY)
        is_doubt = problem is None and not self._is_sending()
        if is_doubt:
            problem = self._stream.standing_doubt(moment)
        if problem is not None:
            # An arm that does not move needs no hold or stop, nor does one whose episode is over.
            is_owed = self._duty.is_engaged(moment) and not is_doubt
            if not is_owed or self._stream.is_catching_up(moment):
                return self._refuse(problem, REFUSE, moment)
            self.counts.refused += 1
            self.watch.on_kept_back(moment)
            return self._respond(problem, moment)
        output, is_passed = self._send_within_limits(command, moment)
        if is_passed:
            reader.follow(command, publisher, moment)
        return output

    def set_takeover(self, has_taken_over: bool, moment: Moment) -> Output | None:
        """Hands the arm to the teleoperator, or back to the policy."""
        if has_taken_over == self._has_taken_over:
            return None
        self._has_taken_over = has_taken_over
        if self.status == GateStatus.STOPPED:
            return None
        if has_taken_over:
            self._take_over(moment)
        else:
            self._give_back(moment)
        return self._hold(moment)

    def stop(self, reason: Reason, moment: Moment) -> Output | None:
        """Stops and stays stopped until `reset`."""
        if self.status == GateStatus.STOPPED:
            return None
        self._update(moment)
        self._log.end_all(moment)
        if self.status == GateStatus.TAKEOVER:
            self._announce('takeover_end', reason, moment)
        self._set_status(GateStatus.STOPPED, reason, moment)
        self.counts.stops += 1
        self._log.once(Act.STOPPED, reason, moment, self.episode.episode_id)
        self._announce('stop', reason, moment)
        return self._hold(moment)

    def reset(self, moment: Moment) -> tuple[bool, str]:
        """Releases a latched stop if its cause is gone; returns whether it did, and why. An arm at
        rest that has been measured at one place for a while starts from there, wherever it was
        sent.
        """
        if self.status != GateStatus.STOPPED:
            return False, f'the gate is not stopped, it is {self.status.name.lower()}'
        release = Release(self._stream, self.reason.cause, not self._has_taken_over, moment)
        problem = release.problem(self.watch, self._duty)
        if problem is not None:
            return False, f'still stopped, {problem.cause}: {problem.text}'
        before = self.reason
        reason = Reason(Cause.OPERATOR, f'reset after {before.cause}: {before.text}')
        self._log.once(Act.RESET, reason, moment, self.episode.episode_id)
        release.start()
        self._go_idle(moment)
        if self._has_taken_over:
            self._take_over(moment)
        return True, f'released; it was stopped by {before.cause}: {before.text}'

    def tick(self, moment: Moment) -> Output | None:
        """Checks the watchdogs; to be called once per period, and whenever one may be overdue.
        Returns the command that holds the arm, if one is due.
        """
        self._update(moment)
        self._log.expire(moment)
        suspicion, self._stream.suspicion = self._stream.suspicion, None
        if suspicion is not None and self._is_sending():
            return self.stop(suspicion, moment)
        if self.status == GateStatus.IDLE:
            self._stream.let_go(moment)
        is_watching = self.status in (GateStatus.IDLE, GateStatus.PASSING, GateStatus.HOLDING)
        if is_watching and not self._stream.is_catching_up(moment):
            if self.status != GateStatus.IDLE and self._duty.is_over(moment):
                self._go_idle(moment)
            problem = self._duty.problem(moment)
            if problem is not None:
                output = self._respond(problem, moment)
                if output is not None:
                    return output
        return self._hold(moment) if self._is_hold_due(moment) else None

    def obstacle(self, moment: Moment, policies: frozenset[bytes] | None = None) -> str:
        """Returns why the first command to an idle arm may be refused now: a joint that the policy
        commands was moved just now, or the arm is measured where it cannot be; ''.

        policies: ids of those who publish its commands now; another one may command other joints.
            None: not known.
        """
        if policies is not None and policies != self._policies:
            self._policies = policies
            self._readers[POLICY].forget_publisher()
        if self.status != GateStatus.IDLE or self._is_sending():
            return ''
        joints = self._readers[POLICY].joints
        reason = self._stream.obstacle(joints if joints.any() else ~joints, moment)
        return reason.text if reason is not None else ''

    def is_moving(self, moment: Moment) -> bool:
        """Returns whether the arm is still braking, or on its way to its starting place."""
        return self._stream.is_moving(moment)

    def deactivate(self, moment: Moment) -> Output | None:
        """Ends the gate: returns the next command on the way to rest, or None if none is needed. To
        be called once per period while the arm `is_moving`; the last command is the one that stays
        in force.
        """
        self._update(moment)
        self._log.end_all(moment)
        is_owed = self.status != GateStatus.IDLE or self.is_moving(moment)
        return self._hold(moment) if is_owed else None

    def next_deadline(self, moment: Moment) -> int | None:
        """Returns when (monotonic, ns) `tick` must be called next."""
        return self._stream.next_deadline(moment)

    # Commands.

    def _send_within_limits(self, command: Command, moment: Moment) -> tuple[Output | None, bool]:
        """Sends on a readable command as far as the limits allow. Returns the command sent, and
        whether it equals the one received.
        """
        command = self._stream.turned(command, moment)
        problem = self._stream.blind(moment)
        if problem is None and not self._is_synchronised:
            problem = too_far(command, self.measured, self._limiter.limits)
        problem = problem or self._stream.start(command.indices, moment)
        if problem is not None:
            return self._refuse(problem, REFUSE, moment), False
        proposal = self._limiter.propose(
            command.indices, command.positions, self._stream.time(moment), self.measured
        )
        action, excess = self.config.gravest(proposal.excesses)
        if excess is None or action == CLAMP:
            return self._let_pass(command, proposal, moment), True
        self._stream.withdraw()
        return self._refuse(Reason.of(excess), action, moment), False

    def _let_pass(self, command: Command, proposal: Proposal, moment: Moment) -> Output:
        self._is_synchronised = True
        self.watch.on_command(moment)
        if proposal.excesses:
            self.counts.limited += 1
            reason = Reason.of(proposal.excesses[0])
            self._log.add(Act.LIMITED, reason, moment, self.episode.episode_id)
        else:
            self.counts.passed += 1
        if self.status != GateStatus.TAKEOVER:
            self._log.end(Act.HELD, moment)
            self._set_status(GateStatus.PASSING, Reason(''), moment)
        return self._stream.send(command.stamp, proposal, command.names, moment)

    def _refuse(self, reason: Reason, action: str, moment: Moment) -> Output | None:
        self.counts.refused += 1
        if action == STOP:
            return self.stop(reason, moment)
        if self.status == GateStatus.STOPPED:
            return None
        self._log.add(Act.REFUSED, reason, moment, self.episode.episode_id)
        is_moving = self.status in (GateStatus.PASSING, GateStatus.TAKEOVER)
        return self._hold(moment) if is_moving and self._is_synchronised else None

    # Reactions to missing inputs.

    def _respond(self, problem: Reason, moment: Moment) -> Output | None:
        """Holds or stops, as configured for the cause."""
        if self.status == GateStatus.TAKEOVER:
            self._log.add(Act.REFUSED, problem, moment, self.episode.episode_id)
            return None
        if self.watch.action(problem, moment) == STOP and self._duty.is_engaged(moment):
            return self.stop(problem, moment)
        is_new = self.status != GateStatus.HOLDING
        if is_new:
            self.counts.holds += 1
        elif self.reason.cause != problem.cause:
            self._log.end(Act.HELD, moment)
        self._set_status(GateStatus.HOLDING, problem, moment)
        self._log.add(Act.HELD, problem, moment, self.episode.episode_id)
        return self._hold(moment) if is_new else None

    def _is_sending(self) -> bool:
        """Returns whether the arm is being commanded or held."""
        if self.status in (GateStatus.IDLE, GateStatus.STOPPED) or not self._stream.commanded.any():
            return False
        return self.episode.is_running or not self._duty.has_ended()

    def _take_over(self, moment: Moment) -> None:
        reason = Reason(Cause.OPERATOR, 'the user takes over')
        self._log.end_all(moment)
        self.watch.forget_commands()
        self._set_status(GateStatus.TAKEOVER, reason, moment)
        self._is_synchronised = False
        self._log.add(Act.TAKEOVER, reason, moment, self.episode.episode_id)
        self._announce('takeover_start', reason, moment)

    def _give_back(self, moment: Moment) -> None:
        reason = Reason(
            Cause.OPERATOR, 'the takeover is over; no command of the policy has passed yet'
        )
        self._log.end_all(moment)
        self._announce('takeover_end', reason, moment)
        self.watch.forget_commands()
        self._duty.wait_again(moment)
        self._is_synchronised = False
        self._set_status(GateStatus.HOLDING, reason, moment)

    def _go_idle(self, moment: Moment) -> None:
        self._log.end_all(moment)
        self.watch.forget_commands()
        self._duty.wait(moment)
        self._stream.let_go(moment)
        self._is_synchronised = False
        self._set_status(GateStatus.IDLE, Reason(''), moment)

    # Holding.

    def _is_hold_due(self, moment: Moment) -> bool:
        """Returns whether the holding command is to be sent again."""
        if not self._stream.is_due(moment):
            return False
        if self.status in (GateStatus.HOLDING, GateStatus.STOPPED):
            return True
        is_driven = self.watch.command_age(moment) <= self.config.watchdogs.command_timeout
        if self.status == GateStatus.TAKEOVER and not is_driven:
            return True
        if self.status == GateStatus.IDLE:
            return self._stream.is_moving(moment)
        return self._stream.must_brake(moment)

    def _hold(self, moment: Moment) -> Output | None:
        """Returns the next command that brings the arm to rest and keeps it there."""
        if self.status in (GateStatus.HOLDING, GateStatus.STOPPED):
            self._is_synchronised = False
        return self._stream.hold(moment)

    def _update(self, moment: Moment) -> None:
        self._stream.look(moment)
        if self._stream.set_backs != self._set_backs:
            self._set_backs = self._stream.set_backs
            for reader in self._readers.values():
                reader.forget_order()
        if self.episode.advance(moment):
            self._log.begin_episode()
            self._duty.wait(moment)

    def _set_status(self, status: GateStatus, reason: Reason, moment: Moment) -> None:
        if status != self.status or reason.cause != self.reason.cause:
            self.version += 1
            self.since = moment.clock
        self.status, self.reason = status, reason
