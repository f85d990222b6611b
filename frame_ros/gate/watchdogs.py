# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The watchdogs of a command gate: inputs that must keep coming while a policy moves the arm."""

from __future__ import annotations

import math
from dataclasses import dataclass

from frame_ros.core.options import option, options
from frame_ros.core.time import SECOND
from frame_ros.gate.causes import Cause
from frame_ros.gate.records import Moment, Reason

HOLD, STOP = REACTIONS = 'hold', 'stop'


@options
class WatchdogOptions:
    """Timeouts while commands are owed, and the reaction to each: hold (until the cause is gone) or
    stop (latched).
    """

    command_timeout: float = option(
        0.25, 'time without a command; an older stamp is refused', unit='s', above=0.0
    )
    on_stale_command: str = option(HOLD, 'reaction to it', choices=REACTIONS)
    stop_timeout: float = option(
        2.0,
        'time without a command after which a hold becomes a latched stop; 0: never',
        unit='s',
        at_least=0.0,
    )
    start_timeout: float = option(30.0, 'time from START to the first command', unit='s', above=0.0)
    heartbeat_timeout: float = option(
        0.5, 'time without policy_heartbeat, once one has come', unit='s', above=0.0
    )
    heartbeat_required: bool = option(False, 'refuse commands before the first heartbeat')
    on_heartbeat: str = option(STOP, 'reaction to a missing heartbeat', choices=REACTIONS)
    joint_states_timeout: float = option(0.5, 'time without new joint states', unit='s', above=0.0)
    on_stale_joint_states: str = option(HOLD, 'reaction to it', choices=REACTIONS)
    observation_timeout: float = option(
        5.0,
        'age of the observation behind an action; more than a chunk lasts',
        unit='s',
        above=0.0,
    )
    on_stale_observation: str = option(HOLD, 'reaction to an older one', choices=REACTIONS)
    problem_timeout: float = option(
        0.5, 'time for which the policy reports that it cannot act', unit='s', above=0.0
    )
    on_policy_problem: str = option(HOLD, 'reaction to it', choices=REACTIONS)


@dataclass(frozen=True)
class Heartbeat:
    """The policy node's message per tick; stamps in ns, 0: none."""

    is_acting: bool
    is_stalled: bool = False
    observation_stamp: int = 0
    problem: str = ''


