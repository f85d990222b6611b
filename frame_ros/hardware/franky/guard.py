# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joint velocities at which a Franka arm does not stop itself: its end effector stays below the
speed that the arm allows, and its links come to rest before they are near one another.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from frame_ros.hardware.franky.approach import AHEAD, BRAKING
from frame_ros.robots import Robot, load_robot
from frame_ros.robots.shapes.clearance import ClearanceCheck

Array = NDArray[np.float64]
# m/s, of the 3.0 of an FR3 and a Panda (kMaxTranslationalVelocity of libfranka's rate_limiting.h):
# the rest is for joints that reach what they are sent one after the other. What turns the end
# effector alone is not limited: an arm whose joints move allows it more than the 2.5 rad/s of
# Cartesian motions.
TIP_SPEED = 2.5
HALVINGS = 3  # of the part of the velocities that keeps the links apart
WIDTH = 0.1  # m, by which a link's points are farther away than its frame
LONG = 0.15  # rad of a way to rest, from which its middle is looked at as well


class VelocityGuard:
    """Lessens the velocities of all joints together.

    Args:
        robot: the arm.
        distance: m, that its links keep from one another, those with less than three joints
            between them aside; 0: any.

    Attributes:
        unchecked: links that are not kept apart, as they have no collision primitives.
    """

    def __init__(self, robot: Robot, distance: float) -> None:
        tip = robot.profile.tips.get('tcp', robot.tip_link)
        self._tip = load_robot(robot.urdf, tip)
        self._check = ClearanceCheck(robot, robot.joint_names)
        self._distance = distance if self._check.pairs else 0.0
        self.unchecked = self._check.unchecked if distance else ()
        self._levers = _levers(self._tip)
        # Where the links were looked at last, and the least distance there, m.
        self._place: Array = np.zeros(len(robot.joint_names))
        self._least = -np.inf
        self._near = ''

    def bounded(
        self, rates: Array, positions: Array, velocities: Array, accelerations: Array, ends: Array
    ) -> tuple[Array, str]:
        """Returns the velocities (7,) rad/s to be sent, and the two links for whose sake they are
        less, or ''.

        Args:
            rates: (7,) rad/s, wanted.
            positions, velocities: (7,) rad and rad/s, of the joints.
            accelerations: (7,) rad/s^2, with which they brake.
            ends: (2, 7) rad, lower and upper, beyond which no joint goes.
        """
        start = positions + AHEAD * velocities
        rates = self.slowed(rates, start)
        if not self._distance:
            return rates, ''

        def way(part: float) -> Array:
            part_rates = part * rates
            braking = float(np.max(np.abs(part_rates) / (BRAKING * accelerations)))
            # A joint that is beyond its end is let back.
            lower, upper = np.minimum(ends[0], start), np.maximum(ends[1], start)
            ahead: Array = np.clip(start + part_rates * braking / 2.0, lower, upper) - start
            return ahead

        if self._is_far(start, way(1.0)):
            return rates, ''
        return self._kept_apart(rates, start, way)

    def slowed(self, rates: Array, positions: Array) -> Array:
        """Returns velocities (7,) rad/s at which the end effector is not too fast."""
        speed = float(np.linalg.norm(self._tip.jacobian(positions)[:3] @ rates))
        return rates if speed <= TIP_SPEED else rates * (TIP_SPEED / speed)

    def _kept_apart(
        self, rates: Array, start: Array, way: Callable[[float], Array]
    ) -> tuple[Array, str]:
        """way: to rest with a part of the rates."""
        # Links that are too near may come apart, and stay as they are.
        allowed = min(self._distance, self._least)  # of this start
        part, near = 0.0, ''
        for halving in range(HALVINGS + 1):
            trial = part + 0.5**halving
            ahead = way(trial)
            places = [start + ahead, start + 0.5 * ahead][: 1 + (np.abs(ahead).max() > LONG)]
            if all(self._clearance(place) >= allowed for place in places):
                part = trial
                if trial == 1.0:
                    return rates, ''
            near = near or self._near
        kept: Array = part * rates
        return kept, near

    def _is_far(self, start: Array, ahead: Array) -> bool:
        """True if the links cannot come too near on a way, as far as the last look says."""
        left = self._least - self._distance
        if self._levers @ (np.abs(start - self._place) + np.abs(ahead)) < left:
            return True
        self._least, self._place = self._clearance(start), start
        return bool(self._levers @ np.abs(ahead) < self._least - self._distance)

    def _clearance(self, positions: Array) -> float:
        """The least distance of links at joint positions, m; notes which they are."""
        found = self._check.at(positions).selves
        least = int(found.argmin())
        self._near = ' and '.join(self._check.pairs[least])
        return float(found[least])


def _levers(robot: Robot) -> Array:
    """Returns (7,) m that a point of the arm moves at most per rad of each joint."""
    chain = robot.description.chain(robot.tip_link)
    lengths = np.array([np.linalg.norm(joint.translation) for joint in chain])
    moving = [i for i, joint in enumerate(chain) if joint.is_moving]
    return np.array([lengths[i + 1 :].sum() + WIDTH for i in moving])
