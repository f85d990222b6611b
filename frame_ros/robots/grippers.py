# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The grippers of a robot, and the ways in which policies and controllers write their opening."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.errors import ValueRangeError
from frame_ros.robots.profile import Gripper

Array = NDArray[np.float64]


# How policies and controllers write a gripper's opening.
# position: of the joint, rad or m. width: m between two fingers that move apart equally.
# open, closed: 0 to 1, 1 is open, or closed. signed_open, signed_closed: -1 to 1, 1 is open, or
# closed. percent_open: 0 to 100, 100 is open.
_RANGES = {
    'open': (0.0, 1.0),
    'closed': (1.0, 0.0),
    'signed_open': (-1.0, 1.0),
    'signed_closed': (1.0, -1.0),
    'percent_open': (0.0, 100.0),
}
GRIPPER_CONVENTIONS = ('position', 'width', *_RANGES)


def gripper_joints(names: Iterable[str]) -> tuple[str, ...]:
    """The joints that are taken for a gripper's where no profile declares one: 'gripper' or
    'finger' is in their names.
    """
    return tuple(name for name in names if 'gripper' in name or 'finger' in name)


def closed_and_open(
    limits: Mapping[str, tuple[float, float]], gripper: Gripper | None
) -> dict[str, tuple[float, float]]:
    """The gripper joints of a robot -> their closed and their open position, rad or m.

    Args:
        limits: joint that can be commanded -> lower and upper limit.
        gripper: of the robot's profile; None: `gripper_joints` are, closed at their lower limits.
    """
    if gripper is None:
        return {name: limits[name] for name in gripper_joints(limits)}
    ends = {name: limits[name] for name in limits if name == gripper.joint}
    if gripper.smaller_is_closed:
        return ends
    return {name: (upper, lower) for name, (lower, upper) in ends.items()}


@dataclass(frozen=True)
class GripperRange:
    """closed, opened: the joint's position (rad or m) when fully closed and fully open; either may
    be the larger.
    """

    closed: float
    opened: float

    def __post_init__(self) -> None:
        ends = (self.closed, self.opened)
        if not all(map(math.isfinite, ends)) or self.closed == self.opened:
            raise ValueRangeError(
                f'a gripper is closed at {self.closed} and open at {self.opened}; these must be '
                'two positions'
            )

    def opening(self, values: ArrayLike, convention: str) -> Array:
        """The share of the range, 0 closed to 1 open, that values of a convention mean.

        Values beyond the range are taken as its end.

        Raises:
            ValueRangeError: the convention is not known.
        """
        found = np.asarray(values, np.float64)
        if convention in ('position', 'width'):
            position = found / 2.0 if convention == 'width' else found
            share = (position - self.closed) / (self.opened - self.closed)
        else:
            closed, opened = _range_of(convention)
            share = (found - closed) / (opened - closed)
        return np.clip(share, 0.0, 1.0)

    def from_opening(self, opening: ArrayLike, convention: str = 'position') -> Array:
        """The values of a convention for shares of the range, 0 closed to 1 open."""
        share = np.asarray(opening, np.float64)
        if convention in ('position', 'width'):
            position = self.closed + share * (self.opened - self.closed)
            return position * 2.0 if convention == 'width' else position
        closed, opened = _range_of(convention)
        return closed + share * (opened - closed)


def latched(opening: Array, was_open: bool, threshold: float, hysteresis: float) -> Array:
    """Openings (T,) made binary, 1 open and 0 closed.

    It opens above threshold + hysteresis / 2, closes below threshold - hysteresis / 2, and in
    between stays as it was. was_open: before the first.
    """
    result = np.empty(len(opening))
    for row, share in enumerate(opening):
        if abs(share - threshold) > hysteresis / 2:
            was_open = bool(share > threshold)
        result[row] = was_open
    return result


def _range_of(convention: str) -> tuple[float, float]:
    if convention not in _RANGES:
        raise ValueRangeError(
            f'gripper convention is {convention!r}; known: {", ".join(GRIPPER_CONVENTIONS)}'
        )
    return _RANGES[convention]
