# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Agreement of metrics with human labels of quality (RQ2), and their discrimination of failures
from successes (RQ3). VLA-UQ, section V-G.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.core.plain_text import counted
from frame_ros.episodes.episode import Episode
from frame_ros.evaluation.discrimination.groups import Group, grouped, matched
from frame_ros.evaluation.discrimination.labels import (
    QUALITY,
    Agreement,
    Level,
    Rating,
    agreements,
)
from frame_ros.evaluation.discrimination.options import StudyOptions
from frame_ros.evaluation.statistics.ranks import (
    AUTO,
    EXACT,
    SMALL,
    exact_is_possible,
    mann_whitney,
    spearman,
)
from frame_ros.evaluation.statistics.several_tests import holm
from frame_ros.evaluation.survival.bootstrap import percentiles
from frame_ros.metrics import REGISTRY

Array = NDArray[np.float64]
NAN = float('nan')
LEVEL = 0.05
CATEGORIES = ('uncertainty', 'confidence', 'trajectory', 'safety')
# Classes of d = 2 |A12 - 0.5| by the bound that it is below (Romano et al. 2006).
MAGNITUDES = ((0.147, 'negligible'), (0.33, 'small'), (0.474, 'medium'), (math.inf, 'large'))
# Resamples of a bootstrap that are counted at once, times values.
_BLOCK = 2_000_000


@dataclass(frozen=True)
class TestedRow:
    """One test of a metric in a group of episodes.

    Attributes:
        group: place of the group in the study.
        lower, upper: 95 % percentile interval of the statistic, bootstrap over episodes; NaN: none.
        p: two-sided; exact for few episodes.
        p_holm: adjusted for all tests of its kind in the study.
        remark: why there is no statistic; '' where there is one.
    """

    metric: str
    group: int
    _: KW_ONLY
    lower: float = NAN
    upper: float = NAN
    p: float = NAN
    p_holm: float = NAN
    remark: str = ''

    @property
    def is_significant(self) -> bool:
        """True if p, not adjusted, is below 0.05, as in the paper."""
        return self.p < LEVEL

    def _is_good(self, excess: float) -> bool | None:
        """True if better values of the metric go with `excess` above 0, or worse ones below; None
        where neither is better, or the excess is 0 or NaN.
        """
        better = REGISTRY[self.metric].higher_is_better
        return None if better is None or not abs(excess) > 0.0 else (excess > 0.0) == better


@dataclass(frozen=True)
class CorrelationRow(TestedRow):
    """Spearman's correlation of a metric with the label (1 high, 3 low quality) in a group.

    Attributes:
        count: labelled successes that have a value.
        rho: NaN where it is not defined.
        strength: 'none', 'weak', 'moderate', 'strong', by the size of rho; '' without rho.
    """

    count: int
    rho: float = NAN
    strength: str = ''

    @property
    def is_as_expected(self) -> bool | None:
        """True if the metric gets worse with the label; None where neither is better, rho is 0, or
        there is none.
        """
        return self._is_good(-self.rho)


@dataclass(frozen=True)
class EffectRow(TestedRow):
    """The Vargha-Delaney effect size of a metric: successes of one quality against failures.

    Attributes:
        successes, failures: episodes that have a value.
        a12: probability that the metric is larger in a success; NaN where it is not defined.
        magnitude: 'negligible', 'small', 'medium', 'large', by d = 2 |A12 - 0.5|; '' without A12.
    """

    level: Level
    successes: int
    failures: int
    a12: float = NAN
    magnitude: str = ''

    @property
    def is_better(self) -> bool | None:
        """True if the successes have the better values; None where neither is better, A12 is 0.5,
        or there is none.
        """
        return self._is_good(self.a12 - 0.5)


@dataclass(frozen=True)
class Study:
    """Labels against metrics.

    Attributes:
        values: metric -> (episodes,) values of the episodes, NaN where there is none or it does
            not count.
    """

    options: StudyOptions
    groups: list[Group]
    values: dict[str, Array] = field(repr=False)
    correlations: list[CorrelationRow] = field(repr=False)
    effects: list[EffectRow] = field(repr=False)
    agreements: list[Agreement]
    remarks: list[str]

    @property
    def metrics(self) -> list[str]:
        """The metrics that were compared."""
        return list(self.values)


