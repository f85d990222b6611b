# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Robots recognised by the names of their joints."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from frame_ros.core.errors import FrameRosError
from frame_ros.robots.catalogue import load_robot
from frame_ros.robots.profiles import known_robots


def robot_of_joints(names: Collection[str]) -> str:
    """Returns the known robot all of whose joints are among these names, a packaged one before
    those of a folder; '' if there is none.
    """
    given = set(names)
    for robot in known_robots():
        joints = _joints(robot)
        if joints and joints <= given:
            return robot
    return ''


@lru_cache(maxsize=64)
def _joints(robot: str) -> frozenset[str]:
    try:
        return frozenset(load_robot(robot).joint_names)
    except (FrameRosError, ImportError):
        return frozenset()  # whoever names it gets the reason
