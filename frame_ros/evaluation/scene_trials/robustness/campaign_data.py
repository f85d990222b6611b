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
from frame_ros.core.plain_text import counted
from frame_ros.evaluation.scene_trials.folder import (
    RESULTS,
    SCENES,
    SETTINGS,
    CampaignContent,
    read_campaign,
)
from frame_ros.evaluation.scene_trials.result import WALL_CLOCK, TrialResult
from frame_ros.scenes.description.scene import Scene
from frame_ros.scenes.tasks.instructions import INSTRUCTION

OF_POLICY = ('policy', 'policy_options', 'run')  # settings by which one name is one policy
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
        trials: that count, by scene (in the order of the files), policy and repeat.
        invalid: that do not count.
        remarks: what was dropped or renamed, in words.
        searched: folders whose scenes a search has chosen by their outcomes.
        broken: folders of `breaking`, whose scenes follow the outcomes of those before them.
        chosen: names of the scenes of both.
    """

    folders: tuple[str, ...]
    scenes: Mapping[str, Scene]
    trials: tuple[TrialResult, ...]
    invalid: tuple[TrialResult, ...] = ()
    remarks: tuple[str, ...] = ()
    searched: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    chosen: frozenset[str] = frozenset()

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
    folders that have one name but differ get the folder's name in front. A policy that ran with
    other settings in another folder (policy, policy_options or run of campaign.json) gets the
    folder's name behind its own. Of a trial that is there twice the first one that counts is
    taken. The base of a trial may be a scene of another folder. The order of the trials does not
    depend on that in which they finished.

    Raises:
        SetupError: a file cannot be read, a line is no result, or its scene is not in the file of
            scenes.
    """
    if not folders:
        raise SetupError('no folder of a campaign is given')
    places = [Path(each) for each in folders]
    contents = [read_campaign(each) for each in places]
    scenes: dict[str, Scene] = {}
    remarks = [message for each in contents for message in each.messages]
    names = [_add_scenes(*each, scenes, remarks) for each in zip(places, contents)]
    results = [list(_results(*each)) for each in zip(places, contents, names)]
    settings = [each.settings for each in contents]
    results = _policies_apart(places, settings, results, remarks)
    trials: dict[tuple[object, ...], TrialResult] = {}
    for folder, own, found in zip(places, names, results):
        based = _with_bases(folder, own, found, names, scenes, remarks)
        _add_trials(folder, based, trials, remarks)
    place = {name: index for index, name in enumerate(scenes)}
    ordered = sorted(
        trials.values(),
        key=lambda t: (place[t.scene], t.policy, t.repeat, t.mutation, t.instruction, t.base,
                       t.policy_seed),
    )  # fmt: skip
    searched, broken = list(map(_is_searched, settings)), list(map(_is_broken, settings))
    chosen = {
        name
        for each, *is_so in zip(names, searched, broken)
        if any(is_so)
        for name in each.values()
    }
    return CampaignData(
        tuple(map(str, folders)), scenes, tuple(each for each in ordered if each.is_valid),
        tuple(each for each in ordered if not each.is_valid), tuple(remarks),
        tuple(str(each) for each, is_so in zip(places, searched) if is_so),
        tuple(str(each) for each, is_so in zip(places, broken) if is_so),
        frozenset(chosen),
    )  # fmt: skip


def _add_trials(
    folder: Path,
    found: Sequence[TrialResult],
    trials: dict[tuple[object, ...], TrialResult],
    remarks: list[str],
) -> None:
    """Adds the trials of a folder; of two of one key the first that counts."""
    twice = other = 0
    for trial in found:
        key = (*trial.key, trial.mutation, trial.base, trial.policy_seed)
        known = trials.setdefault(key, trial)
        if known is trial:
            continue
        twice, other = twice + 1, other + (not _is_same(trial, known))
        if trial.is_valid and not known.is_valid:
            trials[key] = trial
    if twice:
        differ = f', {other} of them with another outcome' if other else ''
        remarks.append(
            f'{folder}: {counted(twice, "trial")} {_are(twice)} there twice{differ}; the first '
            'that is valid counts'
        )


def _are(count: int) -> str:
    return 'is' if count == 1 else 'are'


