# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robot's position and last command at the time of a policy's observation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import PolicyError
from frame_ros.core.time import SECOND
from frame_ros.policies.protocol import Observation

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CommandedChunk:
    """A chunk of joint positions that goes to the robot."""

    executed: float  # s, of its observation
    stamp: int  # ns, of its observation
    dt: float  # s
    names: tuple[str, ...]  # D
    actions: Array  # (H, D), as they go to the robot: within the joints' limits

    def last_before(self, observation: Observation) -> dict[str, float]:
        """Returns the joints' last commands at the time of an observation; empty: none yet. It
        assumes that the chunk was executed from the step that matches the time, and no other since.
        """
        passed = observation.executed - self.executed
        if not math.isfinite(passed):
            passed = (observation.stamp - self.stamp) / SECOND
        # A step that has begun is the command, even if it begins slightly late: durations are sums
        # of rounded periods.
        row = min(math.ceil(passed / self.dt - 0.05), len(self.actions)) - 1
        return {} if row < 0 else dict(zip(self.names, self.actions[row].tolist(), strict=True))


def observed_joints(observation: Observation, names: Sequence[str]) -> Array:
    """Returns the observed positions (N,) of joints, rad or m.

    Raises:
        PolicyError: the observation lacks one, or a position is not finite.
    """
    if missing := [name for name in names if name not in observation.joint_names]:
        has = list(observation.joint_names)
        raise PolicyError(f'the observation lacks the joints {missing}; it has {has}')
    positions = np.asarray(observation.joint_positions, np.float64)
    values = positions[[observation.joint_names.index(name) for name in names]]
    if not np.isfinite(values).all():
        bad = names[int(np.argmin(np.isfinite(values)))]
        raise PolicyError(f'the observed position of {bad} is not finite')
    return values


@dataclass(frozen=True)
class References:
    """Start positions of joints."""

    observation: Observation
    commanded: Mapping[str, float]  # joint -> its last command then; empty: none yet
    prefers_commanded: bool  # a joint's command takes precedence over its observation

    def __call__(self, names: Sequence[str]) -> Array:
        """Positions (N,), rad or m.

        Raises:
            PolicyError: as `observed_joints`.
        """
        values = observed_joints(self.observation, names)
        if self.prefers_commanded:
            for i, name in enumerate(names):
                values[i] = self.commanded.get(name, values[i])
        return values