class Watch:
    """Records when each input came last, and finds the missing one. Times are taken on the
    monotonic clock; stamps are also compared with the robot's clock, so that neither a clock that
    stands still nor inputs repeated with old stamps pass unnoticed.
    """

    def __init__(self, config: WatchdogOptions) -> None:
        self.config = config
        self.heartbeat: Heartbeat | None = None
        self._command: int | None = None
        self._kept_back = 0  # monotonic, ns: of a command that another input kept from passing
        self._beat: int | None = None
        self._joints: int | None = None
        self._joints_stamp = 0
        self._observation: int | None = None
        self._problem_since: int | None = None

    def on_command(self, moment: Moment) -> None:
        """Notes an accepted command."""
        self._command = moment.monotonic

    def on_kept_back(self, moment: Moment) -> None:
        """Notes a command that would have passed if no other input had been missing."""
        self._kept_back = moment.monotonic

    def on_heartbeat(self, beat: Heartbeat, moment: Moment) -> None:
        """Notes that the policy node is alive."""
        before = self.heartbeat
        if before is None or before.observation_stamp != beat.observation_stamp:
            self._observation = moment.monotonic
        has_trouble = bool(beat.problem) and (beat.is_stalled or not beat.is_acting)
        if not has_trouble:
            self._problem_since = None
        elif self._problem_since is None:
            self._problem_since = moment.monotonic
        self.heartbeat, self._beat = beat, moment.monotonic

    def on_joint_states(self, stamp: int, moment: Moment) -> None:
        """Notes a measurement of the joints at `stamp`; an old stamp brings nothing new."""
        if stamp != self._joints_stamp:
            self._joints_stamp, self._joints = stamp, moment.monotonic

    def forget_commands(self) -> None:
        """Forgets past commands: none are expected now."""
        self._command = None
        self._problem_since = None

    # Ages, s; NaN: never received.

    def command_age(self, moment: Moment) -> float:
        """Returns the age of the last accepted command."""
        return _age(self._command, moment)

    def heartbeat_age(self, moment: Moment) -> float:
        """Returns the age of the last heartbeat."""
        return _age(self._beat, moment)

    def joint_states_age(self, moment: Moment) -> float:
        """Returns the age of the last measurement, by whichever clock makes it older."""
        age = _age(self._joints, moment)
        if self._joints_stamp <= 0:
            return age
        return max(age, (moment.clock - self._joints_stamp) / SECOND)

    def observation_age(self, moment: Moment) -> float:
        """Returns the age of the last action's observation, by whichever clock makes it older."""
        beat = self.heartbeat
        if beat is None or beat.observation_stamp <= 0:
            return math.nan
        by_clock = (moment.clock - beat.observation_stamp) / SECOND
        return max(by_clock, _age(self._observation, moment))

    # Problems.

    def problem(self, moment: Moment, is_of_policy: bool) -> Reason | None:
        """Returns why a command, of the policy or not, may not pass."""
        problem = self.joints_problem(moment)
        return self.policy_problem(moment) if problem is None and is_of_policy else problem

    def joints_problem(self, moment: Moment) -> Reason | None:
        """Returns why commands cannot be compared with the measured joints."""
        age, limit = self.joint_states_age(moment), self.config.joint_states_timeout
        if age <= limit:
            return None
        text = 'no joint states yet' if math.isnan(age) else f'joint states are {age:.2f} s old'
        return Reason(Cause.STALE_JOINT_STATES, text, value=age, limit=limit, unit='s')

    def policy_problem(self, moment: Moment) -> Reason | None:
        """Returns why the policy's commands may not pass, heartbeat first."""
        return (
            self.heartbeat_problem(moment)
            or self._observation_problem(moment)
            or self._said_problem(moment)
        )

    def heartbeat_problem(self, moment: Moment) -> Reason | None:
        """Returns a reason if the heartbeat is missing."""
        age, limit = self.heartbeat_age(moment), self.config.heartbeat_timeout
        if age <= limit or (math.isnan(age) and not self.config.heartbeat_required):
            return None
        text = (
            'no heartbeat of the policy yet'
            if math.isnan(age)
            else f'the last heartbeat of the policy is {age:.2f} s old'
        )
        return Reason(Cause.HEARTBEAT, text, value=age, limit=limit, unit='s')

    def command_problem(self, moment: Moment) -> Reason | None:
        """Returns a reason if commands came and stopped."""
        age, limit = self._silence(moment), self.config.command_timeout
        if not age > limit:
            return None
        text = f'the last command is {age:.2f} s old'
        return Reason(Cause.STALE_COMMAND, text, value=age, limit=limit, unit='s')

    def action(self, reason: Reason, moment: Moment) -> str:
        """Returns 'hold' or 'stop' for a reason given by this watch: no hold outlasts
        `stop_timeout` without a command.
        """
        limit = self.config.stop_timeout
        if limit > 0.0 and self._silence(moment) > limit:
            return STOP
        return str(getattr(self.config, f'on_{reason.cause}'))

    def next_deadline(self, moment: Moment) -> int | None:
        """Returns when (monotonic, ns) the next input will be overdue."""
        config = self.config
        ends = (
            (self._command, config.command_timeout),
            (self._beat, config.heartbeat_timeout),
            (self._joints, config.joint_states_timeout),
        )
        times = (at + int(limit * SECOND) + 1 for at, limit in ends if at is not None)
        return min((time for time in times if time > moment.monotonic), default=None)

    def _silence(self, moment: Moment) -> float:
        """Returns s since a command came, passed or kept back; NaN: none has passed."""
        if self._command is None:
            return math.nan
        return _age(max(self._command, self._kept_back), moment)

    def _observation_problem(self, moment: Moment) -> Reason | None:
        age, limit = self.observation_age(moment), self.config.observation_timeout
        if self.heartbeat is None or not self.heartbeat.is_acting or not age > limit:
            return None
        text = f'the action was computed from an observation of {age:.2f} s ago'
        return Reason(Cause.STALE_OBSERVATION, text, value=age, limit=limit, unit='s')

    def _said_problem(self, moment: Moment) -> Reason | None:
        age, limit = _age(self._problem_since, moment), self.config.problem_timeout
        if self.heartbeat is None or not age > limit:
            return None
        return Reason(Cause.POLICY_PROBLEM, f'the policy reports: {self.heartbeat.problem}')


def _age(at: int | None, moment: Moment) -> float:
    return math.nan if at is None else (moment.monotonic - at) / SECOND
