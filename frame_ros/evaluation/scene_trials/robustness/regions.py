# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Regions in which a policy fails more often, named by one or two factors.

Every condition on one factor (a value, or one side of a quartile) and every two of two factors are
looked at, and the largest statistic of all is compared with what it is when outcomes are dealt to
the scenes at random: so a campaign in which nothing matters gives a region as seldom as the level
says, however many conditions there are (Westfall and Young 1993).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.plain_text import counted
from frame_ros.evaluation.scene_trials.robustness.scene_factors import Factor, says_the_same
from frame_ros.evaluation.scene_trials.robustness.scene_table import SceneTable

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
LEVEL = 0.05
PERMUTATIONS = 500
RESAMPLES = 500
LEAST_SHARE, LEAST_SCENES = 0.05, 10  # of a region, and of what it is compared with
SAME = 0.6  # scenes of two regions in common, by those of either, from which they are one
# Standard errors by which failures may differ between where one condition holds and neither.
ALONE = 2.0
# By less than this statistics differ by rounding only, as the sums are of single precision.
TIED = 1e-5
MOST_REGIONS = 6
MOST_ALSO = 3


@dataclass(frozen=True)
class Region:
    """One region of failure.

    Attributes:
        name: its conditions in words.
        factors: that they are on.
        scenes: support.
        failures: of these, scenes with repeats as shares.
        rate: failures / scenes.
        lift: rate over that of all scenes.
        lower, upper: interval of the lift, for all conditions that were looked at together.
        p: adjusted for all conditions that were looked at.
        also: other conditions that hold for much the same scenes.
        rivals: conditions of other scenes that stand out as much: the data do not say which of them
            it is.
    """

    name: str
    factors: tuple[str, ...]
    scenes: int
    failures: float
    rate: float
    lift: float
    lower: float
    upper: float
    p: float
    also: tuple[str, ...] = ()
    rivals: tuple[str, ...] = ()


@dataclass(frozen=True)
class Regions:
    """Regions of failure of one table.

    Attributes:
        found: in the order in which they were found.
        looked_at: number of conditions.
        scenes: number of them.
        rate: failures of all scenes.
        critical: statistic above which a region counts.
        reason: why nothing was looked at; ''.
    """

    found: tuple[Region, ...]
    looked_at: int
    scenes: int
    rate: float
    critical: float
    reason: str = ''


@dataclass(frozen=True)
class _Condition:
    name: str
    factor: str
    holds: Flags


def failure_regions(
    table: SceneTable, level: float = LEVEL, permutations: int = PERMUTATIONS, seed: int = 0
) -> Regions:
    """Looks for regions of failure.

    Of two conditions together the region must stand out from each of the two alone: failures are
    more where both hold than where only the one does, and than where only the other does. Once one
    is found, the next must stand out from what the ones before leave to be explained: outcomes are
    then dealt within the scenes that lie in the same regions so far.

    level: probability that any region is found where no factor matters.
    """
    failed = 1.0 - table.success
    n, rate = len(failed), float(failed.mean()) if len(failed) else float('nan')
    least = max(LEAST_SCENES, int(np.ceil(LEAST_SHARE * n)))
    conditions = [each for factor in table.factors.values() for each in _conditions(factor, least)]
    if reason := _lacking(failed, conditions):
        return Regions((), 0, n, rate, float('nan'), reason)
    rng = np.random.default_rng(seed)
    singles = np.stack([each.holds for each in conditions])
    pairs = _pairs(conditions, least)
    members = [(each,) for each in range(len(conditions))] + pairs
    masks = [np.logical_and.reduce(singles[list(each)]) for each in members]
    names = [_name([conditions[i] for i in each]) for each in members]
    strata, is_open = np.zeros(n, np.intp), np.ones(len(members), np.bool_)
    found: list[Region] = []
    first_critical = float('nan')
    while len(found) < MOST_REGIONS:
        dealt = _dealt(failed, strata, permutations, rng)
        statistics = _statistics(singles, pairs, dealt)
        statistics[~is_open] = -np.inf
        own, null = statistics[:, 0], np.sort(statistics[:, 1:].max(axis=0))
        place = int(np.argmax(own))
        above = permutations - int(np.searchsorted(null, own[place] - TIED, side='left'))
        p = (1 + above) / (permutations + 1)
        critical = float(null[min(int(np.ceil((1 - level) * (permutations + 1))), len(null)) - 1])
        first_critical = critical if not found else first_critical
        if p > level:
            break
        place = _joined(place, own, members, conditions, dealt[:, 0], critical)
        region = _region([conditions[i] for i in members[place]], failed, first_critical, p, rng)
        also, rivals = _also(place, own, masks, critical), _rivals(place, own, masks)
        found.append(
            replace(
                region,
                also=tuple(names[each] for each in also),
                rivals=tuple(names[each] for each in rivals),
            )
        )
        strata = np.unique(2 * strata + masks[place], return_inverse=True)[1]
        is_open &= ~_same(place, members, masks, conditions)
    return Regions(tuple(found), len(members), n, rate, first_critical)


