# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A policy that swings one joint about where the arm stood."""

from __future__ import annotations

import numpy as np

from frame_ros.policies.base import Policy
from frame_ros.policies.protocol import Inference, Observation

HORIZON, DT = 20, 1 / 30  # steps, s


class Swing(Policy):
    """A sine of 0.3 rad/s at most."""

    name = 'swing'
    cameras = ()
    poses = ()

    def __init__(self, joint: str, amplitude: float = 0.15, period: float = 3.0) -> None:
        self._joint, self._amplitude, self._period = joint, amplitude, period
        self.reset()

    def reset(self, seed: int | None = None) -> None:
        """Swings about where the arm is next."""
        self._first: Observation | None = None

    def infer(self, observation: Observation) -> Inference:
        """The next steps."""
        if self._first is None:
            self._first = observation
        elapsed = (observation.stamp - self._first.stamp) * 1e-9 + DT * np.arange(HORIZON)
        actions = np.tile(self._first.joint_positions, (HORIZON, 1))
        names = observation.joint_names
        swing = np.sin(2 * np.pi * elapsed / self._period)
        actions[:, names.index(self._joint)] += self._amplitude * swing
        return Inference(actions, DT, names, ('rad',) * len(names))
