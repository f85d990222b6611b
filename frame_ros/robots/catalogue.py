# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Robots by name, from a profile, or from a URDF."""

import os
from pathlib import Path

from frame_ros.core.errors import RobotError
from frame_ros.core.input_files import read_text
from frame_ros.robots.description import parse_urdf
from frame_ros.robots.profile_check import check_profile
from frame_ros.robots.profiles import ROBOT_NAMES, find_profile, is_description
from frame_ros.robots.robot import Robot
from frame_ros.robots.shapes.mesh_files import with_absolute_meshes

__all__ = ['ROBOT_NAMES', 'find_urdf', 'load_robot']


def load_robot(name_or_file: str | os.PathLike[str], tip: str | None = None) -> Robot:
    """A robot by name ('so101', 'fr3', 'panda', or one in a folder of FRAME_ROS_ROBOTS), from the
    YAML file of a profile, from a URDF file, or from a URDF's text.

    Args:
        name_or_file: a name, a path, or XML text (anything that starts with '<').
        tip: the link whose pose is wanted, or its short name in the profile's tips, such as
            'flange', 'hand' and 'tcp' of Franka. The default is the profile's; without a profile
            the deepest last link.

    Raises:
        RobotError: no such robot, file or link, or a profile or URDF that cannot be used.
    """
    source = os.fspath(name_or_file)
    if is_description(source):
        return Robot(source, tip)
    profile = find_profile(source)
    path = profile.path(profile.urdf)
    try:
        text = read_text(path)
    except UnicodeDecodeError as error:
        raise RobotError(f'{path} is not a text file, a URDF was expected') from error
    except OSError as error:
        raise RobotError(f'{path} cannot be read: {error.strerror}') from error
    if profile.folder:
        text = with_absolute_meshes(text, path.resolve().parent)
    if not profile.name:
        return Robot(text, tip)
    if profile.folder:
        check_profile(profile, parse_urdf(text))
    return Robot(text, profile.tips.get(tip or 'default', tip), profile)


def find_urdf(name_or_file: str | os.PathLike[str]) -> Path:
    """The URDF file of a robot that `load_robot` knows.

    Of a packaged one it is looked for in a checkout, in the share folders of the sourced ROS
    workspaces, and where pip puts data files.

    Raises:
        RobotError: there is no such robot, or the file is in none of these folders.
    """
    profile = find_profile(name_or_file)
    return profile.path(profile.urdf)
