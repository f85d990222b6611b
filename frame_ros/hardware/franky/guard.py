# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joint velocities at which a Franka arm does not stop itself: its end effector stays below the
speed that the arm allows, and its links come to rest before they are near one another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from frame_ros.hardware.franky.approach import AHEAD, BRAKING
from frame_ros.robots import Robot, load_robot
from frame_ros.robots.description import Joint
from frame_ros.robots.shapes.clearance import ClearanceCheck

Array = NDArray[np.float64]
# m/s, of the 3.0 of an FR3 and a Panda (kMaxTranslationalVelocity of libfranka's rate_limiting.h):
# the rest is for joints that reach what they are sent one after the other. What turns the end
# effector alone is not limited: an arm whose joints move allows it more than the 2.5 rad/s of
# Cartesian motions.
TIP_SPEED = 2.5
HALVINGS = 3  # of the part of the velocities that keeps the links apart
ROUNDING = 1e-9  # m of a distance that no motion has changed
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
        tip_chain = robot.description.chain(tip)
        self._tip_levers = np.array([_reach(tip_chain, name) for name in robot.joint_names])
        self._levers = _levers(robot, self._check.pairs)
        # Where the links were looked at last, and how far each pair was apart there, m.
        self._place: Array = np.zeros(len(robot.joint_names))
        self._apart: Array = np.full(len(self._check.pairs), -np.inf)
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
        if self._tip_levers @ np.abs(rates) <= TIP_SPEED:
            return rates
        speed = float(np.linalg.norm(self._tip.jacobian(positions)[:3] @ rates))
        return rates if speed <= TIP_SPEED else rates * (TIP_SPEED / speed)

    def _kept_apart(
        self, rates: Array, start: Array, way: Callable[[float], Array]
    ) -> tuple[Array, str]:
        """way: to rest with a part of the rates."""
        # Links that are too near may come apart, and stay as they are; no others may follow them.
        allowed = np.minimum(self._distance, self._apart)  # of this start
        part, near = 0.0, ''
        for halving in range(HALVINGS + 1):
            trial = part + 0.5**halving
            ahead = way(trial)
            places = [start + ahead, start + 0.5 * ahead][: 1 + (np.abs(ahead).max() > LONG)]
            if all(self._keeps(place, allowed) for place in places):
                part = trial
                if trial == 1.0:
                    return rates, ''
            near = near or self._near
        kept: Array = part * rates
        return kept, near

    def _is_far(self, start: Array, ahead: Array) -> bool:
        """True if the links cannot come too near on a way, as far as the last look says."""
        if self._cannot_meet(np.abs(start - self._place) + np.abs(ahead)):
            return True
        self._apart, self._place = self._check.at(start).selves, start
        return self._cannot_meet(np.abs(ahead))

    def _cannot_meet(self, turned: Array) -> bool:
        """turned: (7,) rad, by which the joints have turned since the last look at most."""
        return bool((self._levers @ turned < self._apart - self._distance).all())

    def _keeps(self, positions: Array, allowed: Array) -> bool:
        """True if no pair is nearer than allowed, (P,) m, at joint positions; notes that which is
        so the most.
        """
        left = self._check.at(positions).selves - allowed
        least = int(left.argmin())
        self._near = ' and '.join(self._check.pairs[least])
        return bool(left[least] >= -ROUNDING)


def _reach(chain: Sequence[Joint], joint: str) -> float:
    """The largest distance of the end of a chain from the axis of one of its joints, m."""
    behind = chain[[each.name for each in chain].index(joint) + 1 :]
    # A finger that follows another stands at its offset where that one is at 0.
    offsets = (each.mimic[2] for each in behind if each.mimic and each.kind == 'prismatic')
    lengths = (float(np.linalg.norm(each.translation)) for each in behind)
    return sum(lengths) + sum(map(abs, offsets))


def _levers(robot: Robot, pairs: Sequence[tuple[str, str]]) -> Array:
    """Returns (P, 7) m by which the links of a pair come nearer, at most, per rad of a joint."""
    levers = np.zeros((len(pairs), len(robot.joint_names)))
    for row, pair in enumerate(pairs):
        first, other = (robot.description.chain(link) for link in pair)
        for link, chain, fixed in zip(pair, (first, other), (other, first), strict=True):
            capsules = [shape.capsule() for shape in robot.collision_geometry[link]]
            size = max(float(np.linalg.norm(end)) for c in capsules for end in (c.start, c.end))
            # A joint before both moves both alike.
            own = {joint.name for joint in chain} - {joint.name for joint in fixed}
            for column, name in enumerate(robot.joint_names):
                if name in own:
                    levers[row, column] += _reach(chain, name) + size
    return levers
