# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Failures by their kind, results by condition and by source of labels, rankings by every score."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome
from frame_ros.evaluation.outcomes.operation import Ending
from frame_ros.evaluation.policy_comparison.estimates import EpisodeSets, Estimate, estimate
from frame_ros.evaluation.policy_comparison.groups import Grouped
from frame_ros.evaluation.policy_comparison.options import ComparisonOptions
from frame_ros.evaluation.policy_comparison.resampled import (
    ResampledCell,
    ResampledCells,
    against_human,
    resampled,
)
from frame_ros.evaluation.policy_comparison.rows import mean_estimate
from frame_ros.evaluation.policy_comparison.scores import Score, macro_interval
from frame_ros.evaluation.policy_comparison.study import (
    CellRow,
    ConditionRow,
    FailureRow,
    LabelRow,
    Ranking,
)
from frame_ros.evaluation.survival.cell import cell_of
from frame_ros.evaluation.survival.macro_ks import stream
from frame_ros.evaluation.survival.pool import draw_episodes
from frame_ros.metrics import wilson_interval

# Kinds of failures: of operations, and of episodes that have one.
OF_OPERATIONS = (Ending.DROP, Ending.FAILURE)
OF_EPISODES = (Ending.SAFETY_STOP, Ending.TIMEOUT, Ending.STOPPED)
INTERVENTION = 'intervention'
SIDES, SAME, OPPOSITE = 'camera and tote', 'same side', 'opposite sides'
MOST_VALUES = 8
ALL = 'all'


def failure_row(
    policy: str, data: Grouped, options: ComparisonOptions, sets: EpisodeSets
) -> FailureRow:
    """Returns the failures of a policy by their kind. PhAIL, appendix F.

    Of operations: share with an interval over resampled episodes; of episodes: Wilson's.
    """
    groups = data.groups[policy].values()
    places = [place for group in groups for place in group.places]
    rows = [data.episodes[place] for place in places]
    number = sets.number(policy, places)
    timed = [each for each in rows if each.operations]
    shares = {
        kind.value: _operation_share(timed, kind, policy, options, number) for kind in OF_OPERATIONS
    }
    for kind in OF_EPISODES:
        having = sum(any(op.ending is kind for op in each.operations) for each in timed)
        shares[kind.value] = _episode_share(having, len(timed), options, number)
    taken_over = sum(each.interventions > 0 for each in rows)
    shares[INTERVENTION] = _episode_share(taken_over, len(rows), options, number)
    return FailureRow(policy, shares)


def _operation_share(
    rows: Sequence[EpisodeOutcome],
    kind: Ending,
    policy: str,
    options: ComparisonOptions,
    number: int,
) -> Estimate:
    if not rows:
        return Estimate(math.nan, reason='no episode has operations', episodes=number)
    counts = np.array([sum(op.ending is kind for op in each.operations) for each in rows])
    sizes = np.array([len(each.operations) for each in rows])
    value = float(counts.sum() / sizes.sum())
    if not counts.any():
        reason = 'no interval: none occurred, and resampling episodes gives none'
        return estimate(value, None, options.alpha, number, reason)
    random = stream(options.seed, policy, kind.value)
    draws = draw_episodes(random, len(rows), len(rows), options.resamples)
    found = counts[draws].sum(axis=1) / sizes[draws].sum(axis=1)
    return estimate(value, found, options.alpha, number)


def _episode_share(having: int, count: int, options: ComparisonOptions, number: int) -> Estimate:
    if not count:
        return Estimate(math.nan, reason='no episode has operations', episodes=number)
    lower, upper = wilson_interval(having, count, 1.0 - options.alpha)
    return Estimate(having / count, lower, upper, '', number)


def conditions_of(episodes: Iterable[EpisodeOutcome]) -> tuple[dict[str, list[str]], list[str]]:
    """Returns condition -> its values, of those that vary among the policies; and those that have
    too many values to be listed. Camera and tote on the same or on opposite sides are one more.
    """
    found: dict[str, set[str]] = {}
    for each in episodes:
        for name, value in with_sides(each).items():
            found.setdefault(name, set()).add(value)
    varying = {name: sorted(values) for name, values in sorted(found.items()) if len(values) > 1}
    listed = {name: values for name, values in varying.items() if len(values) <= MOST_VALUES}
    return listed, [name for name in varying if name not in listed]


def with_sides(episode: EpisodeOutcome) -> dict[str, str]:
    """Returns the conditions, also of camera and tote together. PhAIL, appendix G."""
    found = {name: value for name, value in episode.conditions.items() if value}
    if 'camera' in found and 'tote' in found and {found['camera'], found['tote']} <= SIDE_NAMES:
        found[SIDES] = SAME if found['camera'] == found['tote'] else OPPOSITE
    return found


SIDE_NAMES = {'left', 'right'}


