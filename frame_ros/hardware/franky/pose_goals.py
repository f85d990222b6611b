# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joint goals for a stream of poses of the end effector.

The arm's own Cartesian interface is not used: it stops itself where a pose, by its inverse
kinematics, asks a joint for more than the joint can, of which a path of the end effector knows
nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import SetupError
from frame_ros.hardware.franky.servo import LONGEST
from frame_ros.robots import Robot
from frame_ros.robots.differential_ik import DifferentialInverseKinematics

Array = NDArray[np.float64]
NEAR = np.array((0.002, 0.01))  # m and rad from a pose at which it counts as reached


class PoseGoals:
    """Follows poses with the seven joints, each goal from the one before.

    robot: the arm. share: of the joints' velocity limits, 0 to 1, that the goals may use.
    """

    def __init__(self, robot: Robot, share: float) -> None:
        """Raises MissingExtraError if pink is not installed, SetupError if other joints than the
        robot's move the link that is to follow.
        """
        self._solver = solver = DifferentialInverseKinematics(robot, velocity_scale=share)
        if solver.joint_names != robot.joint_names:
            raise SetupError(
                f'poses are of {solver.tip_link}, which {list(solver.joint_names)} move; they are '
                f'followed by {list(robot.joint_names)}'
            )
        self.reset()

    def reset(self) -> None:
        """Forgets the goals: the next is found from where the joints are."""
        self._goals: Array | None = None
        self._last_time = -np.inf

    def find(
        self, pose: Array, time: float, positions: Array, largest: Array
    ) -> tuple[Array, bool]:
        """Returns the joints (7,), rad, that bring the end effector to a pose, or as near to it as
        they come in the time since the last, and True if that is there.

        Args:
            pose: (7,) position in m and quaternion xyzw in the base.
            time: s, when it was commanded.
            positions: (7,) rad, where the joints are.
            largest: (7,) rad/s, beyond which the joints cannot follow, if it is less than their
                share.
        """
        passed = time - self._last_time
        is_first = self._goals is None or not 0.0 < passed <= LONGEST
        if is_first:
            self._solver.posture = positions.copy()
        start = positions if is_first or self._goals is None else self._goals
        duration = LONGEST if is_first else passed
        found = self._solver.track(start, pose[np.newaxis], duration)
        reach = largest * duration
        goals = np.clip(found.joints[0], start - reach, start + reach)
        is_reached = (found.residuals[0] <= NEAR).all() and (goals == found.joints[0]).all()
        self._goals, self._last_time = goals, time
        return goals, bool(is_reached)
