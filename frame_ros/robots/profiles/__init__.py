# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robots known by name, one module each, and where the profiles of others are found.

A profile outside the package is a YAML file with the fields of `RobotProfile`; it is named by its
path, or by its name if it lies in a folder of FRAME_ROS_ROBOTS (separated by colons, as in PATH) as
NAME.yaml or NAME/NAME.yaml. A name stands for one robot: one that is packaged too, or that lies in
two of the folders, is an error.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
from functools import cache
from pathlib import Path, PurePath

import attrs
import yaml

from frame_ros.core.errors import RobotError, SetupError
from frame_ros.core.input_files import missing_file, names_file, read_text
from frame_ros.core.options import nearest
from frame_ros.core.strict_yaml import load_yaml, yaml_problem
from frame_ros.core.structuring import structured
from frame_ros.robots.profile import RobotProfile

FOLDERS_VARIABLE = 'FRAME_ROS_ROBOTS'
PROFILE_SUFFIXES = ('.yaml', '.yml')
ROBOT_NAMES = tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))
DEFAULT_ROBOT = 'so101'  # of every option and argument that chooses a robot
UNNAMED = 'robot'  # name of a robot whose URDF gives none
# How every option that chooses a robot describes it.
OF_ROBOT = (
    'robot: its name, the YAML file of a profile or its name in a folder of '
    f'{FOLDERS_VARIABLE}, or a URDF file'
)
_COMMENT = re.compile(r'<!--.*?(?:-->|\Z)', re.DOTALL)
_NAME = re.compile(r"""<robot\s(?:[^<>]*\s)?name\s*=\s*(?P<quote>["'])(?P<name>.*?)(?P=quote)""")


def packaged_profiles() -> tuple[RobotProfile, ...]:
    """The profiles that come with the package."""
    return tuple(map(_packaged, ROBOT_NAMES))


def simulated_robots() -> tuple[str, ...]:
    """The names of those that have a simulation."""
    return tuple(profile.name for profile in packaged_profiles() if profile.simulation)


def find_profile(name_or_file: str | os.PathLike[str]) -> RobotProfile:
    """The profile of a robot: by name, from a profile's YAML file, or of a URDF file alone.

    Raises:
        RobotError: there is none of that name, or the file is no profile.
    """
    source = locate(name_or_file)
    if source in ROBOT_NAMES:
        return _packaged(source)
    path = Path(source)
    if path.suffix in PROFILE_SUFFIXES:
        return read_profile(path)
    return RobotProfile(name='', urdf=path.name, file=source)


def locate(name_or_file: str | os.PathLike[str]) -> str:
    """The robot as a process in any folder and environment may be given it: the name of a packaged
    one, else the absolute path of the profile or URDF.

    Raises:
        RobotError: there is none, or more than one.
    """
    source = os.fspath(name_or_file)
    if names_file(source):
        return str(Path(source).expanduser().resolve())
    found = _in_folders(source)
    if source in ROBOT_NAMES and not found:
        return source
    if not found:
        names = sorted(known_robots())
        near = nearest(source.lower(), names)
        near = f'did you mean {near!r}?' if near else ''
        hint = missing_file(source) or near
        raise RobotError(
            f'no robot {source!r}: ' + (f'{hint}; ' if hint else '') + 'known are '
            f'{", ".join(names)}, or give the path of a profile or of a URDF file, or set '
            f'{FOLDERS_VARIABLE} to the folder of its profile'
        )
    if source in ROBOT_NAMES:
        raise RobotError(
            f'{source!r} is a robot of the package and {found[0]} too: rename that file'
        )
    if len(found) > 1:
        raise RobotError(
            f'the robot {source!r} is {" and ".join(found)}, by {FOLDERS_VARIABLE}: rename one, or '
            'give a path'
        )
    return found[0]


def known_robots() -> tuple[str, ...]:
    """The names of the robots that are known, those of the package first."""
    return (*ROBOT_NAMES, *sorted(_names_in_folders().difference(ROBOT_NAMES)))


def is_description(text: str) -> bool:
    """Returns whether it is the text of a URDF, not a name or path."""
    return text.lstrip().startswith('<')


def public_name(name_or_file: str | os.PathLike[str]) -> str:
    """The robot as bags name it, which are given away: its name, of a profile or URDF the file's
    name, without the folders of this machine, and of a URDF's text the name in it.
    """
    source = os.fspath(name_or_file)
    if is_description(source):
        found = _NAME.search(_COMMENT.sub('', source))
        source = (found and found['name']) or UNNAMED
    return PurePath(source).name or source


def read_profile(path: Path) -> RobotProfile:
    """The profile that a YAML file holds; without `name` the file's.

    Raises:
        RobotError: it cannot be read, or a field is wrong.
    """
    try:
        content = load_yaml(read_text(path))
        if isinstance(content, dict):
            content = {**content, 'name': content.get('name') or path.stem}
        profile = structured(RobotProfile, content)
    except yaml.YAMLError as error:
        raise RobotError(f'the robot profile {path} is no YAML: {yaml_problem(error)}') from error
    except (OSError, UnicodeDecodeError, SetupError) as error:
        raise RobotError(f'the robot profile {path}: {error}') from error
    if profile.file:
        raise RobotError(f"the robot profile {path}: 'file' is no field, it is the profile itself")
    if profile.name in ROBOT_NAMES:
        raise RobotError(
            f'the robot profile {path}: name is {profile.name!r}, which is a robot of the package; '
            'give it a name of its own'
        )
    if not profile.urdf:
        raise RobotError(f'the robot profile {path} names no urdf')
    return attrs.evolve(profile, file=str(path.resolve()))


def profile_of_urdf(name: str) -> RobotProfile:
    """The profile of a robot of which only a URDF is given, by the name in it. Of a packaged one it
    holds the rates and the driver's topics, but no link, gripper, posture, or simulation: the URDF
    may have others.
    """
    if name not in ROBOT_NAMES:
        return RobotProfile(name=name)
    return attrs.evolve(
        _packaged(name),
        tips={},
        finger_links=(),
        sensor_link='',
        gripper=None,
        tracking=None,
        postures={},
        cameras={},
        shapes='',
        simulation=None,
    )


@cache
def _packaged(name: str) -> RobotProfile:
    profile: RobotProfile = importlib.import_module(f'{__name__}.{name}').PROFILE
    return profile


def _folders() -> list[Path]:
    """The folders of FRAME_ROS_ROBOTS, which need not be there."""
    folders = filter(None, os.environ.get(FOLDERS_VARIABLE, '').split(os.pathsep))
    return [Path(folder).expanduser() for folder in folders]


def _in_folders(name: str) -> list[str]:
    """The files of that name in the folders of FRAME_ROS_ROBOTS, links followed."""
    files = (
        folder / file for folder in _folders() for file in (f'{name}.yaml', f'{name}/{name}.yaml')
    )
    return sorted({str(file.resolve()) for file in files if file.is_file()})


def _names_in_folders() -> set[str]:
    """The names by which `_in_folders` finds a file."""
    files = (file for folder in _folders() for file in folder.glob('*.yaml'))
    inner = (file for folder in _folders() for file in folder.glob('*/*.yaml'))
    own = (file for file in inner if file.parent.name == file.stem)
    return {file.stem for file in (*files, *own) if file.is_file()}
