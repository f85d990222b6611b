# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The force per mass that a tool beyond a force-torque sensor exerts, as the joints predict it."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.robots.dynamics import GRAVITY
from frame_ros.robots.motion import rotation_of
from frame_ros.robots.robot import Robot

Array = NDArray[np.float64]
SPACING = 20_000_000  # ns between two samples of the motion
GAP = 10 * SPACING


class SpecificForce:
    """Gravity less acceleration in the sensor's axes, m/s^2: what the tool weighs, per mass.

    The acceleration is the second difference of positions, so the value is that of the middle of
    three samples, without a delay.
    """

    def __init__(self, robot: Robot, link: str, rotation: Array, translation: Array) -> None:
        """rotation (3, 3), translation (3,) m: of the sensor in its link."""
        self._robot = Robot(robot.urdf, link, robot.profile)
        self.joint_names = self._robot.joint_names
        self._rotation, self._translation = rotation, translation
        self._gravity = np.array(GRAVITY)
        self.reset()

    def reset(self) -> None:
        """The clock was set back or forward."""
        self._poses: deque[tuple[int, Array, Array]] = deque(maxlen=3)

    def is_due(self, stamp: int) -> bool:
        """Returns whether `add` takes positions at `stamp`, ns: not too closely after the last."""
        return not self._poses or stamp - self._poses[-1][0] >= SPACING

    def add(self, stamp: int, q: Array) -> tuple[int, Array] | None:
        """Takes joint positions (N,) at `stamp`, ns.

        Returns stamp and force per mass (3,) of the sample before; None if there is none yet, or
        this one follows the last too closely.
        """
        poses = self._poses
        if not self.is_due(stamp):
            return None
        if poses and stamp - poses[-1][0] > GAP:
            poses.clear()
        place, quaternion = self._robot.forward(q)
        turned = rotation_of(quaternion)
        poses.append((stamp, place + turned @ self._translation, turned @ self._rotation))
        if len(poses) < 3:
            return None
        (first, before, _), (middle, here, rotation), (last, after, _) = poses
        early, late = (middle - first) / SECOND, (last - middle) / SECOND
        change = (after - here) / late - (here - before) / early
        acceleration = 2.0 * change / (early + late)
        return middle, rotation.T @ (self._gravity - acceleration)
