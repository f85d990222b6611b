# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Sobol indices: each factor's share of the variance of an outcome.

First order: what fixing the factor would take from the variance on average. Total: what is left
when all others are fixed, interactions included. From a design of two samples and their mixtures
both follow; from any random campaign the first order does, roughly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError
from frame_ros.evaluation.scene_trials.robustness.factors import BINS, binned
from frame_ros.evaluation.scene_trials.robustness.scene_factors import Factor
from frame_ros.evaluation.scene_trials.robustness.scene_table import SceneTable

Array = NDArray[np.float64]
NAN = float('nan')
RESAMPLES = 200
LEAST_ROWS = 16
LEAST_SCENES = 50  # of an estimate from a random campaign


@dataclass(frozen=True)
class SobolIndex:
    """The share of one factor in the variance of one outcome.

    Attributes:
        first, total: the indices; NaN: not to be had, with fewer than LEAST_ROWS rows or where
            all results of a and b are the same. Estimates may lie slightly below 0.
        first_interval, total_interval: 95 %, by bootstrap; NaN: all resamples have one estimate.
        rows: of the design, or scenes, from which they are.
        left_out: rows of the design that lack a result.
    """

    factor: str
    first: float
    first_interval: tuple[float, float]
    total: float
    total_interval: tuple[float, float]
    rows: int
    left_out: int = 0


def sobol_indices(
    a: Array, b: Array, mixed: Mapping[str, Array], resamples: int = RESAMPLES, seed: int = 0
) -> list[SobolIndex]:
    """Estimates first-order and total indices.

    Saltelli et al. 2010, table 2: b (ab - a) / V and (a - ab)^2 / 2 V, averaged over rows; V is
    the variance of the a and b that are known. A row of a factor counts if all three of its results
    are known: so results that are missing, of scenes that could not be made or trials that do not
    count, are left out and counted, and the indices are those of the scenes that could be run. That
    is fair where what is missing does not depend on the outcome.

    Args:
        a, b: (N,) results of the two samples; NaN: none.
        mixed: factor -> (N,) results of a with this factor from b.
        resamples: of the rows, for the intervals.

    Raises:
        ShapeError: other shapes.
    """
    for name, ab in {'b': b, **mixed}.items():
        if np.ndim(ab) != 1 or np.shape(ab) != np.shape(a):
            raise ShapeError(f'{name} has shape {np.shape(ab)} and a {np.shape(a)}; (N,) expected')
    rng, found = np.random.default_rng(seed), []
    for name, ab in mixed.items():
        known = np.isfinite(a) & np.isfinite(b) & np.isfinite(ab)
        rows, lacking = int(known.sum()), int((~known).sum())
        whole = np.concatenate((a[np.isfinite(a)], b[np.isfinite(b)]))
        if rows < LEAST_ROWS or not np.ptp(whole) > 0:
            found.append(SobolIndex(name, NAN, (NAN, NAN), NAN, (NAN, NAN), rows, lacking))
            continue
        own = np.stack((a[known], b[known], ab[known])) - whole.mean()
        first, total = _estimates(own[:, None], np.array([whole.var()]))
        picked = own[:, rng.integers(rows, size=(resamples, rows))]
        variances = np.concatenate((picked[0], picked[1]), axis=1).var(axis=1)
        ends = [_interval(each) for each in _estimates(picked, variances)]
        found.append(
            SobolIndex(name, float(first[0]), ends[0], float(total[0]), ends[1], rows, lacking)
        )
    return found


def _interval(estimates: Array) -> tuple[float, float]:
    known = estimates[np.isfinite(estimates)]  # others are of resamples in which nothing varies
    if not len(known) or not np.ptp(known) > 0:  # no row says how far the estimate may be off
        return NAN, NAN
    low, high = np.percentile(known, (2.5, 97.5)).tolist()
    return low, high


def _estimates(results: Array, variances: Array) -> tuple[Array, Array]:
    """Both indices (R,) of a, b, ab (3, R, N)."""
    a, b, ab = results
    with np.errstate(invalid='ignore', divide='ignore'):
        first = np.mean(b * (ab - a), axis=-1) / variances
        total = 0.5 * np.mean((a - ab) ** 2, axis=-1) / variances
    return first, total


def first_order_shares(
    table: SceneTable, values: Array, bins: int = BINS, seed: int = 0
) -> list[SobolIndex]:
    """Estimates first-order indices from scenes that were drawn at random: the share of the
    variance between bins of a factor, less what chance alone puts there (Kelley's epsilon squared
    of an analysis of variance, 1935).

    Factors must be drawn independently of each other; what depends on another, such as x and y of
    one place, shares its variance with it, so that shares of such factors do not add up. A total
    index cannot be had from such scenes. Factors with few values are not binned.
    """
    found = []
    for factor in table.factors.values():
        known = np.isfinite(factor.values) & np.isfinite(values)
        if known.sum() < LEAST_SCENES or not np.ptp(values[known]) > 0:
            continue
        share, interval = _binned_share(factor, factor.values[known], values[known], bins, seed)
        nothing = NAN, NAN
        found.append(SobolIndex(factor.name, share, interval, NAN, nothing, int(known.sum())))
    return found


def _binned_share(
    factor: Factor, x: Array, y: Array, bins: int, seed: int
) -> tuple[float, tuple[float, float]]:
    places, _ = binned(factor, x, bins)
    share = float(_epsilon_squared(places[None], y[None])[0])
    picks = np.random.default_rng(seed).integers(len(y), size=(RESAMPLES, len(y)))
    spread = 1.96 * float(np.nanstd(_epsilon_squared(places[picks], y[picks])))
    return share, (share - spread, share + spread)


def _epsilon_squared(places: NDArray[np.intp], y: Array) -> Array:
    """(R,) of groups and values (R, N)."""
    n = y.shape[1]
    centred = y - y.mean(axis=1, keepdims=True)
    total = (centred**2).sum(axis=1)
    between, groups = np.zeros(len(y)), np.zeros(len(y))
    for place in np.unique(places):
        ones = places == place
        counts = ones.sum(axis=1)
        between += (centred * ones).sum(axis=1) ** 2 / np.maximum(counts, 1)
        groups += counts > 0
    within = (total - between) / (n - groups)
    with np.errstate(invalid='ignore', divide='ignore'):
        return np.asarray((between - (groups - 1) * within) / total)


def largest(indices: Sequence[SobolIndex]) -> list[SobolIndex]:
    """Returns them by their total index, or by the first where there is none; the largest first."""
    return sorted(
        indices, key=lambda each: -np.nan_to_num(np.fmax(each.total, each.first), nan=-1.0)
    )
