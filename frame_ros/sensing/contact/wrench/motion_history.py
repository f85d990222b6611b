# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The motion of a force-torque sensor at many stamps at once, as `ToolMotionEstimator.at`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.sensing.contact.wrench.tool_motion import (
    ToolMotion,
    ToolMotionEstimator,
    ToolMotions,
)

Array = NDArray[np.float64]
Stamps = NDArray[np.int64]


class _Columns(NamedTuple):
    stamps: Stamps
    motions: ToolMotions


class MotionHistory:
    """Keeps the motions that an estimator gave, so that many wrenches find theirs together.

    Attributes:
        newest: ns, stamp of the newest joint state that was taken; 0 before any.
    """

    def __init__(self, estimator: ToolMotionEstimator) -> None:
        self._estimator = estimator
        self._kept: list[tuple[int, ToolMotion]] = []
        self._columns: _Columns | None = None
        self.newest = 0

    def take(self) -> None:
        """Keeps the estimator's motion by its newest joint state."""
        stamp = self._estimator.stamp
        if stamp is None or stamp == self.newest:
            return
        if stamp < self.newest:
            self._kept.clear()  # the clock fell back
        self.newest = stamp
        self._kept.append((stamp, self._estimator.at(stamp)))
        self._columns = None

    def forget(self) -> None:
        """Forgets what is too old for a wrench that comes now."""
        oldest = self.newest - self._estimator.max_age
        self._kept = [each for each in self._kept if each[0] >= oldest]
        self._columns = None

    def at(self, stamps: Stamps, newest: Stamps, errors: Array) -> ToolMotions:
        """Returns the motions at stamps (T,) ns.

        Args:
            newest: (T,) ns, of the newest joint state that was known then.
            errors: (T,) s, by which the stamps may be wrong: the accelerations are as late as that.
        """
        times, motions = self._stacked()
        if not len(times):
            return ToolMotions.of([self._estimator.at(int(stamp)) for stamp in stamps])
        last = np.searchsorted(times, np.minimum(stamps, newest), side='right') - 1
        rows = np.maximum(last, 0)
        ages = (stamps - times[rows]) / SECOND
        most = self._estimator.max_age / SECOND
        is_known = (np.abs(ages) <= most) & (newest > 0)
        omega = motions.angular_velocity[rows]
        turn = np.where(np.isfinite(omega).all(axis=1)[:, None], omega * ages[:, None], 0.0)
        rotation = _turned(turn, motions.rotation[rows])
        rotation[~is_known] = np.nan
        why = f'the joint states are older than the wrench by more than {most} s'
        before = [motions.unavailable[row] for row in rows.tolist()]
        return ToolMotions(
            rotation,
            motions.linear_acceleration[rows],
            omega,
            motions.angular_acceleration[rows],
            motions.is_moving[rows],
            motions.delay[rows] + np.maximum(ages, 0.0) + errors,
            [text if known else why for text, known in zip(before, is_known.tolist())],
            motions.noise[rows],
            motions.speed[rows],
        )

    def _stacked(self) -> _Columns:
        if self._columns is None:
            stamps = np.array([stamp for stamp, _ in self._kept], dtype=np.int64)
            self._columns = _Columns(stamps, ToolMotions.of([each for _, each in self._kept]))
        return self._columns


def _turned(turns: Array, rotations: Array) -> Array:
    """Returns rotations (T, 3, 3) turned by rotation vectors (T, 3), rad in axes of the base
    (Rodrigues' formula).
    """
    found = rotations.copy()
    rows = np.flatnonzero(turns.any(axis=1))
    if not len(rows):
        return found
    turn = turns[rows]
    angle = np.linalg.norm(turn, axis=1)[:, None, None]
    x, y, z = (turn / angle[:, :, 0]).T
    zero = np.zeros_like(x)
    cross = np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]]).transpose(2, 0, 1)
    matrix = np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * (cross @ cross)
    found[rows] = matrix @ rotations[rows]
    return found
