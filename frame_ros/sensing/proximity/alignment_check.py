# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Checks a camera's alignment with a measured image."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from frame_ros.sensing.proximity.cameras.alignment import Alignment
from frame_ros.sensing.proximity.cameras.trusted_padding import TrustedPadding
from frame_ros.sensing.proximity.mount import Mount
from frame_ros.sensing.proximity.robot_at import RobotAt


class Seen(NamedTuple):
    """An image as measured."""

    stamp: int  # ns
    frame: str  # of its header
    depth: NDArray  # (H, W)
    mount: Mount
    robot: RobotAt


class Checked(NamedTuple):
    """The result of a check of a camera's image."""

    camera: str
    frame: str
    alignment: Alignment


def check(camera: str, trusted: TrustedPadding, seen: Seen) -> Checked:
    """Compares an image with the expected place of the robot."""
    pose = seen.robot.pose(seen.mount)
    alignment = trusted.check(seen.stamp, seen.depth, seen.robot.shapes, *pose)
    return Checked(camera, seen.frame, alignment)
