# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Answers of a session to the robot: one trial per episode, however often it is asked for."""

from __future__ import annotations

from typing import Any

from frame_ros.core.errors import PolicyError
from frame_ros.evaluation.sessions.blinded_policy import BlindedPolicy
from frame_ros.policies.remote.messages import Request
from frame_ros.policies.remote.service import InferenceService


class SessionService(InferenceService):
    """Begins an episode once: an observation that is sent again after an error, or over another
    connection, is of the same trial, and one of an episode that another followed is of none.

    Raises:
        PolicyError: the client does not name its episodes, or comes back with an earlier one.
    """

    policy: BlindedPolicy

    def __init__(self, *arguments: Any, **others: Any) -> None:
        super().__init__(*arguments, **others)
        self._episode = ''
        self._earlier: set[str] = set()

    def _begins_episode(self, client: object, request: Request) -> bool:
        if not (request.episode and request.start):
            raise PolicyError(
                'the client does not name its episodes and their START, so that a connection that '
                'was made again, or a takeover, would begin a trial; install the version of '
                'frame_ros that serves the session'
            )
        if request.episode in self._earlier:
            raise PolicyError('another episode has begun since; start a new one')
        is_new = request.episode != self._episode
        if is_new:
            self._earlier.add(self._episode)
            self._episode, self.policy.start = request.episode, request.start
        return is_new
