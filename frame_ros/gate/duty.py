# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The period in which an arm is owed commands, and what is missing meanwhile."""

from __future__ import annotations

import math

from frame_ros.core.time import SECOND
from frame_ros.gate.causes import Cause
from frame_ros.gate.command_input import Command
from frame_ros.gate.episode import GateEpisode
from frame_ros.gate.records import Moment, Reason
from frame_ros.gate.watchdogs import Watch

OF_POLICY = (Cause.HEARTBEAT, Cause.STALE_OBSERVATION, Cause.POLICY_PROBLEM)


class Duty:
    """Commands are owed from the first that passed, or an episode's START, to the end of either.

    Args:
        watch: of the inputs that must keep coming meanwhile.
        episode: the episode that the gate is in.
    """

    def __init__(self, watch: Watch, episode: GateEpisode) -> None:
        self._watch, self._episode = watch, episode
        self._timeout = int(watch.config.command_timeout * SECOND)
        self._newest: Command | None = None
        self._newest_at = 0  # monotonic, ns: of the last command that could be read
        self._waiting_since = 0  # monotonic, ns: for the first command of an episode

    def on_command(self, command: Command, moment: Moment) -> None:
        """Notes a readable command, sent on or not."""
        self._newest, self._newest_at = command, moment.monotonic

    def wait(self, moment: Moment) -> None:
        """Waits from now for an episode's first command."""
        self._waiting_since = moment.monotonic

    def wait_again(self, moment: Moment) -> None:
        """Waits for the policy's next command, as if its last had come now."""
        self._waiting_since = self._newest_at = moment.monotonic

    def is_engaged(self, moment: Moment) -> bool:
        """Returns whether commands have passed and more are owed."""
        return not math.isnan(self._watch.command_age(moment))

    def has_ended(self) -> bool:
        """Returns whether an episode has ended, and no command came well after it."""
        ended = self._episode.ended
        return ended is not None and self._newest_at <= ended + self._timeout

    def is_over(self, moment: Moment) -> bool:
        """Returns whether no more commands are owed: episode or policy have ended."""
        watch, beat = self._watch, self._watch.heartbeat
        if self._episode.is_running or moment.monotonic - self._newest_at <= self._timeout:
            return False
        if self.has_ended() or not self.is_engaged(moment):
            return True
        is_alive = watch.heartbeat_problem(moment) is None
        return beat is not None and is_alive and not beat.is_acting and not beat.problem

    def problem(self, moment: Moment) -> Reason | None:
        """Returns why the arm must be held, if commands are owed and missing."""
        watch, is_engaged = self._watch, self.is_engaged(moment)
        if not is_engaged and not self._episode.is_running:
            return None
        problem = watch.joints_problem(moment) if is_engaged else None
        problem = problem or watch.policy_problem(moment)
        if problem is not None or is_engaged:
            return problem or watch.command_problem(moment)
        waited, limit = (
            (moment.monotonic - self._waiting_since) / SECOND,
            watch.config.start_timeout,
        )
        if waited <= limit:
            return None
        text = f'no command in the {waited:.1f} s that the episode has been waiting'
        return Reason(Cause.STALE_COMMAND, text, value=waited, limit=limit, unit='s')

    # Objections to the release of a stop.

    def fresh_command(self, moment: Moment) -> Command | None:
        """Returns the last readable command, if they keep coming."""
        is_fresh = moment.monotonic - self._newest_at <= self._timeout
        return self._newest if is_fresh else None

    def lasting_problem(self, cause: str, moment: Moment) -> Reason | None:
        """Returns what is wrong with the policy, if it drives or was the stop's `cause`."""
        if cause in OF_POLICY or self.fresh_command(moment) is not None:
            return self._watch.policy_problem(moment)
        return None
