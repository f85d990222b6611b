# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The scene that a simulator runs, as it says so to others: number, words, cameras."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

import attrs

from frame_ros.core.errors import SetupError
from frame_ros.core.input_files import load_json
from frame_ros.core.structuring import structured, unstructured
from frame_ros.scenes.description.scene import Scene
from frame_ros.sensing.proximity.mount import Mount, parse_mount


@attrs.frozen(kw_only=True)
class RunningScene:
    """One scene of a file.

    Attributes:
        number: in the file, from 1.
        name, instruction: its own.
        target: type of the object to move.
        mounts: camera -> 'link x y z qx qy qz qw', m, of its optical frame.
    """

    number: int
    name: str
    instruction: str = ''
    target: str = ''
    mounts: Mapping[str, str] = {}

    @classmethod
    def of(cls, scene: Scene, place: int, base: str) -> RunningScene:
        """Returns that of a scene at a place, from 0.

        base: link to which cameras that stand are fixed.
        """
        mounts = {
            each.name: ' '.join(map(str, (each.link or base, *each.position, *each.orientation)))
            for each in scene.cameras or ()
            if each.position is not None and each.orientation is not None
        }
        return cls(
            number=place + 1, name=scene.name, instruction=scene.instruction or '',
            target=scene.target.type, mounts=mounts,
        )  # fmt: skip

    @classmethod
    def read(cls, text: str) -> RunningScene:
        """Reads what `text` has written; raises SetupError if it is none."""
        try:
            return structured(cls, load_json(text), 'the scene')
        except ValueError as error:
            raise SetupError(f'the scene is no JSON: {error}') from error

    @property
    def text(self) -> str:
        """It in JSON."""
        return json.dumps(unstructured(self))

    def mount(self, camera: str, links: Collection[str]) -> Mount | None:
        """Returns how a camera is mounted; None: it is not named.

        Raises:
            SetupError: the robot has no such link.
        """
        found = self.mounts.get(camera)
        return None if found is None else parse_mount(camera, found, links)
