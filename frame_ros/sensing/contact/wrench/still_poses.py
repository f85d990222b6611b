# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Poses in which an arm stands still, and the readings of its force-torque sensor there."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.time import SECOND
from frame_ros.core.turns import continuous_among, nearest_turn

Array = NDArray[np.float64]
SILENCE = SECOND // 2  # without joint states, after which nobody knows whether the arm stands


@dataclass(frozen=True)
class StillPose:
    """A pose at rest."""

    stamp: int  # ns, of the first
    positions: Array  # (N,) rad
    wrench: Array  # (6,) N and N m, the mean
    spread: Array  # (6,) its standard deviation over the samples
    count: int  # number of samples


class StillPoses:
    """Collects `poses`, each once the arm has stood still for long enough.

    Args:
        settle: s after the last motion that are left out.
        time: s that are averaged.
        tolerance: rad (m) that a joint may move meanwhile.
        apart: rad that some joint must differ from all earlier poses.
        joint_names: N joints, and continuous: those that turn without end, whose positions are the
            same a turn apart; without, none does.

    Raises:
        ValueRangeError: a value is not positive.
    """

    def __init__(
        self,
        settle: float = 0.5,
        time: float = 1.0,
        tolerance: float = 0.005,
        apart: float = 0.15,
        joint_names: Sequence[str] = (),
        continuous: Collection[str] = (),
    ) -> None:
        if not all(0.0 < value < math.inf for value in (settle, time, tolerance, apart)):
            raise ValueRangeError(f'{settle}, {time} s, {tolerance}, {apart} rad: all positive')
        self.poses: list[StillPose] = []
        self._settle, self._time = round(settle * SECOND), round(time * SECOND)
        self._tolerance, self._apart = tolerance, apart
        self._is_continuous = continuous_among(joint_names, continuous)
        self._since: int | None = None
        self._seen = 0  # stamp of the newest joint state
        self._reference: Array = np.zeros(0)
        self._wrenches: list[Array] = []

    def add_joints(self, stamp: int, q: Array) -> None:
        """Takes one joint state: stamp in ns, (N,) rad."""
        is_known = self._since is not None and 0 <= stamp - self._seen <= SILENCE
        self._seen = stamp
        # Positions that are not finite are not known to be still.
        if not is_known or not (self._distances(q) <= self._tolerance).all():
            self._since, self._reference = stamp, np.array(q)
            self._wrenches = []

    def add_wrench(self, stamp: int, wrench: Array) -> StillPose | None:
        """Takes one wrench (6,); returns the pose that it completes, if any."""
        if self._since is None or stamp < self._since + self._settle:
            return None
        if stamp > self._seen + SILENCE:
            return None
        if not np.isfinite(wrench).all() or self._is_known():
            return None
        self._wrenches.append(np.array(wrench, np.float64))
        if stamp < self._since + self._settle + self._time:
            return None
        rows = np.array(self._wrenches)
        pose = StillPose(
            self._since, self._reference.copy(), rows.mean(axis=0), rows.std(axis=0), len(rows)
        )
        self.poses.append(pose)
        self._wrenches = []
        return pose

    def _is_known(self) -> bool:
        return any(
            float(self._distances(pose.positions).max()) < self._apart for pose in self.poses
        )

    def _distances(self, q: Array) -> Array:
        """(N,) rad (m) of positions from the pose at hand."""
        return np.abs(nearest_turn(q - self._reference, 0.0, self._is_continuous))