def discrimination_study(
    episodes: Sequence[Episode],
    ratings: Sequence[Rating],
    options: StudyOptions | None = None,
    copies: Sequence[Sequence[Episode]] = (),
) -> Study:
    """Compares each metric's value per episode with the labels, by task and policy.

    copies: of each episode its further recordings, by whose names labels may call it.

    Raises:
        ShapeError: no episodes.
        ValueRangeError: an unknown metric, labels of unknown or ambiguous episodes, or no metric
            has a value.
    """
    if not episodes:
        raise ShapeError('there are no episodes; at least one is expected')
    options = options or StudyOptions()
    by_place, remarks = matched(episodes, ratings, copies)
    groups = grouped(episodes, by_place)
    values = _values(episodes, options)
    remarks += [
        f'no episode has a value of {id} that counts' for id in options.metrics if id not in values
    ]
    places = range(len(groups))
    # Group by group: its metrics share the arrangements of its labels.
    by_cell = {
        (id, i): _correlation(id, values[id], i, groups[i], options)
        for i in places
        for id in values
    }
    rows = [by_cell[id, i] for id in values for i in places]
    correlations = [
        replace(row, p_holm=float(p)) for row, p in zip(rows, holm([row.p for row in rows]))
    ]
    cells = [
        _effect(id, values[id], i, groups[i], level, options)
        for id in values
        for i in places
        for level in QUALITY
    ]
    effects = [
        replace(cell, p_holm=float(p)) for cell, p in zip(cells, holm([cell.p for cell in cells]))
    ]
    found = agreements(
        [replace(each, episode=str(place)) for place, own in by_place.items() for each in own]
    )
    return Study(options, groups, values, correlations, effects, found, remarks)


def _values(episodes: Sequence[Episode], options: StudyOptions) -> dict[str, Array]:
    for id in options.metrics:
        if id not in REGISTRY:
            known = ', '.join(REGISTRY)
            raise ValueRangeError(f'there is no metric {id!r}; there are {known}')
    chosen = options.metrics or [
        id for id, each in REGISTRY.items() if each.messages and each.category in CATEGORIES
    ]
    is_static = np.array([episode.is_static for episode in episodes])
    found = {}
    for id in dict.fromkeys(chosen):
        values = np.array([NAN if (v := e.value(id)) is None else v for e in episodes])
        if not (REGISTRY[id].counts_when_static or options.with_static):
            values = np.where(is_static, NAN, values)
        if np.isfinite(values).any():
            found[id] = values
    if not found:
        raise ValueRangeError(
            f'none of the metrics has a value in any of {counted(len(episodes), "episode")}: '
            f'{", ".join(chosen)}'
        )
    return found


def _correlation(
    id: str, values: Array, place: int, group: Group, options: StudyOptions
) -> CorrelationRow:
    labels = np.repeat([float(q) for q in QUALITY], [len(group.levels[q]) for q in QUALITY])
    metric = values[group.labelled]
    is_known = np.isfinite(metric)
    metric, labels = metric[is_known], labels[is_known]
    row = CorrelationRow(id, place, len(metric))
    if len(metric) < max(options.least, 3):
        needed = max(options.least, 3)
        return replace(row, remark=f'{len(metric)} labelled successes; {needed} are needed')
    if np.ptp(labels) == 0:
        return replace(row, remark=f'all {len(metric)} have the same label')
    if np.ptp(metric) == 0:
        return replace(row, remark=f'all {len(metric)} have the same value')
    rho, p = spearman(metric, labels, AUTO)
    lower, upper = _interval(_resampled_rho(metric, labels, options))
    return replace(row, rho=rho, lower=lower, upper=upper, p=p, strength=strength_of(rho))


