# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Success and metrics against each factor: bins with intervals, and tests for a trend."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from frame_ros.evaluation.rollouts import bootstrapped_mean
from frame_ros.evaluation.scene_trials.robustness.scene_factors import Factor
from frame_ros.evaluation.scene_trials.robustness.scene_table import SUCCESS, SceneTable
from frame_ros.evaluation.statistics.ranks import average_ranks, spearman
from frame_ros.evaluation.statistics.several_tests import holm
from frame_ros.metrics import wilson_interval

Array = NDArray[np.float64]
NAN = float('nan')
BINS = 5
LEAST_SCENES = 20  # with both values, below which there is no test
LEAST_IN_BIN = 5
LEVEL = 0.05


@dataclass(frozen=True)
class FactorBin:
    """Scenes whose factor lies in one range, or has one value.

    Attributes:
        label: the range or the value.
        centre: mean of the factor; of a choice its place.
        scenes: number of them with a value of the outcome.
        value: mean of the outcome.
        lower, upper: its 95 % interval: Wilson's of success, by bootstrap of a metric. NaN of a
            metric with fewer than LEAST_IN_BIN scenes, or with the same value in all: resamples say
            nothing there of what other scenes would have.
    """

    label: str
    centre: float
    scenes: int
    value: float
    lower: float
    upper: float


@dataclass(frozen=True)
class FactorEffect:
    """One outcome against one factor.

    Attributes:
        factor, unit: of the factor; is_choice: whether it is no number.
        outcome: SUCCESS, or the id of a metric.
        bins: in order of the factor.
        scenes: number of them that have both values.
        rho: Spearman's correlation; NaN of choices.
        trend_p: its two-sided p-value.
        bins_p: of the test of Kruskal and Wallis that the bins do not differ.
        p: twice the smaller of the two, at most 1.
        p_holm: p of success adjusted for all factors, of a metric for all factors and metrics.
        span: mean of the highest bin minus that of the lowest, of bins with LEAST_IN_BIN scenes.
    """

    factor: str
    unit: str
    is_choice: bool
    outcome: str
    bins: tuple[FactorBin, ...]
    scenes: int
    rho: float
    trend_p: float
    bins_p: float
    p: float
    p_holm: float
    span: float

    @property
    def is_significant(self) -> bool:
        """Returns whether the adjusted p-value is below LEVEL."""
        return self.p_holm < LEVEL


def factor_effects(table: SceneTable, bins: int = BINS) -> list[FactorEffect]:
    """Returns every outcome against every factor, in the order of the table.

    A test needs LEAST_SCENES scenes. A factor of which only some scenes have a value, such as the
    similarity of confounders, is judged by these. Tests are those of the ranks, so that a metric
    with a heavy tail is no matter; p-values are adjusted by Holm's method, those of success for all
    factors, and those of the metrics for all factors and metrics.

    bins: of a factor that is a number with more values than that.
    """
    found = [
        _effect(factor, outcome, values, bins)
        for outcome, values in table.outcomes.items()
        for factor in table.factors.values()
    ]
    adjusted = np.full(len(found), NAN)
    for is_success in (True, False):
        own = np.flatnonzero([(each.outcome == SUCCESS) == is_success for each in found])
        adjusted[own] = holm([found[place].p for place in own])
    return [replace(each, p_holm=float(p)) for each, p in zip(found, adjusted, strict=True)]


def _effect(factor: Factor, outcome: str, values: Array, count: int) -> FactorEffect:
    is_known = np.isfinite(factor.values) & np.isfinite(values)
    x, y = factor.values[is_known], values[is_known]
    places, labels = binned(factor, x, count)
    bins = tuple(
        _bin(label, x[places == place], y[places == place], outcome == SUCCESS)
        for place, label in enumerate(labels)
        if (places == place).any()
    )
    rho = trend_p = bins_p = NAN
    if len(x) >= LEAST_SCENES and np.ptp(y) > 0:
        if not factor.choices:
            rho, trend_p = spearman(x, y)
        bins_p = kruskal_p(y, places)
    p_values = [p for p in (trend_p, bins_p) if np.isfinite(p)]
    p = min(1.0, len(p_values) * min(p_values)) if p_values else NAN
    means = [each.value for each in bins if each.scenes >= LEAST_IN_BIN]
    span = max(means) - min(means) if len(means) > 1 else NAN
    return FactorEffect(
        factor.name,
        factor.unit,
        bool(factor.choices),
        outcome,
        bins,
        len(x),
        rho,
        trend_p,
        bins_p,
        p,
        NAN,
        span,
    )


def binned(factor: Factor, x: Array, count: int = BINS) -> tuple[NDArray[np.intp], list[str]]:
    """Divides values of a factor into choices, its few values, or parts of equal number.

    Returns:
        The place (n,) of each, and the label of each place.
    """
    if factor.choices:
        return x.astype(np.intp), list(factor.choices)
    different = np.unique(x)
    if len(different) <= max(count, 6):
        return np.searchsorted(different, x), [f'{value:.3g}' for value in different]
    edges = np.unique(np.quantile(x, np.linspace(0, 1, count + 1)))
    places = np.clip(np.searchsorted(edges, x, side='right') - 1, 0, len(edges) - 2)
    labels = [f'{low:.3g} to {high:.3g}' for low, high in zip(edges[:-1], edges[1:])]
    return places, labels


def _bin(label: str, x: Array, y: Array, is_rate: bool) -> FactorBin:
    value, centre = float(y.mean()), float(x.mean())
    if is_rate:
        low, high = wilson_interval(float(y.sum()), len(y))
    elif len(y) < LEAST_IN_BIN or not np.ptp(y) > 0:
        low, high = NAN, NAN
    else:
        found = bootstrapped_mean(y)
        low, high = found.lower, found.upper
    return FactorBin(label, centre, len(y), value, low, high)


def kruskal_p(values: Array, groups: NDArray[np.intp]) -> float:
    """The p-value of Kruskal and Wallis (1952) that groups do not differ, with their correction
    for ties, by the chi-squared distribution. Groups of fewer than LEAST_IN_BIN count nowhere.

    Returns:
        NaN with fewer than two groups, or if all values are equal.
    """
    from scipy.special import chdtrc

    counts = np.bincount(groups)
    kept = counts[groups] >= LEAST_IN_BIN
    ranks, own = average_ranks(values[kept]) if kept.any() else np.zeros(0), groups[kept]
    n, names = len(ranks), np.unique(own)
    if len(names) < 2 or not np.ptp(ranks) > 0:
        return NAN
    between = sum(
        (own == name).sum() * (ranks[own == name].mean() - (n + 1) / 2) ** 2 for name in names
    )
    statistic = between / ranks.var(ddof=1)
    return float(chdtrc(len(names) - 1, statistic))
