# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The pose of a camera that is mounted on a robot, with the robot at home."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots import load_robot
from frame_ros.robots.link_frames import LinkFrames
from frame_ros.scenes.simulation.scene_robot import scene_robot
from frame_ros.sensing.proximity.mount import parse_mount

Array = NDArray[np.float64]


def pose_at_home(robot: str, camera: str, text: str) -> tuple[Array, Array]:
    """Returns position (3,) m and rotation (3, 3) in the base of a mount, as `parse_mount` takes
    it.

    Raises:
        RobotError: there is no such robot.
        SetupError: the text is no mount, or the robot has no such link.
    """
    model = load_robot(robot)
    mount = parse_mount(camera, text, model.links)
    if mount.link == model.base_link:
        return mount.translation, mount.rotation
    home = scene_robot(robot)
    frames = LinkFrames(model, home.joint_names)
    rotations, translations = frames.compute(home.home)
    row = frames.index(mount.link)
    return translations[row] + rotations[row] @ mount.translation, rotations[row] @ mount.rotation
