# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of the times to success of two policies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from frame_ros.evaluation.policy_comparison.estimates import (
    EpisodeSets,
    Estimate,
    estimate,
)
from frame_ros.evaluation.policy_comparison.groups import Grouped
from frame_ros.evaluation.policy_comparison.options import ComparisonOptions
from frame_ros.evaluation.policy_comparison.resampled import (
    ResampledCell,
    ResampledCells,
    faster,
)
from frame_ros.evaluation.policy_comparison.study import (
    ObjectTest,
    Relation,
    TimesTest,
)
from frame_ros.evaluation.survival.logrank import POOLED, STRATIFIED, logrank
from frame_ros.evaluation.survival.macro_ks import MacroKs, macro_ks

Array = NDArray[np.float64]
# Episodes of a cell that a test of times needs.
LEAST_EPISODES = 2
# CDFs closer than this are the same.
CLOSE = 1e-9
FASTER = 'faster'


def times_test(
    first: str,
    second: str,
    data: Grouped,
    cells: ResampledCells,
    options: ComparisonOptions,
    sets: EpisodeSets,
) -> TimesTest | None:
    """Returns the test of times over the objects of which both have two episodes or more; None
    without any. PhAIL, section 3.3, with permutations of the episodes in place of resamples: these
    find differences too often, the more so the fewer episodes and the more objects there are (13 %
    at level 0.05 with 50 episodes of one operation on each of 40 objects), permutations never do.
    """
    names = [
        name
        for name, own in cells[first].items()
        if name in cells[second]
        and min(own.episodes, cells[second][name].episodes) >= LEAST_EPISODES
    ]
    if not names:
        return None
    a, b = ({name: cells[policy][name] for name in names} for policy in (first, second))
    plain_a = {name: each.cell for name, each in a.items()}
    plain_b = {name: each.cell for name, each in b.items()}
    ks = macro_ks(
        plain_a, plain_b, options.tau, options.resamples, options.seed, has_replacement=False
    )
    number = _set(first, second, data, names, sets)
    differences, rmst = _differences(list(zip(a.values(), b.values())), options, number)
    relation, crossing, is_above, is_below = _relation(a, b, options)
    return TimesTest(
        _object_tests(ks, first, second, data, sets),
        ks.distance,
        ks.p,
        logrank(plain_a, plain_b, STRATIFIED).p,
        logrank(plain_a, plain_b, POOLED).p,
        rmst,
        differences,
        relation,
        crossing,
        is_above,
        is_below,
    )


def _set(first: str, second: str, data: Grouped, names: Sequence[str], sets: EpisodeSets) -> int:
    groups = (data.groups[policy][name] for policy in (first, second) for name in names)
    places = [place for group in groups for place in group.timed]
    about = names[0] if len(names) == 1 else 'objects of both'
    return sets.number(f'{first} and {second}, {about}', places)


def _object_tests(
    ks: MacroKs, first: str, second: str, data: Grouped, sets: EpisodeSets
) -> tuple[ObjectTest, ...]:
    return tuple(
        ObjectTest(
            name,
            own.supremum.distance,
            own.supremum.time,
            own.supremum.sign,
            own.p,
            _set(first, second, data, [name], sets),
        )
        for name, own in ks.per_object.items()
    )


def _differences(
    pairs: Sequence[tuple[ResampledCell, ResampledCell]], options: ComparisonOptions, number: int
) -> tuple[dict[str, Estimate], Estimate]:
    """Returns score -> advantage of the first, positive: better, and the difference of RMST."""
    signs = {'rmst': -1.0, 'completion': 1.0}
    signs |= {f'success_at_{t:g}': 1.0 for t in sorted(set(options.success_times))}
    found: dict[str, Estimate] = {}
    for id, sign in signs.items():
        column = np.mean([sign * (a.columns[id] - b.columns[id]) for a, b in pairs], axis=0)
        found[id] = estimate(float(column[0]), column[1:], options.alpha, number)
    ahead = np.mean([faster(a, b, options) for a, b in pairs], axis=0) - 0.5
    found[FASTER] = estimate(float(ahead[0]), ahead[1:], options.alpha, number)
    gain = found['rmst']
    return found, replace(gain, value=-gain.value, lower=-gain.upper, upper=-gain.lower)


def _relation(
    a: Mapping[str, ResampledCell], b: Mapping[str, ResampledCell], options: ComparisonOptions
) -> tuple[Relation, float, bool, bool]:
    """Returns the relation of the CDFs, mean over objects, the time at which they cross first, and
    whether the difference is clearly above, or below, 0 at some time.
    """
    difference = np.mean([a[name].curves - b[name].curves for name in a], axis=0)
    observed = difference[0]
    tail = options.alpha / 2.0
    lower, upper = np.quantile(difference[1:], (tail, 1.0 - tail), axis=0)
    above, below = observed > CLOSE, observed < -CLOSE
    if above.any() and below.any():
        relation = Relation.CROSSING
    elif above.any():
        relation = Relation.FIRST_ABOVE
    else:
        relation = Relation.SECOND_ABOVE if below.any() else Relation.EQUAL
    crossing = math.nan
    if relation is Relation.CROSSING:
        places = np.flatnonzero(above | below)
        change = np.flatnonzero(above[places][1:] != above[places][:-1])[0]
        crossing = float(next(iter(a.values())).times[places[change + 1]])
    return relation, crossing, bool((lower > 0.0).any()), bool((upper < 0.0).any())
