# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The noise floor: how much the same scene differs from run to run with another policy seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.evaluation.scene_trials.robustness.factors import LEAST_IN_BIN, FactorEffect
from frame_ros.evaluation.scene_trials.robustness.scene_table import SUCCESS, SceneTable
from frame_ros.metrics import wilson_interval

Array = NDArray[np.float64]
NAN = float('nan')
RESAMPLES = 1000


@dataclass(frozen=True)
class OutcomeNoise:
    """One outcome over repeated runs of the same scenes.

    Attributes:
        outcome: SUCCESS, or the id of a metric.
        scenes: number of them with two runs or more that have a value.
        runs: of these scenes.
        within: standard deviation within a scene, pooled.
        share: of the variance of single runs that lies within scenes; lower, upper: its 95 %
            bootstrap interval over scenes; NaN with fewer than LEAST_IN_BIN scenes, or where all
            resamples have the same share.
        exceeding: factors whose effect is significant and whose span is more than `within`.
        below: factors whose effect is significant, but no more than that.
    """

    outcome: str
    scenes: int
    runs: int
    within: float
    share: float
    lower: float
    upper: float
    exceeding: tuple[str, ...]
    below: tuple[str, ...]


@dataclass(frozen=True)
class NoiseFloor:
    """Noise of all outcomes.

    Attributes:
        outcomes: those with repeated runs.
        flip_rate: probability that two runs of the same scene end differently; NaN: no repeats.
        lower, upper: its 95 % interval by Wilson, with scenes as trials: pairs of runs of one scene
            depend on each other. Wide enough: no share of pairs varies more than 0 and 1 do.
        scenes: with two runs or more.
    """

    outcomes: tuple[OutcomeNoise, ...]
    flip_rate: float
    lower: float
    upper: float
    scenes: int


def noise_floor(table: SceneTable, effects: Sequence[FactorEffect], seed: int = 0) -> NoiseFloor:
    """Returns the noise of the outcomes, of the scenes that were run more than once."""
    found, flip, interval, scenes = [], NAN, (NAN, NAN), 0
    for outcome in table.outcomes:
        groups = _groups(table, outcome)
        if not groups:
            continue
        own = [each for each in effects if each.outcome == outcome and each.is_significant]
        found.append(_noise(outcome, groups, own, seed))
        if outcome == SUCCESS:
            flips = np.array([_flips(each) for each in groups])
            flip, scenes = float(flips.mean()), len(groups)
            interval = wilson_interval(min(float(flips.sum()), scenes), scenes)
    return NoiseFloor(tuple(found), flip, *interval, scenes)


def variance_share(groups: Sequence[Array]) -> tuple[float, float]:
    """Returns the pooled standard deviation within groups, and the share of their variance in that
    of single values: by analysis of variance with groups of unequal size (Searle, Casella and
    McCulloch 1992, section 3.6), at most 1. NaN if all values are equal.
    """
    within, share = _analysis(*_moments(groups))
    return float(within[0]), float(share[0])


def _moments(groups: Sequence[Array]) -> tuple[Array, Array, Array]:
    """Sizes, means and sums of squares about them, (1, k) each."""
    rows = [(len(each), each.mean(), ((each - each.mean()) ** 2).sum()) for each in groups]
    sizes, means, squares = np.array(rows, np.float64).T
    return sizes[None], means[None], squares[None]


def _analysis(sizes: Array, means: Array, squares: Array) -> tuple[Array, Array]:
    """`variance_share` (R,) of moments (R, k)."""
    n, k = sizes.sum(axis=1), sizes.shape[1]
    within = squares.sum(axis=1) / (n - k)
    if k < 2:
        return np.sqrt(within), np.full(len(n), NAN)
    middle = (sizes * means).sum(axis=1, keepdims=True) / n[:, None]
    between = (sizes * (means - middle) ** 2).sum(axis=1) / (k - 1)
    per_group = (n - (sizes**2).sum(axis=1) / n) / (k - 1)
    total = within + np.maximum(0.0, (between - within) / per_group)
    share = np.where(total > 0, within / np.where(total > 0, total, 1.0), NAN)
    return np.sqrt(within), share


def _groups(table: SceneTable, outcome: str) -> list[Array]:
    """The values of each scene that has two or more."""
    found = []
    for trials in table.trials:
        if outcome == SUCCESS:
            values = [float(each.is_success(table.rule)) for each in trials]
        else:
            values = [each.metrics.get(outcome, NAN) for each in trials]
        finite = np.array([value for value in values if np.isfinite(value)])
        if len(finite) > 1:
            found.append(finite)
    return found


def _noise(
    outcome: str, groups: list[Array], effects: Sequence[FactorEffect], seed: int
) -> OutcomeNoise:
    within, share = variance_share(groups)
    picks = np.random.default_rng(seed).integers(len(groups), size=(RESAMPLES, len(groups)))
    sizes, means, squares = (each[0][picks] for each in _moments(groups))
    shares = _analysis(sizes, means, squares)[1]
    known = shares[np.isfinite(shares)]
    is_known = len(groups) >= LEAST_IN_BIN and len(known) and np.ptp(known) > 0
    ends = np.percentile(known, (2.5, 97.5)) if is_known else (NAN, NAN)
    exceeding = tuple(each.factor for each in effects if each.span > within)
    below = tuple(each.factor for each in effects if not each.span > within)
    return OutcomeNoise(
        outcome, len(groups), sum(map(len, groups)), within, share, float(ends[0]), float(ends[1]),
        exceeding, below,
    )  # fmt: skip


def _flips(outcomes: Array) -> float:
    """The share of the pairs of runs that end differently."""
    n, k = len(outcomes), float(outcomes.sum())
    return 2 * k * (n - k) / (n * (n - 1))
