# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The workspace of an arm: the region of its tip or of all its links, and the speed of the tip."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ValueRangeError
from frame_ros.gate.limits.command_limits import WORKSPACE, Excess
from frame_ros.robots.catalogue import load_robot
from frame_ros.robots.robot import Robot

Array = NDArray[np.float64]
UNBOUNDED = 10.0  # m; a bound this far away is none
# A straight way in joint space is sampled every SPACING rad; between two samples a link 1 m away
# leaves the line by less than MARGIN m, by which the workspace is narrowed.
SPACING, MARGIN = 0.05, 0.001
AXES = 'xyz'


@dataclass(frozen=True)
class Outside:
    """The distance (m) of a configuration to the outside: its axis, place and limit."""

    distance: float  # negative inside
    axis: str = ''
    value: float = math.nan
    limit: float = math.nan


class Workspace:
    """A box for the tip, a floor for every link, and a speed for the tip.

    Bounds of 10 m and more are none.

    Args:
        robot: whose tip it is; positions are in its base frame.
        box: x, y, z from, then x, y, z to, m.
        floor: m, lowest z of any link's origin.
        has_all_links: the box holds for the origins of all links after the first joint, not for the
            tip alone.
        speed: m/s of the tip; 0: any.

    Attributes:
        levers: (N,) m that a point of the arm moves at most per rad (or m) of each joint.
        speed: as above; it may be set.

    Raises:
        ValueRangeError: the box is empty or does not have six numbers, or the speed is negative.
    """

    def __init__(
        self,
        robot: Robot,
        box: Sequence[float] = (-UNBOUNDED,) * 3 + (UNBOUNDED,) * 3,
        floor: float = -UNBOUNDED,
        has_all_links: bool = False,
        speed: float = 0.0,
    ) -> None:
        bounds = np.asarray(box, dtype=np.float64)
        if bounds.shape != (6,) or not (bounds[:3] + 2 * MARGIN < bounds[3:]).all():
            raise ValueRangeError(
                f'workspace.box is {list(box)}; it must be x, y, z from, x, y, z to'
            )
        if not speed >= 0.0 or not math.isfinite(floor):
            raise ValueRangeError(
                f'workspace.speed is {speed} and workspace.floor {floor}; see their range'
            )
        self.robot = robot
        self.lower, self.upper = bounds[:3], bounds[3:]
        self.floor, self.speed = floor, speed
        has_box = bool((np.abs(bounds) < UNBOUNDED).any())
        has_floor = floor > -UNBOUNDED
        self.is_bounded = has_box or has_floor
        self._tip_lower, self._tip_upper = self._narrowed(has_box, has_floor)
        self._link_lower, self._link_upper = self._narrowed(has_box and has_all_links, has_floor)
        self.levers = _levers(robot)
        needs_links = has_floor or (has_box and has_all_links)
        self._links = _link_robots(robot) if needs_links else []

    def _narrowed(self, has_box: bool, has_floor: bool) -> tuple[Array, Array]:
        lower: Array = np.full(3, -math.inf)
        upper: Array = np.full(3, math.inf)
        if has_box:
            lower, upper = self.lower + MARGIN, self.upper - MARGIN
        if has_floor:
            lower = lower.copy()
            lower[2] = max(lower[2], self.floor + MARGIN)
        return lower, upper

    @property
    def is_limited(self) -> bool:
        """True if there is a bound, or a speed."""
        return self.is_bounded or self.speed > 0.0

    def tip(self, q: Array) -> Array:
        """Returns the tip (3,), m, at positions q in the order of `robot.joint_names`."""
        return self.robot.forward(q)[0]

    def outside(self, q: Array) -> Outside:
        """Returns the point of the arm that is farthest outside, or nearest to it."""
        worst = _outside(self.tip(q), self._tip_lower, self._tip_upper)
        for link, count in self._links:
            point = link.forward(q[:count])[0]
            found = _outside(point, self._link_lower, self._link_upper)
            worst = found if found.distance > worst.distance else worst
        return worst

    def farthest(self, start: Array, end: Array) -> Outside:
        """Returns `outside` of the worst place on the straight way in joint space."""
        count = 1 + math.ceil(float(np.abs(end - start).max(initial=0.0)) / SPACING)
        places = (start + (end - start) * (i / count) for i in range(count + 1))
        return max((self.outside(q) for q in places), key=lambda found: found.distance)

    def excess(self, found: Outside) -> Excess:
        """Returns the excess of a place outside."""
        return Excess(WORKSPACE, found.axis, found.value, found.limit, 'm')


def _outside(point: Array, lower: Array, upper: Array) -> Outside:
    below, above = lower - point, point - upper
    i, j = int(below.argmax()), int(above.argmax())
    if below[i] >= above[j]:
        return Outside(float(below[i]), AXES[i], float(point[i]), float(lower[i]))
    return Outside(float(above[j]), AXES[j], float(point[j]), float(upper[j]))


def _levers(robot: Robot) -> Array:
    """Returns the way from each joint to the tip along the links; 1 for a prismatic joint."""
    chain = robot.description.chain(robot.tip_link)
    lengths = np.array([np.linalg.norm(joint.translation) for joint in chain])
    return np.array(
        [
            1.0 if joint.kind == 'prismatic' else float(lengths[i + 1 :].sum())
            for i, joint in enumerate(chain)
            if joint.is_moving
        ]
    )


def _link_robots(robot: Robot) -> list[tuple[Robot, int]]:
    """Returns each link after the first moving joint: its kinematics and number of joints."""
    link_of = {joint: link for link, joint in robot.joint_of_link.items()}
    links = [link_of[name] for name in robot.joint_names[1:]]
    return [(load_robot(robot.urdf, link), i + 2) for i, link in enumerate(links)]