def _effect(
    id: str, values: Array, place: int, group: Group, level: Level, options: StudyOptions
) -> EffectRow:
    good, bad = values[group.levels[level]], values[group.failures]
    good, bad = good[np.isfinite(good)], bad[np.isfinite(bad)]
    row = EffectRow(id, place, level, len(good), len(bad))
    if min(len(good), len(bad)) < options.least:
        return replace(
            row,
            remark=f'{counted(len(good), "success")} of this quality and '
            f'{counted(len(bad), "failure")}; {options.least} of each are needed',
        )
    sizes = len(good), len(bad)
    is_small = min(sizes) <= SMALL and exact_is_possible(*sizes)
    u, p = mann_whitney(good, bad, EXACT if is_small else AUTO)
    a12 = u / math.prod(sizes)
    lower, upper = _interval(_resampled_a12(good, bad, options))
    magnitude = magnitude_of(a12)
    return replace(row, a12=a12, lower=lower, upper=upper, p=p, magnitude=magnitude)


def _resampled_a12(good: Array, bad: Array, options: StudyOptions) -> Array:
    """A12 of each resample: the share of pairs won, a pair as often as its episodes are drawn."""
    larger, smaller = good[:, None] > bad, good[:, None] < bad
    wins = 0.5 + 0.5 * (larger.astype(np.float64) - smaller)
    sizes = [len(good), len(bad)]
    return np.concatenate(
        [
            ((counts[:, : len(good)] @ wins) * counts[:, len(good) :]).sum(axis=1)
            for counts in _resamples(sizes, options)
        ]
    ) / math.prod(sizes)


def _resampled_rho(metric: Array, labels: Array, options: StudyOptions) -> Array:
    """Spearman's rho of each resample; NaN where all values of either are equal."""
    found = []
    for counts in _resamples([len(metric)], options):
        first, second = (
            _ranks_of_counted(each, counts) - (len(metric) + 1) / 2 for each in (metric, labels)
        )
        scale = np.sqrt((counts * first**2).sum(axis=1) * (counts * second**2).sum(axis=1))
        with np.errstate(invalid='ignore', divide='ignore'):
            rho = np.where(scale > 0.0, (counts * first * second).sum(axis=1) / scale, NAN)
        found.append(np.clip(rho, -1.0, 1.0))
    return np.concatenate(found)


def _ranks_of_counted(values: Array, counts: Array) -> Array:
    """Returns the ranks (resamples, N) of values of which each occurs `counts` times; equal ones
    share the mean.
    """
    order = np.argsort(values, kind='stable')
    begins = np.flatnonzero(np.diff(values[order], prepend=-math.inf))
    per_value = np.add.reduceat(counts[:, order], begins, axis=1)
    ranks = np.cumsum(per_value, axis=1) - (per_value - 1.0) / 2.0
    place = np.empty(len(values), np.int64)
    place[order] = np.repeat(np.arange(len(begins)), np.diff(begins, append=len(values)))
    return ranks[:, place]


def _resamples(sizes: Sequence[int], options: StudyOptions) -> Iterator[Array]:
    """Yields the number of times that each episode is drawn, with replacement within each of the
    parts, in blocks (resamples, total).
    """
    rng = np.random.default_rng(options.seed)
    rows = max(1, min(options.resamples, _BLOCK // sum(sizes)))
    for begin in range(0, options.resamples, rows):
        count = min(rows, options.resamples - begin)
        yield np.concatenate([_draw_counts(rng, count, size) for size in sizes], axis=1)


def _draw_counts(rng: np.random.Generator, rows: int, size: int) -> Array:
    picks = rng.integers(size, size=(rows, size)) + size * np.arange(rows)[:, None]
    return np.bincount(picks.ravel(), minlength=rows * size).reshape(rows, size).astype(np.float64)


def _interval(resampled: Array) -> tuple[float, float]:
    """The percentile interval, by the rules of `percentiles`: none where more than 5 % of the
    resamples have no value, or all have the same.
    """
    return percentiles(resampled, 2)


def strength_of(rho: float) -> str:
    """Returns the class of a correlation by its size (Cohen 1988, as VLA-UQ, section V-G)."""
    size = abs(rho)
    if size < 0.10:
        return 'none'
    return 'weak' if size <= 0.29 else 'moderate' if size <= 0.49 else 'strong'


def magnitude_of(a12: float) -> str:
    """Returns the class of an effect by d = 2 |A12 - 0.5|."""
    distance = 2.0 * abs(a12 - 0.5)
    return next(name for bound, name in MAGNITUDES if distance < bound)
