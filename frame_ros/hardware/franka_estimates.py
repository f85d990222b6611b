# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Estimates and flags of a Franka arm, as its controller reports them.

The signs are libfranka's (franka::RobotState): forces exerted by the robot are positive.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

JOINTS = 7
# N m, of franka_ros2's example controllers (default_robot_behavior_utils): lower thresholds are of
# contact, upper of collision.
CONTACT_TORQUES = (25.0, 25.0, 22.0, 20.0, 19.0, 17.0, 14.0)
COLLISION_TORQUES = (35.0, 35.0, 32.0, 30.0, 29.0, 27.0, 24.0)
# N of the axes, N m about them, likewise.
CONTACT_WRENCH = (30.0, 30.0, 30.0, 25.0, 25.0, 25.0)
COLLISION_WRENCH = (40.0, 40.0, 40.0, 35.0, 35.0, 35.0)


@dataclass(frozen=True)
class FrankaEstimates:
    """A sample of estimates and flags, (6,) of cartesian axes and (7,) of joints."""

    torques: Array
    wrench: Array
    tip_wrench: Array
    cartesian_contact: NDArray[np.bool_]
    cartesian_collision: NDArray[np.bool_]
    joint_contact: NDArray[np.bool_]
    joint_collision: NDArray[np.bool_]

    @property
    def is_contact(self) -> bool:
        """True if any contact flag is raised."""
        return bool(self.cartesian_contact.any() or self.joint_contact.any())

    @property
    def is_collision(self) -> bool:
        """True if any collision flag is raised."""
        return bool(self.cartesian_collision.any() or self.joint_collision.any())
