# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The folder of a search: that of a campaign, whose scenes become more, so that it is reported like
one, and goes on where it was interrupted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from frame_ros.core.output_files import make_folder, write_whole
from frame_ros.core.version import package_version
from frame_ros.evaluation.scene_trials.folder import (
    FORMAT,
    SCENES,
    SETTINGS,
    CampaignFolder,
    check_settings,
    read_results,
)
from frame_ros.evaluation.scene_trials.result import TrialResult
from frame_ros.scenes.description.files import read_scenes, write_scenes
from frame_ros.scenes.description.scene import Scene


class SearchFolder(CampaignFolder):
    """Scenes and results of a search, on disk; no other campaign writes there until it is closed.

    Args:
        folder: made if missing.
        settings: of the search and its policy, which another one in the same folder must have too.

    Attributes:
        scenes: that were written, in order.
        of_scene: name of a scene -> its results.
    """

    def __init__(self, folder: str | Path, settings: Mapping[str, Any]) -> None:
        """Reads what is there.

        Raises:
            SetupError: it cannot be made or read, is damaged, is of another search, or another
                campaign writes to it.
        """
        self.path = make_folder(Path(folder).expanduser(), 'the folder')
        self._open = ExitStack()
        # Before anything is read: what another search adds later would be unknown to this one.
        self._file = self._open.enter_context(self.writing())
        try:
            self._read({'format': FORMAT, 'version': package_version(), **settings})
        except BaseException:
            self.close()
            raise

    def _read(self, wanted: Mapping[str, Any]) -> None:
        if (self.path / SETTINGS).exists():
            check_settings(self.path, wanted)
        else:
            text = json.dumps(wanted, indent=2, allow_nan=False) + '\n'
            write_whole(self.path / SETTINGS, text, SETTINGS)
        scenes = self.path / SCENES
        self.scenes = list(read_scenes(scenes)) if scenes.exists() else []
        self.results, self.messages = read_results(self.path)
        self.of_scene: dict[str, list[TrialResult]] = {}
        for each in self.results:
            self.of_scene.setdefault(each.scene, []).append(each)

    def add_scenes(self, scenes: Sequence[Scene]) -> None:
        """Writes further scenes, before they are tried.

        Raises:
            SetupError: the file cannot be written.
        """
        self.scenes += scenes
        write_scenes(self.path / SCENES, self.scenes)

    def add_result(self, result: TrialResult) -> None:
        """Adds a result, which is on the disk when this returns, in place of one with its key.

        Raises:
            SetupError: the file cannot be written.
        """
        self._file.add(result)
        others = [e for e in self.of_scene.get(result.scene, ()) if e.key != result.key]
        self.of_scene[result.scene] = [*others, result]

    def close(self) -> None:
        """Lets others write to the folder."""
        self._open.close()

    def __enter__(self) -> SearchFolder:
        """Returns itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Lets others write to the folder."""
        self.close()
