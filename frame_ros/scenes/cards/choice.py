# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The choice of one scene among those of a file, by its name or its number."""

from __future__ import annotations

from collections.abc import Sequence

from frame_ros.core.errors import SetupError
from frame_ros.core.options import nearest
from frame_ros.scenes.description.scene import Scene


def find_scene(scenes: Sequence[Scene], chosen: str) -> int:
    """Returns the place of a scene, from 0, by its name, or by its number from 1.

    A name takes precedence over a number.

    Raises:
        SetupError: there is no such scene, or several of the name.
    """
    names = [each.name for each in scenes]
    text = chosen.strip()
    if names.count(text) > 1:
        raise SetupError(f'{names.count(text)} scenes have the name {text!r}; choose a number')
    if text in names:
        return names.index(text)
    if text.isascii() and text.isdigit():
        if 1 <= int(text) <= len(scenes):
            return int(text) - 1
        raise SetupError(f'there is no scene {text}; the numbers are 1 to {len(scenes)}')
    near = nearest(text, names)
    hint = f'; did you mean {near}?' if near else ''
    raise SetupError(
        f'there is no scene {text!r} among the {len(scenes)} of the file; give a name or a number '
        f'from 1{hint}'
    )