def _policies_apart(
    folders: Sequence[Path],
    every: Sequence[Mapping[str, Any]],
    results: Sequence[list[TrialResult]],
    remarks: list[str],
) -> list[list[TrialResult]]:
    """Returns the results, those of one policy with other settings under a name of their own."""
    settings = [{n: own[n] for n in OF_POLICY if n in own} for own in every]
    groups: dict[str, list[int]] = {}  # policy -> the first folder of each of its settings
    of_folder: list[dict[str, int]] = []
    for number, trials in enumerate(results):
        firsts = {}
        for policy in dict.fromkeys(each.policy for each in trials):
            known = groups.setdefault(policy, [])
            same = (each for each in known if settings[each] == settings[number])
            firsts[policy] = next(same, number)
            if firsts[policy] == number:
                known.append(number)
        of_folder.append(firsts)
    renamed: dict[tuple[str, int], str] = {}
    for policy, firsts_of in groups.items():
        short = [folders[each].name for each in firsts_of]
        shown = short if len(set(short)) == len(short) else [str(folders[n]) for n in firsts_of]
        if len(firsts_of) > 1:
            renamed.update({(policy, n): f'{policy} ({own})' for n, own in zip(firsts_of, shown)})
            differ = next(
                name
                for name in OF_POLICY
                if any(settings[n].get(name) != settings[firsts_of[0]].get(name) for n in firsts_of)
            )
            remarks.append(
                f'{policy} has other settings in {", ".join(shown)} (they differ in {differ} of '
                f'{SETTINGS}), and is read as {len(shown)} policies; --label of the runs names them'
            )
    return [
        [attrs.evolve(t, policy=renamed.get((t.policy, firsts[t.policy]), t.policy)) for t in own]
        for own, firsts in zip(results, of_folder)
    ]


def _with_bases(
    folder: Path,
    own: Mapping[str, str],
    trials: Sequence[TrialResult],
    names: Sequence[Mapping[str, str]],
    scenes: Mapping[str, Scene],
    remarks: list[str],
) -> list[TrialResult]:
    """Returns trials with the name of their base as it is from now on: a scene of their folder, or
    else of another one; that with the same objects where several there have the name, or where only
    words were changed.
    """
    found, lost = [], dict[str, None]()
    for trial in trials:
        base = own.get(trial.base, '')
        if trial.base and not base:
            others = {each[trial.base] for each in names if trial.base in each}
            is_of_words = not trial.mutation or trial.mutation.startswith(INSTRUCTION)
            if len(others) > 1 or is_of_words:
                objects = scenes[trial.scene].objects
                others = {each for each in others if scenes[each].objects == objects}
            if len(others) == 1:
                (base,) = others
            else:
                base = f'{folder.name}/{trial.base}'
                lost[trial.base] = None
        found.append(attrs.evolve(trial, base=base))
    if lost:
        first = next(iter(lost))
        remarks.append(
            f'{folder}: {counted(len(lost), "scene")} that {"was" if len(lost) == 1 else "were"} '
            f'changed, such as {first!r}, {_are(len(lost))} in no folder or cannot be '
            'distinguished; their changed trials are compared with nothing'
        )
    return found


def _is_searched(settings: Mapping[str, Any]) -> bool:
    """Returns whether the scenes of a folder were chosen by the outcomes of others."""
    found = settings.get('search')
    return isinstance(found, Mapping) and found.get('mode') != 'random'


def _is_broken(settings: Mapping[str, Any]) -> bool:
    """Returns whether the scenes of a folder are on the way to changes that break the policy."""
    return isinstance(settings.get('breaking'), Mapping)


def _add_scenes(
    folder: Path, content: CampaignContent, known: dict[str, Scene], remarks: list[str]
) -> dict[str, str]:
    """Adds the scenes of a folder; returns name in the folder -> name from now on."""
    names, renamed = dict[str, str](), 0
    for scene in content.scenes:
        name = scene.name
        if name in known and known[name] != scene:
            name, renamed = f'{folder.name}/{name}', renamed + 1
            if name in known and known[name] != attrs.evolve(scene, name=name):
                raise SetupError(f'{folder / SCENES}: there is another scene named {name!r}')
        names[scene.name] = name
        known[name] = attrs.evolve(scene, name=name)
    if renamed:
        remarks.append(
            f'{folder}: {counted(renamed, "scene")} {"has" if renamed == 1 else "have"} the name '
            f'of another one before, and {_are(renamed)} read as '
            f'{folder.name}/...'
        )
    return names


def _results(
    folder: Path, content: CampaignContent, names: Mapping[str, str]
) -> Iterator[TrialResult]:
    """Yields the results of a folder, with the names of their scenes as from now on."""
    for trial in content.results:
        if trial.scene not in names:
            raise SetupError(
                f'{folder / RESULTS}: there is no scene {trial.scene!r} in {folder / SCENES}'
            )
        yield attrs.evolve(trial, scene=names[trial.scene])


def _is_same(first: TrialResult, second: TrialResult) -> bool:
    return _plain(first) == _plain(second)


def _plain(trial: TrialResult) -> str:
    clock: dict[str, Any] = dict.fromkeys(WALL_CLOCK, float('nan'))
    return attrs.evolve(trial, **clock).line()
