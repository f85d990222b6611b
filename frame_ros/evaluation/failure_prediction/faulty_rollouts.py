# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rollouts in whose episodes a fault is planted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from frame_ros.episodes.episode import Episode
from frame_ros.evaluation.failure_prediction.faults import NONE, POST, Fault, make_fault
from frame_ros.policies.base import Policy
from frame_ros.policies.protocol import Observation
from frame_ros.scenes.rollout import Rollouts


class FaultyRollouts(Rollouts):
    """As `Rollouts`; what is recorded of the object and the goal is what the policy saw of them."""

    def __init__(self, **options: Any) -> None:
        """options: as `Rollouts` takes them."""
        super().__init__(**options)
        self.simulation.add_obstacles((POST,))
        self._kind, self._seed = NONE, 0
        self._fault: Fault | None = None

    def run_faulty(self, policy: Policy, seed: int, kind: str) -> Episode:
        """Runs one episode with a fault, one of FAULTS; both are drawn from the seed.

        Raises:
            FrameRosError: as of `run`, or there is no such fault.
        """
        self._kind, self._seed, self._fault = kind, seed, None
        try:
            return self.run(policy, seed)
        finally:
            if self._fault is not None:
                self._fault.end()
            self._kind = NONE

    def _observe(
        self, policy: Policy, stamp: int, executed: float, is_seen: bool = True
    ) -> Observation:
        if self._fault is None or executed == 0.0:
            self._fault = make_fault(self._kind, self.simulation, self._seed)
        self._fault.disturb(executed)
        observation = super()._observe(policy, stamp, executed, is_seen)
        return replace(observation, poses=self._fault.perceived(observation.poses))