def _lacking(failed: Array, conditions: Sequence[_Condition]) -> str:
    """Returns why there is nothing to look for; '': there is."""
    if len(failed) < 4 * LEAST_SCENES:
        return f'too few: {counted(len(failed), "scene")}; {4 * LEAST_SCENES} are needed'
    if not conditions:
        return 'no condition holds for enough scenes'
    return '' if np.ptp(failed) > 0 else 'all scenes have one outcome'


def _dealt(
    failed: Array, strata: NDArray[np.intp], permutations: int, rng: np.random.Generator
) -> Array:
    """(n, 1 + permutations) failures less their mean in each stratum, as they are and dealt
    again within the strata.
    """
    found = np.empty((len(failed), permutations + 1))
    for stratum in np.unique(strata):
        own = np.flatnonzero(strata == stratum)
        values = failed[own] - failed[own].mean()
        order = rng.random((len(own), permutations)).argsort(axis=0)
        found[own] = np.column_stack((values, values[order]))
    return found


def _same(
    place: int,
    members: Sequence[tuple[int, ...]],
    masks: Sequence[Flags],
    conditions: Sequence[_Condition],
) -> Flags:
    """Returns which conditions are a region with other borders: of its factors, and not apart."""
    named = {conditions[i].factor for i in members[place]}
    return np.array(
        [
            {conditions[i].factor for i in each} <= named and bool((mask & masks[place]).any())
            for each, mask in zip(members, masks, strict=True)
        ]
    )


def _joined(
    place: int,
    statistics: Array,
    members: Sequence[tuple[int, ...]],
    conditions: Sequence[_Condition],
    failed: Array,
    critical: float,
) -> int:
    """Returns a condition, or the two of which it is the shadow: of those that are significant the
    two that explain most, more than it does, on two factors that do nothing alone.
    """
    if len(members[place]) > 1:
        return place
    least = _explained(conditions[members[place][0]].holds, failed)
    able, explained = set[frozenset[str]](), dict[int, float]()
    for other, each in enumerate(members):
        if len(each) < 2 or not statistics[other] > critical:
            continue
        a, b = (conditions[i].holds for i in each)
        share = _explained(a & b, failed)
        if share > least:
            explained[other] = share
            cells = a & ~b, b & ~a
            alone = [_standing_out(each, ~(a | b), failed) for each in cells]
            is_known = min(int(each.sum()) for each in cells) >= 2 * LEAST_SCENES
            if is_known and max(alone) < ALONE:
                able.add(frozenset(conditions[i].factor for i in each))
    for other in sorted(explained, key=lambda each: -explained[each]):
        if frozenset(conditions[i].factor for i in members[other]) in able:
            return other
    return place


@dataclass(frozen=True)
class _Sums:
    """Number (C, 1), mean and variance (C, P) of the failures where conditions hold."""

    scenes: Array
    mean: Array
    spread: Array


def _sums(holds: Flags, failed: Array) -> _Sums:
    ones, y = holds.astype(np.float32), failed.astype(np.float32)
    count = ones.sum(axis=1)[:, None]
    mean = ones @ y / count
    spread = np.maximum(ones @ (y * y) / count - mean**2, 0.0) * count / np.maximum(count - 1, 1)
    return _Sums(count, mean, spread)


def _contrast(scenes: Array, mean: Array, whole: _Sums) -> Array:
    """(C, P) standardized difference of the mean in a part of so many (C, 1) scenes and of the
    whole; the variance is that of a sample without replacement.
    """
    error = np.sqrt(whole.spread * (1 / scenes - 1 / whole.scenes))
    found = np.where(error > 1e-6, (mean - whole.mean) / np.maximum(error, 1e-6), 0.0)
    return np.asarray(found, np.float64)


def _statistics(singles: Flags, pairs: Sequence[tuple[int, ...]], failed: Array) -> Array:
    """(singles + pairs, 1 + permutations) contrasts with all scenes; of a pair the smaller of the
    two, within the one condition, and the other.
    """
    every = _sums(np.ones((1, singles.shape[1]), np.bool_), failed)
    own = _sums(singles, failed)
    found = [_contrast(own.scenes, own.mean, every)]
    y = failed.astype(np.float32)
    for begin in range(0, len(pairs), 512):  # so that it stays small
        i, j = np.array(pairs[begin : begin + 512]).T
        both = (singles[i] & singles[j]).astype(np.float32)
        scenes = both.sum(axis=1)[:, None]
        mean = both @ y / scenes
        parts = [_Sums(own.scenes[k], own.mean[k], own.spread[k]) for k in (i, j)]
        contrasts = [_contrast(scenes, mean, each) for each in parts]
        found.append(np.minimum(contrasts[0], contrasts[1]))
    return np.concatenate(found)


