# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Heights of SAGE's SO-101 above its table, by its positions and the URDF's shapes alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frame_ros.evaluation.recorded_motion.sage import EffortRecording
from frame_ros.robots.robot import Robot
from frame_ros.robots.shapes.clearance import ClearanceCheck

# m in the base frame. In no recording is the arm lower than -0.07, however much lower its goals are
# (by up to 0.04): the joints stop there, at -0.07 to -0.04, with 1 to 3 N m on what is below.
TABLE = -0.05
NEAR = 0.015  # m above it, up to which the arm may touch it: shapes and zeros are that exact


def heights(recording: EffortRecording, robot: Robot) -> NDArray[np.float64]:
    """Returns (T,) m of the lowest link that the arm moves, above the table."""
    check = ClearanceCheck(robot, robot.joint_names, TABLE)
    columns = [recording.joint_names.index(name) for name in robot.joint_names]
    rows = recording.positions[:, columns]
    return np.array([check.at(q).floor.min() for q in rows])
