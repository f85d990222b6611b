# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The folder of a search: that of a campaign (`campaign.json`, `scenes.json`, `results.jsonl`), so
that it is reported like one, and goes on where it was interrupted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from frame_ros.core.errors import SetupError
from frame_ros.core.input_files import load_json, read_text
from frame_ros.core.output_files import appending, make_folder, write_whole
from frame_ros.core.version import package_version
from frame_ros.evaluation.scene_trials.result import TrialResult
from frame_ros.scenes.description.files import read_scenes, write_scenes
from frame_ros.scenes.description.scene import Scene

SETTINGS, SCENES, RESULTS = 'campaign.json', 'scenes.json', 'results.jsonl'


class SearchFolder:
    """Scenes and results of a search, on disk.

    Args:
        folder: made if missing.
        settings: of the search, which another one in the same folder must have too.

    Attributes:
        scenes: that were written, in order.
        results: name of a scene -> its results.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        """Reads what is there.

        Raises:
            SetupError: it cannot be made or read, is damaged, or is of another search.
        """
        self._folder = make_folder(folder, 'the folder of the search')
        self._keep_settings(json.loads(json.dumps(settings)))
        self.scenes: list[Scene] = []
        self.results: dict[str, list[TrialResult]] = {}
        if (folder / SCENES).exists():
            self.scenes = list(read_scenes(folder / SCENES))
        for each in read_results(folder / RESULTS):
            self.results.setdefault(each.scene, []).append(each)

    def add_scenes(self, scenes: Sequence[Scene]) -> None:
        """Writes further scenes, before they are tried.

        Raises:
            SetupError: the file cannot be written.
        """
        self.scenes += scenes
        write_scenes(self._folder / SCENES, self.scenes)

    def add_results(self, results: Iterable[TrialResult]) -> None:
        """Appends results.

        Raises:
            SetupError: the file cannot be written.
        """
        results = list(results)
        lines = ''.join(f'{each.line()}\n' for each in results)
        try:
            with appending(self._folder / RESULTS) as file:
                file.write(lines.encode())
        except OSError as error:
            raise SetupError(f'results cannot be written to {self._folder}: {error}') from error
        for each in results:
            self.results.setdefault(each.scene, []).append(each)

    def _keep_settings(self, settings: dict[str, Any]) -> None:
        path = self._folder / SETTINGS
        if not path.exists():
            content = {'version': package_version(), **settings}
            write_whole(path, json.dumps(content, indent=1) + '\n', 'the settings')
            return
        try:
            found = load_json(read_text(path))
        except (OSError, ValueError) as error:
            raise SetupError(f'{path} cannot be read: {error}') from error
        for name, value in settings.items():
            there = found.get(name) if isinstance(found, dict) else found
            if there != value:
                raise SetupError(
                    f'{path} is of a search with {name} {there!r}, not {value!r}; name another '
                    'folder, or the same settings to go on with it'
                )


def read_results(path: Path) -> list[TrialResult]:
    """Returns the results of a file; none if there is no file. A last line that was cut off, as in
    a crash, is removed from the file.

    Raises:
        SetupError: it cannot be read, or another line is no result.
    """
    if not path.exists():
        return []
    try:
        with appending(path) as file:
            file.seek(0)
            content = file.read()
            whole = content.rfind(b'\n') + 1
            if whole < len(content):
                file.truncate(whole)
        lines = content[:whole].decode().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(f'{path} cannot be read: {error}') from error
    return [
        TrialResult.from_line(line, f'{path}:{number}')
        for number, line in enumerate(lines, start=1)
    ]
