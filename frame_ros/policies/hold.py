# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy that does nothing: it commands the joint positions that it sees."""

from __future__ import annotations

import numpy as np

from frame_ros.core.errors import ValueRangeError
from frame_ros.policies.base import Policy
from frame_ros.policies.protocol import Inference, Observation


class HoldPolicy(Policy):
    """Holds the robot where it is; a baseline, and a check of a new robot's topics.

    horizon: steps of a chunk. dt: s between them.
    """

    name = 'hold'

    def __init__(self, horizon: int = 20, dt: float = 1 / 30) -> None:
        if horizon < 1 or not (np.isfinite(dt) and dt > 0):
            raise ValueRangeError(f'horizon is {horizon} steps of {dt} s; both must be positive')
        self._horizon, self._dt = horizon, dt
        self._positions: np.ndarray | None = None

    def reset(self, seed: int | None = None) -> None:
        """Forgets where to hold."""
        self._positions = None

    def infer(self, observation: Observation) -> Inference:
        """Returns a chunk of the first joint positions seen since `reset`."""
        if self._positions is None:
            self._positions = np.array(observation.joint_positions)
        return Inference(
            actions=np.tile(self._positions, (self._horizon, 1)),
            dt=self._dt,
            action_names=observation.joint_names,
            action_units=('rad',) * len(observation.joint_names),
        )
