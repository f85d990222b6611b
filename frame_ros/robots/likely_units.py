# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The units of joint positions that do not fit the robot's limits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from frame_ros.robots.robot import Robot

RAD, DEGREES, TICKS, PERCENT = UNITS = ('rad', 'deg', 'ticks', 'percent')
NAMES = {
    DEGREES: 'degrees',
    TICKS: 'ticks of an encoder',
    PERCENT: "LeRobot's -100 to 100",
}
RESOLUTION = 4096  # steps of an encoder per turn
# A joint is outside its limits by more than this share of its range, or rad.
MARGIN, LEAST_MARGIN = 0.05, 0.1
# This share of a joint's samples may be outside, or too fast: noise of single samples.
MOST_ODD = 0.01


class LikelyUnits(NamedTuple):
    """units: those that values may be in; none: unknown. is_rad: they may be rad after all, of
    another zero.
    """

    units: tuple[str, ...] = ()
    is_rad: bool = False

    def words(self, option: str = '') -> str:
        """Returns them as the end of a sentence. option: of the command line, that sets them."""
        if self.is_rad:
            return 'another zero, another calibration, or another robot'
        if not self.units:
            return 'their units are unknown'
        if len(self.units) == 1:
            (unit,) = self.units
            return f'they look like {NAMES[unit]}' + (f': {option} {unit}' if option else '')
        each = (NAMES[u] + (f' ({option} {u})' if option else '') for u in self.units)
        return f'they look like {" or ".join(each)}'


def likely_units(values: Mapping[str, NDArray[np.float64]], robot: Robot) -> LikelyUnits:
    """Returns the likely units of values, of which some are outside the limits of the robot's
    joints.

    Args:
        values: joint of the robot -> its positions (n,), finite.
    """
    values = {name: v for name, v in values.items() if len(v)}
    if not values:
        return LikelyUnits()
    largest = max(float(np.abs(v).max()) for v in values.values())
    smallest = min(float(v.min()) for v in values.values())
    is_whole = all((v == np.round(v)).all() for v in values.values())
    if smallest >= 0 and is_whole and 360 < largest < RESOLUTION:
        return LikelyUnits((TICKS,))
    if largest <= 2 * math.pi:
        return LikelyUnits(is_rad=True)
    fits_degrees = not any(
        is_outside(np.radians(v), robot.joint_limits[name])
        for name, v in values.items()
        if name not in robot.grippers
    )
    is_percent = largest <= 101
    if fits_degrees and is_percent:
        return LikelyUnits((DEGREES, PERCENT))
    if is_percent:
        return LikelyUnits((PERCENT,))
    return LikelyUnits((DEGREES,) if largest <= 400 else ())


def is_outside(values: NDArray[np.float64], limits: tuple[float, float] | None) -> bool:
    """Returns whether more of the values (n,) are outside of a joint's limits than may be."""
    if limits is None or not all(map(math.isfinite, limits)):
        return False
    lower, upper = limits
    margin = max(MARGIN * (upper - lower), LEAST_MARGIN)
    if not len(values):
        return False
    return bool(((values < lower - margin) | (values > upper + margin)).mean() > MOST_ODD)
