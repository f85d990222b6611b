# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robot that a bag names.

A bag may come from anywhere: of the paths that it names, only an ordinary file in the bag's own
folder is opened; of a profile there, only if every file that it names lies in that folder too. A
name also stands for a profile in the user's own folders, FRAME_ROS_ROBOTS.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from frame_ros.core.errors import FrameRosError, RobotError
from frame_ros.core.input_files import is_within, names_file
from frame_ros.episodes.episode import Episode

if TYPE_CHECKING:
    from frame_ros.robots import Robot

# The fact that names a bag's robot if that is not opened.
NOT_OPENED = 'robot_not_opened'


def with_robot(facts: dict[str, str], folder: Path, given: str | None) -> dict[str, str]:
    """Returns a bag's facts with a 'robot' that may be given to `load_robot`. It is the name of a
    known one, the path of a URDF or profile in the bag's folder, that of the profile of its name in
    the user's own folders (FRAME_ROS_ROBOTS), or else the one given by the user. Anything else
    becomes `NOT_OPENED` where none is given.
    """
    from frame_ros.robots import ROBOT_NAMES

    named = facts.get('robot', '')
    named = '' if named == given else named
    others = {key: value for key, value in facts.items() if key != 'robot'}
    file = '' if named in ROBOT_NAMES else _in_folder(named, folder)
    file = file if file and _keeps_to(file, folder) else ''
    known = file or (named if named in ROBOT_NAMES else '') or given or _in_own_folders(named)
    if known:
        return {**others, 'robot': known}
    return {**others, NOT_OPENED: named} if named else others


def not_opened_text(named: str) -> str:
    """Reports the name that was not opened."""
    from frame_ros.robots.profiles import FOLDERS_VARIABLE

    return (
        f'the bag names the robot {named[:100]!r}, which is neither a known one nor a file that, '
        "with those that it names, lies in the bag's folder: it was not opened (--robot names a "
        f'description, and {FOLDERS_VARIABLE} the folder of such profiles)'
    )


def _in_own_folders(named: str) -> str:
    """Returns the profile of FRAME_ROS_ROBOTS that has a name, or the name of a profile's file,
    wherever that was; else ''.
    """
    from frame_ros.robots.profiles import PROFILE_SUFFIXES, ROBOT_NAMES, known_robots, locate

    file = PurePath(named)
    name = file.stem if file.suffix in PROFILE_SUFFIXES else named
    if name in ROBOT_NAMES or name not in known_robots():
        return ''
    try:
        return locate(name)
    except RobotError:  # it lies in two of the folders
        return ''


def _in_folder(named: str, folder: Path) -> str:
    """Returns the absolute path of an ordinary file in a folder, links followed; else ''."""
    file = os.path.abspath(folder / named)
    # First as it is written: nothing elsewhere is touched.
    if '\0' in named or not Path(file).is_relative_to(os.path.abspath(folder)):
        return ''
    return file if names_file(file) and is_within(Path(file), folder) else ''


def _keeps_to(file: str, folder: Path) -> bool:
    """Returns whether every file that a description names lies in a folder, links followed."""
    from frame_ros.robots.profiles import find_profile

    try:
        profile = find_profile(file)
    except RobotError:
        return True  # and is refused in the same way by who loads it
    within = folder.resolve()
    # As it is written, then as it is opened: a `..` may follow a link.
    paths = [os.path.join(profile.folder, each) for each in profile.files.values()]
    return all(_in_folder(path, within) and is_within(Path(path), within) for path in paths)


def known_robot(episode: Episode) -> Robot | None:
    """Returns the robot of an episode; None where it is not known, or cannot be read."""
    return _robot(episode.attributes.get('robot', ''))


def continuous_joints(episode: Episode) -> tuple[str, ...]:
    """Returns the joints that turn without end, by the episode's robot, or else as recorded with
    the settings of its metrics; () where neither is known.
    """
    from frame_ros.episodes.metric_pipeline.options import PipelineOptions

    robot = known_robot(episode)
    if robot is not None:
        return robot.continuous
    try:
        return PipelineOptions.from_json(episode.attributes.get('metrics_config', '')).continuous
    except FrameRosError:
        return ()


def continuous_of(robot: str | None) -> tuple[str, ...]:
    """Returns the joints of a robot that turn without end; () where it is not known."""
    found = _robot(robot or '')
    return found.continuous if found is not None else ()


@lru_cache(maxsize=8)
def _robot(name: str) -> Robot | None:
    from frame_ros.robots import load_robot

    try:
        return load_robot(name) if name else None
    except (FrameRosError, ImportError):
        return None
