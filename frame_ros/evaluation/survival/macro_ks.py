# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The macro-averaged KS test: a distance per object, their mean, and p-values by pooled resampling
of whole episodes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from frame_ros.evaluation.survival.kaplan_meier import curve_of
from frame_ros.evaluation.survival.pool import (
    WORKERS,
    ArmStatistics,
    arm_statistics,
    draw_episodes,
    permuted_episodes,
    pool_of,
)
from frame_ros.evaluation.survival.samples import (
    RESAMPLES,
    SEED,
    TAU,
    as_cell,
    checked_tau,
    objects_of,
)
from frame_ros.evaluation.survival.two_samples import Supremum, supremum_of
from frame_ros.metrics.arrays import checked_count

Array = NDArray[np.float64]
# Statistics that differ by rounding only are ties.
TIE = 1e-12


@dataclass(frozen=True)
class ObjectKs:
    """The KS test of one object.

    Attributes:
        supremum: distance, its place and sign.
        p: by pooled resampling.
        episodes: of the first and second policy.
    """

    supremum: Supremum
    p: float
    episodes: tuple[int, int]


@dataclass(frozen=True)
class MacroKs:
    """The KS test of two policies.

    Attributes:
        distance: mean over objects of sup |F_a - F_b|; NaN if they share no object.
        p: (1 + count) / (resamples + 1), count: resamples of the pooled episodes whose distance is
            not smaller; NaN if they share no object.
        per_object: those that both have.
        only_first, only_second: objects of one of them, which are not compared.
        tau: s.
        resamples, seed: of the null distribution.
    """

    distance: float
    p: float
    per_object: dict[str, ObjectKs]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    tau: float
    resamples: int
    seed: int


def macro_ks(
    a: Mapping[str, Any],
    b: Mapping[str, Any],
    tau: float = TAU,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    workers: int = WORKERS,
    has_replacement: bool = True,
) -> MacroKs:
    """Macro-averaged KS test of two policies. PhAIL, sections 3.3 and 5.2, appendices H and J.

    Under the null the episodes of both policies are pooled by object, and arms of the original
    numbers of episodes drawn from them with replacement. Objects have streams of their own. That
    finds differences too often, the more so the fewer episodes and the more objects there are;
    without replacement, which is an exact permutation test, it never does.

    Args:
        a, b: object -> Cell, or (times, events) with each operation as an episode of its own.
        tau: s, finite.
        resamples: of the null distribution; 0: no p-values (NaN).
        seed: of the resamples.
        workers: threads; they change no bit of the result.
        has_replacement: False: the null distribution is of permutations of the episodes.

    Raises:
        ShapeError, ValueRangeError: as `kaplan_meier`, or tau, resamples or seed are out of range.
    """
    tau = checked_tau(tau)
    resamples, seed = checked_count(resamples, 'resamples', 0), checked_count(seed, 'seed', 0)
    objects = objects_of(a, b)
    total = np.zeros(resamples)
    rows = {}
    for name in objects.shared:
        first, second = as_cell(a[name], name), as_cell(b[name], name)
        supremum = supremum_of(curve_of(first), curve_of(second), tau)
        random = stream(seed, name)
        null = pooled_null(first, second, tau, resamples, random, workers, has_replacement).ks
        total += null
        episodes = int(first.episodes[-1]) + 1, int(second.episodes[-1]) + 1
        rows[name] = ObjectKs(supremum, resampled_p(supremum.distance, null), episodes)
    distances = [row.supremum.distance for row in rows.values()]
    distance = float(np.mean(distances)) if rows else math.nan
    p = resampled_p(distance, total / len(rows)) if rows else math.nan
    return MacroKs(distance, p, rows, objects.only_first, objects.only_second, tau, resamples, seed)


def pooled_null(
    a: Any,
    b: Any,
    tau: float = TAU,
    resamples: int = RESAMPLES,
    random: np.random.Generator | int = SEED,
    workers: int = WORKERS,
    has_replacement: bool = True,
) -> ArmStatistics:
    """The null distribution of the statistics of two arms: episodes of both are pooled and arms of
    the original numbers of episodes drawn with replacement (PhAIL, section 3.3), or without.

    Args:
        a, b: Cell, or (times, events) with each operation as an episode of its own.
        tau: s, finite.
        random: a generator, or a seed.
        workers: threads; they change no bit of the result.

    Raises:
        ShapeError, ValueRangeError: as `kaplan_meier`, or tau or resamples are out of range.
    """
    pool = pool_of(as_cell(a), as_cell(b))
    count = checked_count(resamples, 'resamples', 0)
    if not count:
        return ArmStatistics(*np.empty((4, 0)))
    generator = np.random.default_rng(random)
    draw = draw_episodes if has_replacement else permuted_episodes
    draws = draw(generator, pool.count, pool.count, count)
    arms = draws[:, : pool.counts[0]], draws[:, pool.counts[0] :]
    return arm_statistics(pool, *arms, tau, workers)


def resampled_p(observed: Any, null: Any) -> Any:
    """Returns (1 + count) / (B + 1), count: values of the null (..., B) that are not smaller than
    the observed one (...); NaN without any.
    """
    values = np.asarray(null, dtype=np.float64)
    if not values.shape[-1]:
        return np.full(np.shape(observed), math.nan) if np.ndim(observed) else math.nan
    count = (values >= np.asarray(observed)[..., None] - TIE).sum(axis=-1)
    p = (1 + count) / (values.shape[-1] + 1)
    return p if np.ndim(p) else float(p)


def stream(seed: int, *names: str) -> np.random.Generator:
    """Returns a generator of its own for these names: other cells of a study do not change it."""
    return np.random.default_rng(
        [seed, *(crc32(name.encode(errors='surrogatepass')) for name in names)]
    )
