# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The URDF or MuJoCo file that describes an object of a folder."""

from __future__ import annotations

import re
from pathlib import Path

from frame_ros.core.errors import SetupError
from frame_ros.core.input_files import is_within, open_file
from frame_ros.scenes.description.mjcf_objects import mjcf_parts
from frame_ros.scenes.description.object_parts import ObjectParts
from frame_ros.scenes.description.urdf_objects import urdf_parts

NONE = 'none'
_HEAD = 65536  # bytes, of a file that are searched for its root
_COMMENT = re.compile(rb'<!--.*?(?:-->|\Z)', re.DOTALL)
_ROOT = re.compile(rb'<\s*([A-Za-z_][\w.-]*)')
_ROOTS = {'.urdf': b'robot', '.xml': b'mujoco'}


def descriptions(folder: Path) -> list[Path]:
    """Returns the URDF and MuJoCo files of a folder, by name.

    Raises:
        SetupError: one cannot be read.
    """
    found = []
    for each in sorted(folder.iterdir()) if folder.is_dir() else ():
        wanted = _ROOTS.get(each.suffix.lower())
        if wanted is not None and each.is_file():
            root = _ROOT.search(_COMMENT.sub(b'', _head_of(each)))
            if root is not None and root[1] == wanted:
                found.append(each)
    return found


def _head_of(file: Path) -> bytes:
    try:
        with open_file(file) as opened:
            return opened.read(_HEAD)
    except OSError as error:
        raise SetupError(f'{file} cannot be read: {error.strerror}') from error


def description_of(folder: Path, name: str = '') -> Path | None:
    """Returns the description of an object; None: there is none.

    name: of the file; '': the only one there, or the one called as the folder; NONE: none is read.

    Raises:
        SetupError: there are several, or none of that name.
    """
    if name == NONE:
        return None
    found = descriptions(folder)
    if name:
        file = folder / name
        if not is_within(file, folder) or file not in found:
            raise SetupError(
                f'{folder} has no description {name}; it must be a URDF or MuJoCo file'
            )
        return file
    if own := [each for each in found if each.stem == folder.name]:
        found = own
    if len(found) > 1:
        names = ', '.join(each.name for each in found)
        raise SetupError(
            f'{folder} has the descriptions {names}: say which by description: in object.yaml, or '
            f'description: {NONE}'
        )
    return found[0] if found else None


def described_parts(file: Path) -> ObjectParts:
    """Returns the parts of an object by its description.

    Raises:
        FrameRosError: as of `urdf_parts` and `mjcf_parts`.
    """
    return urdf_parts(file) if file.suffix.lower() == '.urdf' else mjcf_parts(file)
