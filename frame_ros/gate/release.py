# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Release of a latched stop: what still stands against it, and where the arm starts from."""

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
    """Of one arm that was stopped for `cause`, at `moment`.

    is_of_policy: whether the policy drives, once it is released. settled: (D,) where the joints
    are, if they have been still there for a while: then that counts, and no longer that they cannot
    have come there; None: they have not.
    """

    def __init__(self, stream: GateStream, cause: str, is_of_policy: bool, moment: Moment) -> None:
        self._stream, self._cause, self._moment = stream, cause, moment
        self._is_of_policy = is_of_policy
        self.settled = stream.settled(moment)

    def problem(self, watch: Watch, duty: Duty) -> Reason | None:
        """Why the stop cannot be released yet."""
        moment, problem = self._moment, self._doubt(watch)
        if problem is None and self._is_of_policy:
            problem = duty.lasting_problem(self._cause, moment)
        command = duty.fresh_command(moment)
        if problem is None and command is not None:
            measured = self._stream.joints.positions if self.settled is None else self.settled
            problem = too_far(command, measured, self._stream.limiter.limits)
        return problem

    def start(self) -> None:
        """The arm starts from where it is."""
        if self.settled is not None:
            self._stream.believe(self.settled, self._moment)

    def _doubt(self, watch: Watch) -> Reason | None:
        """Why it is not known where the arm is."""
        problem = self._stream.lasting_doubt(self._moment)
        if self.settled is None:
            return problem or watch.joints_problem(self._moment)
        is_outdated = problem is None or problem.cause == Cause.IMPLAUSIBLE_JOINT_STATES
        return None if is_outdated else problem
