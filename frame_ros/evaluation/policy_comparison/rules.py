# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rules of a comparison that were applied, and to which episodes."""

from __future__ import annotations

import math
from collections.abc import Iterator

from frame_ros.core.plain_text import counted
from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome
from frame_ros.evaluation.policy_comparison.estimates import EpisodeSets
from frame_ros.evaluation.policy_comparison.groups import NO_NAME, Group, Grouped
from frame_ros.evaluation.policy_comparison.options import ComparisonOptions
from frame_ros.evaluation.policy_comparison.resampled import ResampledCells
from frame_ros.evaluation.policy_comparison.shares import conditions_of
from frame_ros.evaluation.policy_comparison.study import Rule

ALWAYS = (
    'A hard failure (drop, failure, safety stop) counts as done at infinity; a timeout or a stop '
    'is censored at its time; an episode without success and hard failure is one censored '
    'operation of its length.',
    'Intervals resample whole episodes, and tests of times permute them: operations of one episode '
    'are not independent.',
    'Means over objects have equal weights; two policies are compared on the objects that both '
    'have.',
)


def rules_of(
    data: Grouped, cells: ResampledCells, options: ComparisonOptions, sets: EpisodeSets
) -> list[Rule]:
    """Returns the rules, first those that always hold."""
    rules = [Rule(text, 'all episodes') for text in ALWAYS]
    return [
        *rules,
        *_of_human(data),
        *_of_objects(data, sets),
        *_of_cells(data, cells, options, sets),
        *_of_episodes(data, sets),
        *_of_conditions(data),
    ]


def _of_human(data: Grouped) -> Iterator[Rule]:
    if not data.human:
        yield Rule(
            'Without a human reference there is no HRT and no AUC; policies are ranked by RMST, or '
            'by success where there are no times.',
            'the whole comparison',
        )


def _of_objects(data: Grouped, sets: EpisodeSets) -> Iterator[Rule]:
    for policy in data.policies:
        missing = [name for name in data.objects if name not in data.groups[policy]]
        if missing:
            places = [p for group in data.groups[policy].values() for p in group.places]
            yield Rule(
                'A policy that lacks an object is averaged over those it has; its mean is not '
                'that of the others, the tests of pairs are.',
                f'{policy}: no episode of {", ".join(missing)}',
                sets.number(policy, places),
            )
    places = [
        place
        for groups in data.groups.values()
        for name, group in groups.items()
        if name.startswith(NO_NAME)
        for place in group.places
    ]
    if places:
        yield Rule(
            'Episodes that do not name their object are of one object.',
            counted(len(places), 'episode'),
            sets.number('episodes without object', places),
        )


def _of_cells(
    data: Grouped, cells: ResampledCells, options: ComparisonOptions, sets: EpisodeSets
) -> Iterator[Rule]:
    found: dict[str, list[Group]] = {}
    for policy, groups in data.groups.items():
        for name, group in groups.items():
            for text in _cell_rules(group, name in cells[policy], options):
                found.setdefault(text, []).append(group)
    for text, own in found.items():
        places = [place for group in own for place in group.places]
        where = '; '.join(f'{group.policy}, {group.object}' for group in own)
        yield Rule(text, where, sets.number(where, places))


def _cell_rules(group: Group, has_times: bool, options: ComparisonOptions) -> Iterator[str]:
    if len(group.places) == 1:
        yield (
            'A cell of one episode has values but no intervals, nor have means over it, and is in '
            'no test of times; its outcome counts in tests of successes.'
        )
    if not has_times or group.cell is None:
        return
    is_done = group.cell.events & (group.cell.times <= options.tau)
    if not is_done.any():
        yield (
            f'No operation was done by {options.tau:g} s: F is 0, RMST is the whole horizon, there '
            'is no median and no rate of the done.'
        )
    elif is_done.all():
        yield (
            f'Every operation was done by {options.tau:g} s: there is no failure, and MTBF/A is '
            'not defined.'
        )


def _of_episodes(data: Grouped, sets: EpisodeSets) -> Iterator[Rule]:
    kinds = (
        (
            'Episodes without times of operations count in tests of successes and stages only.',
            [i for i, each in enumerate(data.episodes) if not each.operations],
        ),
        (
            'Episodes whose success is not known count in scores and tests of times only.',
            [i for i, each in enumerate(data.episodes) if each.is_success is None],
        ),
        (
            'An episode with a remark counts; the remark says what makes it doubtful.',
            [i for i, each in enumerate(data.episodes) if each.notes],
        ),
        (
            'The duration of an episode is not known.',
            [i for i, each in enumerate(data.episodes) if _has_no_duration(each)],
        ),
    )
    for text, places in kinds:
        if places:
            yield Rule(text, counted(len(places), 'episode'), sets.number(text, places))


def _has_no_duration(episode: EpisodeOutcome) -> bool:
    return math.isnan(episode.duration) and bool(episode.operations)


def _of_conditions(data: Grouped) -> Iterator[Rule]:
    _, many = conditions_of(each for each in data.episodes if not each.is_human)
    if many:
        yield Rule('Conditions with more than 8 values are not listed.', ', '.join(many))
