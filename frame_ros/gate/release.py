# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Release of a latched stop: the objections to it, and where the arm starts from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frame_ros.gate.causes import Cause
from frame_ros.gate.command_input import too_far
from frame_ros.gate.duty import Duty
from frame_ros.gate.records import Moment, Reason
from frame_ros.gate.stream import GateStream
from frame_ros.gate.watchdogs import Watch

Array = NDArray[np.float64]


class Release:
    """The release of an arm that was stopped for `cause`, at `moment`.

    Attributes:
        is_of_policy: whether the policy drives after the release.
        settled: (D,) positions of joints that have been still for a while, which then count even if
            they are implausible; None: they have not been still.
    """

    def __init__(self, stream: GateStream, cause: str, is_of_policy: bool, moment: Moment) -> None:
        self._stream, self._cause, self._moment = stream, cause, moment
        self._is_of_policy = is_of_policy
        self.settled = stream.settled(moment)

    def problem(self, watch: Watch, duty: Duty) -> Reason | None:
        """Returns why the stop cannot be released yet."""
        moment, problem = self._moment, self._doubt(watch)
        if problem is None and self._is_of_policy:
            problem = duty.lasting_problem(self._cause, moment)
        command = duty.fresh_command(moment)
        if problem is None and command is not None:
            measured = self._stream.joints.positions if self.settled is None else self.settled
            command = self._stream.nearest(command, measured)
            problem = too_far(command, measured, self._stream.limiter.limits)
        return problem

    def start(self) -> None:
        """Starts the arm from where it is."""
        if self.settled is not None:
            self._stream.believe(self.settled, self._moment)

    def _doubt(self, watch: Watch) -> Reason | None:
        """Returns why the arm's position is uncertain."""
        problem = self._stream.lasting_doubt(self._moment)
        if self.settled is None:
            return problem or watch.joints_problem(self._moment)
        is_outdated = problem is None or problem.cause == Cause.IMPLAUSIBLE_JOINT_STATES
        return None if is_outdated else problem
