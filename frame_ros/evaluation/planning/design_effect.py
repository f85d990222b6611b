# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Design effect: by how much operations of one episode count less than independent ones. PhAIL,
appendix H, step 3.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError
from frame_ros.core.meanings import MeaningEnum
from frame_ros.evaluation.planning.bridge import BridgeModel
from frame_ros.evaluation.survival.samples import TAU, as_cell, checked_tau

Array = NDArray[np.float64]
# Times at which the correlation is taken: quantiles of the operations' times.
QUANTILES = np.linspace(0.1, 0.9, 9)
# Design effects that are tried, and the power that is looked up for each.
TRIED = np.geomspace(0.2, 50.0, 300)
GRID = np.geomspace(0.1, 2000.0, 40)


class EffectSource(MeaningEnum):
    """Sources of a design effect."""

    FITTED = 'fitted', 'fitted to the detection rates of subsamples'
    CORRELATION = 'correlation', 'by the correlation of the indicators T <= t within episodes'


class DesignEffect(NamedTuple):
    """A design effect.

    Attributes:
        value: 1: operations are as good as independent; their number per episode: an episode is as
            good as one of them.
        source: of the value.
        correlation: of the indicators within episodes; NaN if the value was fitted.
        error: of a fit: root mean square difference of rates from the model's; else NaN.
    """

    value: float
    source: EffectSource
    correlation: float
    error: float


def correlation_effect(cells: Iterable[Any], tau: float = TAU) -> DesignEffect:
    """Returns 1 + (m - 1) r, at least 1. Kish 1965; PhAIL, appendix H, step 3.

    m: operations per episode, weighted by size (the sum of squares over the sum); r: intra-episode
    correlation of the indicators T <= t, by analysis of variance, pooled over nine quantiles t of
    each cell's times up to tau. An operation that was censored before t is left out at t.

    Args:
        cells: Cell each, of one policy and object.

    Raises:
        ShapeError: no cells.
        ValueRangeError: as `kaplan_meier`, or tau is not positive and finite.
    """
    tau, checked = checked_tau(tau), [as_cell(cell) for cell in cells]
    if not checked:
        raise ShapeError('no cells; at least one is expected')
    parts = np.sum([_variances(cell, tau) for cell in checked], axis=0)
    # Without any variance nothing shows a correlation.
    correlation = float(parts[0] / parts[1]) if parts[1] > 0.0 else 0.0
    sizes = np.concatenate([np.bincount(cell.episodes) for cell in checked])
    weighted = float((sizes**2).sum() / sizes.sum())
    value = max(1.0, 1.0 + (weighted - 1.0) * correlation)
    return DesignEffect(value, EffectSource.CORRELATION, correlation, math.nan)


def _variances(cell: Any, tau: float) -> Array:
    """Variance between episodes, and that of all, added over times."""
    known = cell.times[cell.events & (cell.times <= tau)]
    found = np.zeros(2)
    for time in np.unique(np.quantile(known, QUANTILES)) if len(known) else ():
        is_known = cell.events | (cell.times > time)
        values = (cell.times[is_known] <= time).astype(np.float64)
        found += _components(values, cell.episodes[is_known])
    return found


def _components(values: Array, episodes: NDArray[np.intp]) -> Array:
    """The variance between groups and the sum with that within, by analysis of variance."""
    groups = np.unique(episodes, return_inverse=True)[1]
    sizes = np.bincount(groups)
    count, number = len(values), len(sizes)
    if number < 2 or count <= number:
        return np.zeros(2)
    means = np.bincount(groups, values) / sizes
    between = float((sizes * (means - values.mean()) ** 2).sum()) / (number - 1)
    within = float(((values - means[groups]) ** 2).sum()) / (count - number)
    size = (count - float((sizes**2).sum()) / count) / (number - 1)
    part = (between - within) / size
    return np.array([part, part + within])


def fitted_effect(
    models: Sequence[BridgeModel], episodes: Sequence[Sequence[int]], rates: Sequence[Any]
) -> DesignEffect:
    """Returns the design effect with which bridges give the detection rates best, by least squares
    over all pairs. PhAIL, appendix H, step 3.

    Args:
        models: one for each pair of policies.
        episodes: (N,) per object and policy, of each pair.
        rates: (N,) detection rates, of each pair.

    Raises:
        ShapeError: no rates, or different numbers of them.
    """
    shapes = [(np.shape(numbers), np.shape(row)) for numbers, row in zip(episodes, rates)]
    if not models or len(shapes) != len(models) or any(n != r or n == (0,) for n, r in shapes):
        raise ShapeError(
            f'{len(models)} models, numbers and rates of shapes {shapes}; for each model (N,) '
            'numbers and as many rates are expected, at least one'
        )
    errors, count = np.zeros(len(TRIED)), 0
    for model, numbers, row in zip(models, episodes, rates):
        powers = [model.power(each) for each in GRID]
        effective = np.asarray(numbers, dtype=np.float64)[:, None] / TRIED
        expected = np.interp(np.log(effective), np.log(GRID), powers)
        errors += ((expected - np.asarray(row, np.float64)[:, None]) ** 2).sum(axis=0)
        count += len(numbers)
    best = int(np.argmin(errors))
    error = math.sqrt(errors[best] / count)
    return DesignEffect(float(TRIED[best]), EffectSource.FITTED, math.nan, error)
