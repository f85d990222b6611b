# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robots known by name, and where their URDFs are found."""

import os
from pathlib import Path

from frame_ros.core.errors import RobotError
from frame_ros.core.input_files import read_text
from frame_ros.core.shared_files import shared_folders
from frame_ros.robots.robot import Robot
from frame_ros.robots.shapes.mesh_files import with_absolute_meshes

# Default tip, and the short names of other links that are good tips.
_TIPS: dict[str, dict[str, str]] = {
    'so101': {
        'default': 'gripper_frame_link',
        'tcp': 'gripper_frame_link',
        'gripper': 'gripper_link',
    },
    'fr3': {
        'default': 'fr3_link8',
        'flange': 'fr3_link8',
        'hand': 'fr3_hand',
        'tcp': 'fr3_hand_tcp',
    },
    'panda': {
        'default': 'panda_link8',
        'flange': 'panda_link8',
        'hand': 'panda_hand',
        'tcp': 'panda_hand_tcp',
    },
}
ROBOT_NAMES = tuple(_TIPS)


def load_robot(name_or_urdf: str | os.PathLike[str], tip: str | None = None) -> Robot:
    """A robot by name ('so101', 'fr3', 'panda'), from a URDF file, or from a URDF's text.

    Args:
        name_or_urdf: a known name, a path, or XML text (anything that starts with '<').
        tip: the link whose pose is wanted. Known robots also take 'flange', 'hand', 'tcp' (Franka;
            the default is the flange) and 'tcp', 'gripper' (SO-101; the default is
            gripper_frame_link). Of another URDF the default is its deepest last link.

    Raises:
        RobotError: no such robot, file or link, or a URDF that cannot be used.
    """
    source = os.fspath(name_or_urdf)
    if source.lstrip().startswith('<'):
        return Robot(source, tip)
    if source in _TIPS:
        tips = _TIPS[source]
        chosen = tips.get(tip or 'default', tip)
        return Robot(find_urdf(source).read_text(encoding='utf-8'), chosen, name=source)
    path = Path(source).expanduser()
    if not path.is_file():
        raise RobotError(
            f'no robot {source!r}: known are {", ".join(ROBOT_NAMES)}, '
            f'or give the path of a URDF file'
        )
    try:
        text = read_text(path)
    except UnicodeDecodeError as error:
        raise RobotError(f'{path} is not a text file, a URDF was expected') from error
    except OSError as error:
        raise RobotError(f'{path} cannot be read: {error.strerror}') from error
    return Robot(with_absolute_meshes(text, path.resolve().parent), tip)


def find_urdf(name: str) -> Path:
    """The URDF file of a robot known by name.

    Looked for in a checkout, in the share folders of the sourced ROS workspaces, and where pip puts
    data files.

    Raises:
        RobotError: the name is not known, or the file is in none of these folders.
    """
    if name not in _TIPS:
        raise RobotError(f'no robot {name!r}: known are {", ".join(ROBOT_NAMES)}')
    folders = shared_folders('urdf')
    for folder in folders:
        if (folder / f'{name}.urdf').is_file():
            return folder / f'{name}.urdf'
    looked = ', '.join(str(folder) for folder in folders)
    raise RobotError(f'{name}.urdf is not installed: looked in {looked}')
