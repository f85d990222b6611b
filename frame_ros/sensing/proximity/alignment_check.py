# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The check of a camera's alignment with an image that was measured."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from frame_ros.sensing.proximity.cameras.alignment import Alignment, CameraAlignment
from frame_ros.sensing.proximity.mount import Mount
from frame_ros.sensing.proximity.robot_at import RobotAt


class Seen(NamedTuple):
    """An image as it was measured. stamp: ns. frame: of its header. depth: (H, W)."""

    stamp: int
    frame: str
    depth: NDArray
    mount: Mount
    robot: RobotAt


class Checked(NamedTuple):
    """What a check said of an image of a camera."""

    camera: str
    frame: str
    checker: CameraAlignment
    alignment: Alignment


def check(camera: str, checker: CameraAlignment, seen: Seen) -> Checked:
    """Looks where the robot is seen."""
    pose = seen.robot.pose(seen.mount)
    alignment = checker.update(seen.stamp, seen.depth, seen.robot.shapes, *pose)
    return Checked(camera, seen.frame, checker, alignment)
