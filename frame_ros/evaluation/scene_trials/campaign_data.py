# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Folders of campaigns as they lie on disk: scenes and results of trials, and what was dropped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import attrs

from frame_ros.core.errors import SetupError
from frame_ros.core.input_files import load_json, read_text
from frame_ros.evaluation.scene_trials.result import WALL_CLOCK, TrialResult
from frame_ros.scenes.description.files import read_scenes
from frame_ros.scenes.description.scene import Scene

SETTINGS, SCENES, RESULTS = 'campaign.json', 'scenes.json', 'results.jsonl'
INSTRUCTION = 'instruction'  # the mutation of a trial with other words and nothing else changed
# The name of a scene on the way from another one to a changed one, as a search writes it.
PERTURBED = re.compile(r'(?P<base>.+)\.(?P<change>\w+)_(?P<scale>[01]\.\d+)')
PERTURBATION = 'perturbation'
_NUMBER = re.compile(r'-?\d+(\.\d+)?(e[-+]?\d+)?')


@dataclass(frozen=True)
class CampaignData:
    """Trials and their scenes.

    Attributes:
        folders: that were read.
        scenes: name -> scene.
        trials: that count, in the order of the files.
        invalid: that do not count.
        remarks: what was dropped or renamed, in words.
        searched: folders whose scenes a search has chosen by their outcomes.
    """

    folders: tuple[str, ...]
    scenes: Mapping[str, Scene]
    trials: tuple[TrialResult, ...]
    invalid: tuple[TrialResult, ...] = ()
    remarks: tuple[str, ...] = ()
    searched: tuple[str, ...] = ()

    @property
    def reasons(self) -> dict[str, int]:
        """Reason, its numbers left out -> number of trials that do not count, the most first."""
        found = Counter(_NUMBER.sub('…', each.problem) for each in self.invalid)
        return dict(found.most_common())

    def mutation(self, trial: TrialResult) -> str:
        """The name of what was changed; INSTRUCTION if only the words, PERTURBATION if the name of
        the scene says so; '': nothing.
        """
        if trial.mutation:
            return trial.mutation
        match = PERTURBED.fullmatch(trial.scene)
        if match and match['base'] in self.scenes:
            return PERTURBATION
        own = self.scenes[trial.scene].instruction
        is_other = bool(trial.instruction and own and trial.instruction != own)
        return INSTRUCTION if is_other or trial.base else ''


def read_campaigns(folders: Sequence[str | Path]) -> CampaignData:
    """Reads the folders of one or several campaigns.

    A half-written last line of a file of results is dropped, and the remarks say so. Scenes of two
    folders that have one name but differ get the folder's name in front. Of a trial that is there
    twice the first one counts.

    Raises:
        SetupError: a file cannot be read, a line is no result, or its scene is not in the file of
            scenes.
    """
    if not folders:
        raise SetupError('no folder of a campaign is given')
    scenes: dict[str, Scene] = {}
    trials: dict[tuple[object, ...], TrialResult] = {}
    remarks: list[str] = []
    for folder in map(Path, folders):
        names = _add_scenes(folder, scenes, remarks)
        twice = other = 0
        for trial in _results(folder, names, remarks):
            key = (*trial.key, trial.mutation, trial.base, trial.policy_seed)
            twice += key in trials
            other += key in trials and not _is_same(trial, trials[key])
            trials.setdefault(key, trial)
        if twice:
            differ = f', {other} of them with another outcome' if other else ''
            remarks.append(f'{folder}: {twice} trials are there twice{differ}; the first counts')
    valid = tuple(each for each in trials.values() if each.is_valid)
    invalid = tuple(each for each in trials.values() if not each.is_valid)
    searched = tuple(str(each) for each in folders if _is_searched(Path(each)))
    return CampaignData(tuple(map(str, folders)), scenes, valid, invalid, tuple(remarks), searched)


def _is_searched(folder: Path) -> bool:
    """Returns whether the scenes of a folder were chosen by the outcomes of others."""
    try:
        settings = load_json(read_text(folder / SETTINGS))
    except (OSError, ValueError):
        return False  # without settings it is read as any other
    found = settings.get('search') if isinstance(settings, Mapping) else None
    return isinstance(found, Mapping) and found.get('mode') != 'random'


def _add_scenes(folder: Path, known: dict[str, Scene], remarks: list[str]) -> dict[str, str]:
    """Adds the scenes of a folder; returns name in the folder -> name from now on."""
    names, renamed = dict[str, str](), 0
    for scene in read_scenes(folder / SCENES):
        name = scene.name
        if name in known and known[name] != scene:
            name, renamed = f'{folder.name}/{name}', renamed + 1
            if name in known and known[name] != attrs.evolve(scene, name=name):
                raise SetupError(f'{folder / SCENES}: there is another scene named {name!r}')
        names[scene.name] = name
        known[name] = attrs.evolve(scene, name=name)
    if renamed:
        remarks.append(
            f'{folder}: {renamed} scenes have the name of another one before, and are read as '
            f'{folder.name}/...'
        )
    return names


def _results(folder: Path, names: Mapping[str, str], remarks: list[str]) -> Iterator[TrialResult]:
    """Yields the results of a folder, with the names of scenes as they are from now on."""
    file = folder / RESULTS
    try:
        text = read_text(file)
    except OSError as error:
        raise SetupError(f'{file} cannot be read: {error.strerror}') from error
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            trial = TrialResult.from_line(line, f'{file}, line {number}')
        except SetupError:
            if number == len(lines) and not text.endswith('\n'):
                remarks.append(f'{file}: the last line is half written, and dropped')
                return
            raise
        for name in filter(None, (trial.scene, trial.base)):
            if name not in names:
                raise SetupError(
                    f'{file}, line {number}: there is no scene {name!r} in {folder / SCENES}'
                )
        base = names[trial.base] if trial.base else ''
        yield attrs.evolve(trial, scene=names[trial.scene], base=base)


def _is_same(first: TrialResult, second: TrialResult) -> bool:
    return _plain(first) == _plain(second)


def _plain(trial: TrialResult) -> str:
    clock: dict[str, Any] = dict.fromkeys(WALL_CLOCK, float('nan'))
    return attrs.evolve(trial, **clock).line()
