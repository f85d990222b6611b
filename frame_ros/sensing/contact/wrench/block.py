# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A short stretch of a force-torque sensor's samples, from which tare, bias drift and payload are
found: what is slow is worked out once per block, so that streaming and batch agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
BLOCK = 50_000_000  # ns


@dataclass(frozen=True)
class WrenchBlock:
    """n samples in a row.

    Attributes:
        start, end: ns, of its first and last sample.
        readings: (n, 6) N and N m, not filtered, force and torque on the tool without those of the
            tool and its payload; the bias is included.
        down: (n, 3) unit vectors of gravity in the sensor's axes.
        rotation: (3, 3) of the sensor in the base frame, mean of the first and the last sample.
        external: (n, 6) N and N m, filtered, without the bias; of no use before the first tare.
        slow: (n, 6) likewise, through the slow low-pass.
        speed: m/s, mean of the sensor's.
        worst: largest share of a threshold that was reached.
        is_contact: whether there was contact.
        is_moving: whether the sensor moved; None: unknown.
        is_holding: whether the gripper held something; None: unknown.
    """

    start: int
    end: int
    readings: Array
    down: Array
    rotation: Array
    external: Array
    slow: Array
    speed: float
    worst: float
    is_contact: bool
    is_moving: bool | None
    is_holding: bool | None

    @cached_property
    def mean(self) -> Array:
        """(6,) N and N m, of the readings."""
        found: Array = np.add.reduce(self.readings, axis=0) / len(self.readings)
        return found


class BlockBuffer:
    """Collects the samples of a block: one by one, or many at once."""

    __slots__ = (
        'start', 'is_holding', '_end', '_rows', '_chunks', '_worst', '_contact', '_moving',
        '_speeds', '_first', '_last',
    )  # fmt: skip

    def __init__(self, start: int, is_holding: bool | None) -> None:
        """start: ns, of the first sample."""
        self.start, self.is_holding = start, is_holding
        self._end = start
        self._rows: list[list[float]] = []
        self._chunks: list[Array] = []
        self._worst = 0.0
        self._contact = False
        self._moving = 0
        self._speeds = 0.0
        self._first: list[float] | None = None  # rotations, 9 values each
        self._last: list[float] = []

    def add(
        self,
        stamp: int,
        row: list[float],
        share: float,
        is_contact: bool,
        moving: int,
        rotation: list[float],
        speed: float = 0.0,
    ) -> None:
        """Adds one sample.

        Args:
            row: 6 values of the reading, 3 of gravity in the sensor's axes, 6 of the external
                wrench, 6 of that through the slow low-pass.
            moving: 1, 0, or -1 if unknown.
            rotation: 9 values, of the sensor in the base frame.
            speed: m/s.
        """
        self._rows.append(row)
        self._end = stamp
        self._turn(rotation)
        if share > self._worst:
            self._worst = share
        if is_contact:
            self._contact = True
        if moving:
            self._moving = 1 if moving > 0 or self._moving > 0 else -1
        self._speeds += speed

    def add_many(
        self,
        end: int,
        rows: Array,
        share: float,
        is_contact: bool,
        moving: NDArray[np.int8],
        rotation: list[float],
        speeds: Array,
    ) -> None:
        """Adds samples (n, 21) up to the stamp `end`.

        Args:
            share: their largest.
            is_contact: of any.
            rotation: 9 values, of the last.
            speeds: (n,) m/s.
        """
        self._flush()
        self._chunks.append(rows)
        self._end = end
        self._turn(rotation)
        self._worst = max(self._worst, share)
        self._contact = self._contact or is_contact
        if moving.any():
            self._moving = 1 if (moving > 0).any() or self._moving > 0 else -1
        self._speeds += float(speeds.sum())

    def close(self) -> WrenchBlock | None:
        """Returns the block; None if it has no sample."""
        self._flush()
        if not self._chunks:
            return None
        assert self._first is not None
        rows = np.concatenate(self._chunks)
        gravity = rows[:, 6:9]
        length = np.maximum(np.sqrt((gravity * gravity).sum(axis=1, keepdims=True)), 1e-12)
        return WrenchBlock(
            self.start,
            self._end,
            rows[:, :6],
            gravity / length,
            0.5 * np.add(self._first, self._last).reshape(3, 3),
            rows[:, 9:15],
            rows[:, 15:],
            self._speeds / len(rows),
            self._worst,
            self._contact,
            None if self._moving < 0 else bool(self._moving),
            self.is_holding,
        )

    def _turn(self, rotation: list[float]) -> None:
        if self._first is None:
            self._first = rotation
        self._last = rotation

    def _flush(self) -> None:
        if self._rows:
            self._chunks.append(np.array(self._rows))
            self._rows = []
