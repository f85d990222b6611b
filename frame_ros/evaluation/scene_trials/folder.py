# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The folder of a campaign: its settings, its scenes, and a line for every finished trial."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import attrs

from frame_ros.core.errors import SetupError
from frame_ros.core.input_files import UNPACKED_PART, load_json, read_bytes, read_text
from frame_ros.core.output_files import appending, make_folder, write_whole
from frame_ros.core.version import package_version
from frame_ros.evaluation.appended_lines import append_line, drop_cut_line
from frame_ros.evaluation.scene_trials.result import TrialResult
from frame_ros.scenes.description.files import read_scenes, write_scenes
from frame_ros.scenes.description.scene import Scene

FORMAT = 'frame_ros scene campaign 1'
MESHES = 'meshes'  # in the settings: digests of the files of mesh folders
SETTINGS, SCENES, RESULTS = 'campaign.json', 'scenes.json', 'results.jsonl'


@attrs.frozen(kw_only=True)
class CampaignContent:
    """The content of a campaign's folder.

    Attributes:
        settings: of campaign.json.
        scenes: that were run.
        results: in the order in which they finished.
        messages: for the user, such as of a half-written line.
    """

    settings: Mapping[str, Any]
    scenes: tuple[Scene, ...]
    results: tuple[TrialResult, ...]
    messages: tuple[str, ...]


def read_campaign(folder: str | Path) -> CampaignContent:
    """Returns what is in a campaign's folder.

    Raises:
        SetupError: it is no campaign's, or a line but the last is wrong.
    """
    place = Path(folder).expanduser()
    settings = _read_settings(place)
    results, messages = read_results(place)
    return CampaignContent(
        settings=settings, scenes=read_scenes(place / SCENES), results=tuple(results),
        messages=tuple(messages),
    )  # fmt: skip


def read_results(folder: Path) -> tuple[list[TrialResult], list[str]]:
    """Returns the results in a folder, and messages; without a last line that was cut. Of a trial
    that ran again the last line counts.

    Raises:
        SetupError: it cannot be read, or a line but the last is wrong.
    """
    file = folder / RESULTS
    if not file.is_file():
        return [], []
    try:
        *lines, last = read_bytes(file, UNPACKED_PART).split(b'\n')
    except OSError as error:
        raise SetupError(f'{file} cannot be read: {error.strerror}') from error
    found = [
        TrialResult.from_line(line, f'{file}, line {number}')
        for number, line in enumerate(lines, 1)
        if line
    ]
    cut = f'the last line of {file} is half-written and is dropped'
    return list({each.key: each for each in found}.values()), [cut] if last else []


class CampaignFolder:
    """A folder to which one campaign at a time writes.

    Args:
        settings: plain JSON values; with others the folder is refused. Numbers of trials do not
            belong to them, as they may grow.
    """

    def __init__(
        self, folder: str | Path, settings: Mapping[str, Any], scenes: Sequence[Scene]
    ) -> None:
        """Makes the folder, or continues in it.

        Raises:
            SetupError: it cannot be written, is of another campaign, or a line of its results is
                wrong.
        """
        self.path = make_folder(Path(folder).expanduser(), 'the folder')
        wanted = {'format': FORMAT, 'version': package_version(), **settings}
        if (self.path / SETTINGS).exists():
            _refuse_others(self.path, wanted, scenes)
        else:
            if (self.path / RESULTS).exists():
                raise SetupError(f'{self.path} has {RESULTS} but no {SETTINGS}; give another')
            write_scenes(self.path / SCENES, scenes)
            text = json.dumps(wanted, indent=2, allow_nan=False) + '\n'
            write_whole(self.path / SETTINGS, text, SETTINGS)
        self.results, self.messages = read_results(self.path)

    @contextmanager
    def writing(self) -> Iterator[ResultsFile]:
        """Opens the results for more of them.

        Raises:
            SetupError: it cannot be written, or another campaign writes to it.
        """
        file = self.path / RESULTS
        try:
            with appending(file) as opened:
                try:
                    fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError as error:
                    raise SetupError(f'another campaign writes to {self.path} now') from error
                drop_cut_line(opened)
                yield ResultsFile(opened, file)
        except OSError as error:
            raise SetupError(f'{file} cannot be written: {error.strerror}') from error


class ResultsFile:
    """Results that are on the disk as soon as they are added."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file, self._path = file, path

    def add(self, result: TrialResult) -> None:
        """Adds a line. Raises SetupError: it cannot be written."""
        try:
            append_line(self._file, result.line())
        except OSError as error:
            raise SetupError(f'{self._path} cannot be written: {error.strerror}') from error


def _read_settings(folder: Path) -> Mapping[str, Any]:
    file = folder / SETTINGS
    try:
        found = load_json(read_text(file))
    except OSError as error:
        raise SetupError(f'{folder} is no campaign: {file}: {error.strerror}') from error
    except ValueError as error:
        raise SetupError(f'{file} is no JSON: {error}') from error
    if not isinstance(found, dict) or found.get('format') != FORMAT:
        shown = found.get('format') if isinstance(found, dict) else found
        raise SetupError(f'{file}: format is {shown!r}; it must be {FORMAT!r}')
    return found


def check_settings(folder: Path, wanted: Mapping[str, Any]) -> None:
    """Raises SetupError where a folder is of a campaign with other settings, or of none."""
    found, same = _read_settings(folder), json.loads(json.dumps(wanted))
    for name in dict.fromkeys((*same, *found)):
        if found.get(name) != same.get(name):
            raise SetupError(
                f'{folder} is of a campaign with another {name}: {_difference(found, same, name)}; '
                'give another folder'
            )


def _refuse_others(folder: Path, wanted: Mapping[str, Any], scenes: Sequence[Scene]) -> None:
    check_settings(folder, wanted)
    if read_scenes(folder / SCENES) != tuple(scenes):
        raise SetupError(f'{folder} is of a campaign with other scenes; give another folder')


def _difference(found: Mapping[str, Any], wanted: Mapping[str, Any], name: str) -> str:
    old, new = found.get(name), wanted.get(name)
    if name == MESHES:
        return _changed_files(old or {}, new or {})
    if isinstance(old, dict) and isinstance(new, dict):
        inner = next(each for each in (*new, *old) if old.get(each) != new.get(each))
        return f'{inner} is {new.get(inner)!r}, and was {old.get(inner)!r}'
    return f'it is {new!r}, and was {old!r}'


def _changed_files(old: Mapping[str, str], new: Mapping[str, str]) -> str:
    changes = []
    for file in sorted({*old, *new}):
        if old.get(file) != new.get(file):
            what = 'is new' if file not in old else 'is gone' if file not in new else 'has changed'
            changes.append(f'{file} {what}')
    more = f' and {len(changes) - 3} more' if len(changes) > 3 else ''
    return f'{", ".join(changes[:3])}{more}'