def condition_rows(
    data: Grouped, options: ComparisonOptions, sets: EpisodeSets
) -> list[ConditionRow]:
    """Returns completion by tau, or success where there are no times, by policy and condition."""
    conditions, _ = conditions_of(each for each in data.episodes if not each.is_human)
    with_them = [with_sides(each) for each in data.episodes]
    found = []
    for name, values in conditions.items():
        for value in values:
            for policy in data.policies:
                chosen = {i for i, each in enumerate(with_them) if each.get(name) == value}
                result = _subset(policy, chosen, data, options, sets, f'{name} {value}')
                if result is not None:
                    score, estimated = result
                    found.append(ConditionRow(name, value, policy, score, estimated))
    return found


def _subset(
    policy: str,
    chosen: set[int],
    data: Grouped,
    options: ComparisonOptions,
    sets: EpisodeSets,
    name: str,
) -> tuple[str, Estimate] | None:
    """Returns completion or success of chosen episodes of a policy, mean over objects."""
    groups = data.groups[policy].values()
    places = [place for group in groups for place in group.places if place in chosen]
    if not places:
        return None
    number = sets.number(f'{policy}, {name}', places)
    cells = subset_cells(policy, chosen, data, options, name)
    if cells:
        columns = [each.columns['completion'] for each in cells.values()]
        return 'completion', mean_estimate(list(cells.values()), columns, options.alpha, number)
    own = [
        [bool(s) for place, s in zip(group.judged, group.successes) if place in chosen]
        for group in groups
    ]
    known = [each for each in own if each]
    if not known:
        return None
    ends = macro_interval([sum(each) for each in known], list(map(len, known)), 1.0 - options.alpha)
    mean = sum(sum(each) / len(each) for each in known) / len(known)
    return 'success_rate', Estimate(mean, *ends, episodes=number)


def subset_cells(
    policy: str, chosen: set[int], data: Grouped, options: ComparisonOptions, name: str
) -> dict[str, ResampledCell]:
    """Returns object -> the cell of chosen episodes with times."""
    found = {}
    for group in data.groups[policy].values():
        rows = [data.episodes[place] for place in group.timed if place in chosen]
        if rows:
            stream_name = f'{policy}\0{group.object}\0{name}'
            found[group.object] = resampled(cell_of(rows), stream_name, options)
    return found


def label_rows(
    data: Grouped, cells: ResampledCells, options: ComparisonOptions, sets: EpisodeSets
) -> list[LabelRow]:
    """Returns the headline score by source of labels, if there are several. PhAIL, appendix E.

    The human reference is that of all sources; so are episodes without labels (`has_labels`), which
    would otherwise be those without success.
    """
    labelled = [each for each in data.episodes if each.has_labels and not each.is_human]
    sources = sorted({each.label_source.value for each in labelled})
    if len(sources) < 2 or not any(cells[policy] for policy in data.policies):
        return []
    human, found = cells.get(data.human, {}), list[LabelRow]()
    for source in (ALL, *sources):
        chosen = {
            place
            for place, each in enumerate(data.episodes)
            if source in (ALL, each.label_source.value) or not each.has_labels
        }
        results = {
            policy: _by_label(policy, chosen, data, human, options, sets, source)
            for policy in data.policies
        }
        score = 'hrt' if human else 'rmst'
        order = _ordered(results, higher_is_better=bool(human))
        for policy, each in results.items():
            rank = order.index(policy) + 1 if policy in order else 0
            found.append(LabelRow(source, policy, score, each, rank))
    return found


def _by_label(
    policy: str,
    chosen: set[int],
    data: Grouped,
    human: dict[str, ResampledCell],
    options: ComparisonOptions,
    sets: EpisodeSets,
    source: str,
) -> Estimate:
    own = subset_cells(policy, chosen, data, options, source)
    places = [p for g in data.groups[policy].values() for p in g.timed if p in chosen]
    number = sets.number(f'{policy}, labels: {source}', places)
    used = {name: each for name, each in own.items() if not human or name in human}
    if not used:
        return Estimate(math.nan, reason='no episode with times', episodes=number)
    columns = [
        against_human(each, human[name], options)['hrt'] if human else each.columns['rmst']
        for name, each in used.items()
    ]
    return mean_estimate(list(used.values()), columns, options.alpha, number)


def rankings(means: Sequence[CellRow], scores: Sequence[Score], human: str) -> list[Ranking]:
    """Returns the policies by every score that has a value. PhAIL, section 5.3."""
    found = []
    for score in scores:
        results = {row.policy: row.scores[score.id] for row in means if row.policy != human}
        order = _ordered(results, score.higher_is_better)
        if order:
            found.append(Ranking(score.id, tuple(order)))
    return found


def _ordered(results: dict[str, Estimate], higher_is_better: bool) -> list[str]:
    sign = -1.0 if higher_is_better else 1.0
    known = {policy: each.value for policy, each in results.items() if math.isfinite(each.value)}
    return sorted(known, key=lambda policy: sign * known[policy])
