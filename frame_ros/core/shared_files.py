# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Locations of the package's data files: a checkout, a sourced ROS workspace, or pip's prefix."""

import os
import sys
from pathlib import Path

from frame_ros.core.errors import SetupError

CHECKOUT = Path(__file__).resolve().parents[2]


def shared_folders(name: str) -> list[Path]:
    """Returns the folders that may hold the package's files of a kind, in order of precedence. They
    are those of the checkout, of the prefixes in AMENT_PREFIX_PATH, and of pip's data files. name:
    the folder's name, such as 'urdf' or 'config/motors'.
    """
    prefixes = [p for p in os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep) if p]
    prefixes += [sys.prefix, str(Path.home() / '.local')]
    return [CHECKOUT / name, *(Path(p) / 'share' / 'frame_ros' / name for p in prefixes)]


def share_directory() -> Path:
    """Returns the folder that holds config/, launch/, rviz/ and urdf/.

    Raises:
        SetupError: there is none.
    """
    places = shared_folders('')
    for place in places:
        if (place / 'config').is_dir() and (place / 'urdf').is_dir():
            return place
    raise SetupError(
        'the folders config/ and urdf/ of frame_ros were not found in '
        + ', '.join(str(place) for place in places)
        + '; build the package with colcon and source its install/setup.bash'
    )
