# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Vibration of a moving arm at its force-torque sensor: what swings to both sides of its mean."""

from __future__ import annotations

from math import exp

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.sensing.contact.wrench.block import BLOCK, WrenchBlock
from frame_ros.sensing.contact.wrench.tool_model import length

Array = NDArray[np.float64]
Pair = tuple[float, float]  # of force and torque, N and N m
PARTS = (slice(0, 3), slice(3, 6))
SPEEDS = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8)  # m/s, from which on a class of speeds is
SHAKE_TIME = 2.0  # s with which a vibration that was seen is forgotten
SHAKE_KEPT = 30.0  # s, of motion at that speed, with which that of a speed is
SHAKE_MARGIN = 1.3  # the next peak may be higher than that of the last two blocks


class Vibration:
    """The swing of a reading to *both* sides of its mean in two blocks one after the other, now
    and of each class of speeds.
    """

    def __init__(self) -> None:
        self._kept = np.zeros((len(SPEEDS), 2))
        self.reset()

    def reset(self) -> None:
        """Forgets the samples, not what was learnt of speeds."""
        self._shaken: Array = np.zeros(2)  # N and N m, of now
        self._before: Array = np.zeros(2)
        self._mean: Array | None = None

    def most(self, speed_class: int, limit: Array) -> Pair:
        """Returns N and N m, at most `limit` (2,), of now or of a class of speeds."""
        seen = np.maximum(self._shaken, self._kept[speed_class])
        force, torque = np.minimum(seen, limit).tolist()
        return force, torque

    def update(self, block: WrenchBlock, values: Array, speed_class: int) -> None:
        """Takes a block, whose reading (n, 6) is `values`."""
        if block.is_moving:
            self._shake(block, values, speed_class)
        else:
            self._calm(block)
            self._mean = None

    def _shake(self, block: WrenchBlock, values: Array, speed_class: int) -> None:
        mean = values.mean(axis=0) if self._mean is None else self._mean
        if not block.is_contact or self._mean is None:
            self._mean = mean + 0.2 * (values.mean(axis=0) - mean)
        swing = values - mean
        both = np.minimum(swing.max(axis=0), -swing.min(axis=0)).clip(0.0)
        now = np.array([length(both[part]) for part in PARTS])
        seen = SHAKE_MARGIN * np.minimum(now, self._before)
        self._before = now
        self._calm(block)
        if not np.isfinite(seen).all() or block.is_contact:
            return
        self._shaken = np.maximum(self._shaken, seen)
        row = self._kept[speed_class]
        fade = exp(-BLOCK / SECOND / SHAKE_KEPT)
        self._kept[speed_class] = np.maximum(row * fade, seen)

    def _calm(self, block: WrenchBlock) -> None:
        self._shaken = self._shaken * exp(-(block.end - block.start) / SECOND / SHAKE_TIME)
        if not block.is_moving:
            self._before = np.zeros(2)
