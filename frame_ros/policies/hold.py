# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy that does nothing: it commands the observed joint positions."""

from __future__ import annotations

import numpy as np

from frame_ros.core.options import option, options
from frame_ros.policies.base import Policy
from frame_ros.policies.protocol import Inference, Observation


@options
class ChunkOptions:
    """Size of a chunk."""

    horizon: int = option(20, 'steps of a chunk', at_least=1)
    dt: float = option(1 / 30, 'time between two steps', unit='s', above=0.0)


class HoldPolicy(Policy):
    """Holds the robot where it is; a baseline, and a check of a new robot's topics."""

    name = 'hold'
    Options = ChunkOptions

    def __init__(self, options: ChunkOptions | None = None) -> None:
        options = options or ChunkOptions()
        self._horizon, self._dt = options.horizon, options.dt
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
