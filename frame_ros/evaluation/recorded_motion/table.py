# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Heights of SAGE's SO-101 above its table, and when that holds the arm up: by its positions and
goals and the URDF's shapes alone, without currents or a motor model.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.evaluation.recorded_motion.sage import EffortRecording
from frame_ros.robots.robot import Robot
from frame_ros.robots.shapes.clearance import ClearanceCheck

Array = NDArray[np.float64]
# m in the base frame. In no recording is the arm lower than -0.07, however much lower its goals are
# (by up to 0.04): the joints stop there, at -0.07 to -0.04, with 1 to 3 N m on what is below.
TABLE = -0.05
NEAR = 0.015  # m above it, up to which the arm may touch it: shapes and zeros are that exact
HOLD = 0.2  # s for which something holds the arm up: longer than goals that jump take
SLOW = 0.01  # m by which the goals' lowest link moves in that time, at most
# m that the lowest link stands above its place by the goals: more than a gear's play of a degree
# does at 0.25 m. Links hang below it by their weight, in free air.
RISE = 0.005
APART = 0.5  # s from one press to the next, at least


class Press(NamedTuple):
    """A time in which the table holds the arm up.

    Attributes:
        begin, end: s since the first sample.
        rise: m that the lowest link stands above its place by the goals, the largest.
        height: m of the lowest link above TABLE, in the median.
    """

    begin: float
    end: float
    rise: float
    height: float


def heights(recording: EffortRecording, robot: Robot) -> Array:
    """Returns (T,) m of the lowest link that the arm moves, above the table."""
    return _heights(recording, robot, recording.positions)


def _heights(recording: EffortRecording, robot: Robot, joints: Array) -> Array:
    check = ClearanceCheck(robot, robot.joint_names, TABLE)
    columns = [recording.joint_names.index(name) for name in robot.joint_names]
    return np.array([check.at(q).floor.min() for q in joints[:, columns]])


def rises(recording: EffortRecording, robot: Robot) -> Array:
    """Returns (T,) m that the lowest link stands above its place by the goals, the least of the
    last HOLD. NaN where the goals move by more than SLOW in that time, or samples are missing.
    """
    aims = _heights(recording, robot, recording.goals)
    above = heights(recording, robot) - aims
    found = np.full(len(above), np.nan)
    steps = np.diff(recording.stamps)
    width = int(np.ceil(HOLD * SECOND / np.median(steps))) + 1 if len(steps) else 2
    if len(above) < width:
        return found
    spans = recording.stamps[width - 1 :] - recording.stamps[: 1 - width]
    is_slow = np.ptp(sliding_window_view(aims, width), axis=1) <= SLOW
    is_slow &= spans <= 1.5 * HOLD * SECOND
    least = sliding_window_view(above, width).min(axis=1)
    found[width - 1 :] = np.where(is_slow, least, np.nan)
    return found


def presses(recording: EffortRecording, above: Array, risen: Array) -> list[Press]:
    """Returns when the table holds the arm up.

    Args:
        above: (T,) m, as of `heights`.
        risen: (T,) m, as of `rises`.
    """
    times = (recording.stamps - recording.stamps[0]) / SECOND
    rows = np.flatnonzero(is_held_up(above, risen))
    parts = np.split(rows, np.flatnonzero(np.diff(times[rows]) > APART) + 1)
    return [
        Press(
            max(float(times[part[0]]) - HOLD, 0.0), float(times[part[-1]]),
            float(risen[part].max()), float(np.median(above[part])),
        )
        for part in parts if len(part)
    ]  # fmt: skip


def is_held_up(above: Array, risen: Array) -> NDArray[np.bool_]:
    """Returns (T,) whether the table holds the arm up: near it, and RISE above the goals' place."""
    return (above <= NEAR) & (np.nan_to_num(risen) > RISE)
