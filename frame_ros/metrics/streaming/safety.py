# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Streaming collision rate, obstacle proximity and risk factor (FRAME eq. 11-13)."""

from __future__ import annotations

from math import inf, isinf

from frame_ros.core.errors import ValueRangeError
from frame_ros.metrics.arrays import check_variant
from frame_ros.metrics.constants import AUTHORS_OFFSET, NAN, RISK_FLOOR


class CollisionRate:
    """CR so far: collisions per control step. Contacts and steps come in at their own rates.

    `collisions`: rising edges of contact that is not expected. `in_collision`: the newest state.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forgets everything; a contact in the first sample counts as a collision."""
        self.collisions = 0
        self.steps = 0
        self.in_collision = False

    def update(self, in_collision: bool, steps: int = 1) -> None:
        """Takes one contact state and the control steps it stands for (0: between two steps).

        Raises:
            ValueRangeError: steps are negative. Nothing has changed then.
        """
        if steps < 0:
            raise ValueRangeError(f'steps is {steps}; 0 or more is expected')
        if in_collision and not self.in_collision:
            self.collisions += 1
        self.in_collision = bool(in_collision)
        self.steps += steps

    def add_step(self) -> None:
        """One control step has passed."""
        self.steps += 1

    @property
    def value(self) -> float:
        """Collisions per step; NaN before the first step."""
        return self.collisions / self.steps if self.steps else NAN

    def per(self, amount: float) -> float:
        """Collisions per `amount` (s, or m); NaN if that is not positive."""
        return self.collisions / amount if amount > 0.0 else NAN


def _refuse_infinite(distance: float) -> None:
    if isinf(distance):
        raise ValueRangeError(f'distance is {distance} m; a finite one, or NaN if not measured')


class ObstacleProximity:
    """OP so far: least distance, m. NaN (not measured) and infinity (nothing within range) are left
    out. Batch: `obstacle_proximity`.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self.value = NAN

    def update(self, distance: float) -> None:
        """Takes one distance, m; NaN if not measured."""
        if distance - distance == 0.0:  # finite
            if not distance >= self.value:
                self.value = float(distance)
        elif distance != inf:
            _refuse_infinite(distance)


class RiskFactor:
    """RF so far: mean of 1 / distance, 1/m. NaN distances are left out. Batch: `risk_factor`."""

    def __init__(self, floor: float = RISK_FLOOR, variant: str = 'paper') -> None:
        """`floor` (m), `variant`: as of the batch form.

        Raises:
            ValueRangeError: floor is not positive, or an unknown variant.
        """
        check_variant(variant, ('paper', 'authors'))
        if not floor > 0.0:
            raise ValueRangeError(f'floor is {floor} m; a positive distance is expected')
        self._floor = floor if variant == 'paper' else -inf
        self._offset = 0.0 if variant == 'paper' else AUTHORS_OFFSET
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self.value = NAN
        self._total = 0.0
        self._count = 0

    def update(self, distance: float) -> None:
        """Takes one distance, m; NaN if not measured."""
        if distance - distance == 0.0:  # finite
            floor = self._floor
            safe = distance + self._offset
            if safe <= floor:
                safe = floor
            self._total += 1.0 / safe if safe else inf
            self._count += 1
            self.value = self._total / self._count
        else:
            _refuse_infinite(distance)
