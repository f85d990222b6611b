# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The model of the robot that an episode names."""

from __future__ import annotations

from functools import lru_cache

from frame_ros.core.errors import FrameRosError
from frame_ros.episodes.episode import Episode
from frame_ros.robots import Robot, load_robot


def known_robot(episode: Episode) -> Robot | None:
    """Returns the robot of an episode; None where it is not known, or cannot be read."""
    return _robot(episode.attributes.get('robot', ''))


@lru_cache(maxsize=8)
def _robot(name: str) -> Robot | None:
    if not name:
        return None
    try:
        return load_robot(name)
    except (FrameRosError, ImportError):
        return None
