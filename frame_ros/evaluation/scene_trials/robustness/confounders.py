# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Success by the number of confounders, and by their similarity to the target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.evaluation.scene_trials.robustness.scene_factors import mean_similarity
from frame_ros.evaluation.scene_trials.robustness.scene_table import SceneTable
from frame_ros.evaluation.statistics.permutation import permutation_p
from frame_ros.evaluation.statistics.ranks import AUTO, spearman, vargha_delaney_a12
from frame_ros.metrics import wilson_interval

Array = NDArray[np.float64]
NAN = float('nan')


@dataclass(frozen=True)
class Count:
    """Scenes with one number of confounders.

    Attributes:
        confounders: their number; -1: any.
        scenes: number of them; NaN rates without any.
        rate, lower, upper: of success, with Wilson's 95 % interval.
    """

    confounders: int
    scenes: int
    rate: float
    lower: float
    upper: float


@dataclass(frozen=True)
class ConfounderStudy:
    """Effects of the confounders.

    Attributes:
        sweep: success by their number.
        trend_p: two-sided, of Spearman's correlation of success and number; exact for few scenes.
        rho: the correlation.
        similar, dissimilar: success by number of scenes whose confounders are more alike to the
            target than the median of those with as many, and of the others; the last of each is of
            any number. Empty: similarity is not known, or the same.
        p: that similarity does not matter, exact, within scenes of one number of confounders, by
            the first run of each scene. NaN: one of the two is lacking.
        a12: probability that a similar scene succeeds rather than a dissimilar one (Vargha and
            Delaney), as the paper's effect sizes; 0.5: no effect.
    """

    sweep: tuple[Count, ...]
    trend_p: float
    rho: float
    similar: tuple[Count, ...]
    dissimilar: tuple[Count, ...]
    p: float
    a12: float


def confounder_study(table: SceneTable) -> ConfounderStudy:
    """Returns success by number and similarity of confounders. VLATest, section 5.2."""
    numbers = np.array([len(scene.confounders) for scene in table.scenes], np.intp)
    alike = np.array([mean_similarity(scene) for scene in table.scenes], np.float64)
    rho, trend_p = NAN, NAN
    if len(set(numbers.tolist())) > 1 and len(numbers) > 2:
        rho, trend_p = spearman(numbers.astype(np.float64), table.success, AUTO)
    different = sorted(set(numbers.tolist()))
    sweep = tuple(_count(each, table.success[numbers == each]) for each in different)
    known = np.isfinite(alike)
    is_spread = any(len(np.unique(alike[known & (numbers == each)])) > 1 for each in different)
    nothing = ConfounderStudy(sweep, trend_p, rho, (), (), NAN, NAN)
    if not is_spread:
        return nothing
    is_similar = np.zeros(len(alike), bool)
    for number in different:
        own = known & (numbers == number)
        if own.any():
            is_similar[own] = alike[own] > np.median(alike[own])
    if not is_similar.any():  # none is above its median: the highest value is the most frequent
        return nothing
    groups = is_similar, known & ~is_similar
    rows = [
        (*(_count(n, table.success[each & (numbers == n)]) for n in different if n),
         _count(-1, table.success[each]))
        for each in groups
    ]  # fmt: skip
    first = np.array([each[0].is_success(table.rule) for each in table.trials], np.float64)
    strata = [
        (first[groups[0] & (numbers == n)], first[groups[1] & (numbers == n)]) for n in different
    ]
    a12 = float(vargha_delaney_a12(table.success[groups[0]], table.success[groups[1]]))
    p = permutation_p(strata)
    return ConfounderStudy(sweep, trend_p, rho, rows[0], rows[1], p, a12)


def _count(number: int, success: Array) -> Count:
    if not len(success):
        return Count(number, 0, NAN, NAN, NAN)
    low, high = wilson_interval(float(success.sum()), len(success))
    return Count(number, len(success), float(success.mean()), low, high)