def _explained(inside: Flags, failed: Array) -> float:
    """The share of the squares that the means inside and outside explain, up to a factor."""
    share = float(inside.mean())
    return share * (1 - share) * float(failed[inside].mean() - failed[~inside].mean()) ** 2


def _standing_out(inside: Flags, other: Flags, failed: Array) -> float:
    """The difference of means inside and in another place, over its standard error."""
    n, m = int(inside.sum()), int(other.sum())
    if min(n, m) < 2:
        return 0.0
    error = np.sqrt(failed[inside].var(ddof=1) / n + failed[other].var(ddof=1) / m)
    difference = float(failed[inside].mean() - failed[other].mean())
    return difference / float(error) if error > 0 else 0.0


def _also(place: int, statistics: Array, masks: Sequence[Flags], critical: float) -> list[int]:
    """Conditions that say much the same as a region, and are significant too."""
    found = []
    for other in np.argsort(-statistics).tolist():
        if other != place and statistics[other] > critical:
            common = (masks[place] & masks[other]).sum() / (masks[place] | masks[other]).sum()
            if common >= SAME:
                found.append(other)
    return found[:MOST_ALSO]


def _rivals(place: int, statistics: Array, masks: Sequence[Flags]) -> list[int]:
    """Conditions of other scenes that stand out as much as a region."""
    found = []
    for other in np.flatnonzero(statistics >= statistics[place] - TIED).tolist():
        common = (masks[place] & masks[other]).sum() / (masks[place] | masks[other]).sum()
        if other != place and common < SAME:
            found.append(other)
    return found[:MOST_ALSO]


def _conditions(factor: Factor, least: int) -> list[_Condition]:
    """Conditions on one factor that hold, and do not hold, for enough scenes."""
    x = factor.values
    unit = f' {factor.unit}' if factor.unit else ''
    found: list[_Condition] = []
    different = np.unique(x[np.isfinite(x)])
    if factor.choices:
        found = [
            _Condition(f'{factor.name} = {choice}', factor.name, x == place)
            for place, choice in enumerate(factor.choices)
        ]
    elif len(different) > 1:
        inner = np.unique(np.quantile(x[np.isfinite(x)], (0.25, 0.5, 0.75)))
        cuts = (different[:-1] + different[1:]) / 2 if len(different) <= 6 else inner
        for cut in cuts:
            found.append(_Condition(f'{factor.name} < {cut:.3g}{unit}', factor.name, x < cut))
            found.append(_Condition(f'{factor.name} > {cut:.3g}{unit}', factor.name, x > cut))
    return [each for each in found if least <= each.holds.sum() <= len(x) - least]


def _pairs(conditions: Sequence[_Condition], least: int) -> list[tuple[int, ...]]:
    """Places of two conditions on two factors, each of which says something within the other."""
    found: list[tuple[int, ...]] = []
    for i, j in combinations(range(len(conditions)), 2):
        a, b = conditions[i], conditions[j]
        both = int((a.holds & b.holds).sum())
        alone = min(int(a.holds.sum()), int(b.holds.sum())) - both
        is_other = a.factor != b.factor and not says_the_same(a.factor, b.factor)
        if is_other and both >= least and alone >= least:
            found.append((i, j))
    return found


def _region(
    parts: Sequence[_Condition],
    failed: Array,
    critical: float,
    p: float,
    rng: np.random.Generator,
) -> Region:
    holds = np.logical_and.reduce([each.holds for each in parts])
    scenes, failures = int(holds.sum()), float(failed[holds].sum())
    lift = failures / scenes / float(failed.mean())
    error = _log_lift_error(holds, failed, rng)
    with np.errstate(over='ignore'):
        lower, upper = (float(lift * np.exp(sign * critical * error)) for sign in (-1, 1))
    return Region(
        _name(parts), tuple(each.factor for each in parts), scenes, failures, failures / scenes,
        lift, lower, min(upper, scenes / failures * lift if failures else upper), p,
    )  # fmt: skip


def _name(parts: Sequence[_Condition]) -> str:
    return ' and '.join(each.name for each in parts)


def _log_lift_error(holds: Flags, failed: Array, rng: np.random.Generator) -> float:
    """The standard error of the logarithm of the lift, over resampled scenes."""
    picks = rng.integers(len(failed), size=(RESAMPLES, len(failed)))
    inside, y = holds[picks], failed[picks]
    rate = ((inside * y).sum(axis=1) + 0.5) / (inside.sum(axis=1) + 1.0)
    every = (y.sum(axis=1) + 0.5) / (len(failed) + 1.0)
    return float(np.std(np.log(rate / every), ddof=1))
