# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Answers of a session to the robot: one trial per episode, however often it is asked for."""

from __future__ import annotations

from frame_ros.policies.remote.messages import Request
from frame_ros.policies.remote.service import InferenceService


class SessionService(InferenceService):
    """Begins an episode once: an observation that is sent again after an error, or over another
    connection, is of the same trial.
    """

    _episode = ''

    def _begins_episode(self, client: object, request: Request) -> bool:
        if not request.episode:
            return super()._begins_episode(client, request)
        is_new = request.episode != self._episode
        self._episode = request.episode
        return is_new
