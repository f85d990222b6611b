# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joint positions where the robot cannot be: in degrees, LeRobot's units, ticks, or of another
robot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.robots.likely_units import likely_units
from frame_ros.robots.robot import Robot

Array = NDArray[np.float64]
SLIDING = 0.1  # m for each rad of the margin
MOST_LAYOUTS = 64  # lists of names that are known


class _Layout(NamedTuple):
    """Joints of the robot in messages with the same names: their places, names and ends (K,)."""

    places: NDArray[np.intp]
    names: tuple[str, ...]
    lower: Array
    upper: Array


class JointLimits:
    """Finds positions that lie outside of a robot's limits by more than a calibration can be off:
    all that is computed of them is wrong.
    """

    def __init__(self, robot: Robot, margin: float) -> None:
        """margin: rad by which a joint may be outside; a tenth of it in m of one that slides."""
        self._robot = robot
        kinds = {joint.name: joint.kind for joint in robot.description.joints}
        self._unit = {n: 'm' if k == 'prismatic' else 'rad' for n, k in kinds.items()}
        self._margin = {n: margin * (SLIDING if u == 'm' else 1.0) for n, u in self._unit.items()}
        self._layouts: dict[tuple[str, ...], _Layout] = {}
        # Of the messages that are outside now, since when in ns.
        self._words: dict[tuple[str, ...], tuple[int, str]] = {}

    def problem(self, stamp: int, names: Sequence[str], positions: Array) -> str:
        """Returns why positions (K,) of these joints cannot be; '' where they can. Joints that the
        robot has not, or without limits, are not judged. As long as it lasts, the values named are
        renewed every second.

        Args:
            stamp: ns.
        """
        key = tuple(names)
        layout = self._layouts.get(key) or self._learn(key)
        values = positions[layout.places]
        is_outside = (values < layout.lower) | (values > layout.upper)
        if not np.logical_or.reduce(is_outside):
            self._words.pop(key, None)
            return ''
        words = self._words.get(key)
        if words is None or not 0 <= stamp - words[0] < SECOND:
            if len(self._words) >= MOST_LAYOUTS:
                self._words.clear()
            words = self._words[key] = stamp, self._in_words(layout, values, is_outside)
        return words[1]

    def _learn(self, names: tuple[str, ...]) -> _Layout:
        limits = self._robot.joint_limits
        places = [i for i, name in enumerate(names) if name in limits]
        known = tuple(names[i] for i in places)
        ends = np.array([limits[n] for n in known], np.float64).reshape(-1, 2)
        margin = np.array([self._margin[n] for n in known], np.float64)
        if len(self._layouts) >= MOST_LAYOUTS:
            self._layouts.clear()
        found = self._layouts[names] = _Layout(
            np.array(places, np.intp), known, ends[:, 0] - margin, ends[:, 1] + margin
        )
        return found

    def _in_words(self, layout: _Layout, values: Array, is_outside: NDArray[np.bool_]) -> str:
        beyond = np.maximum(layout.lower - values, values - layout.upper)
        worst = int(np.argmax(np.where(is_outside, beyond, -np.inf)))
        name, count = layout.names[worst], int(is_outside.sum()) - 1
        lower, upper = self._robot.joint_limits[name]
        finite = np.isfinite(values)
        seen = {n: values[i : i + 1] for i, n in enumerate(layout.names) if finite[i]}
        more = f' and {count} more' if count else ''
        return (
            f'has positions outside of the limits of {self._robot.name}: {name} at '
            f'{values[worst]:.4g} {self._unit[name]} (limits {lower:.4g} to {upper:.4g}){more}; '
            f'{likely_units(seen, self._robot).words()}'
        )
