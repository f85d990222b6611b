# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Calibration at each percent of the task's time (VLA calibration, section 4.2, figure 4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from frame_ros.confidence.calibration import (
    ReliabilityBin,
    calibration_metrics,
    reliability_diagram,
)
from frame_ros.confidence.samples import Array
from frame_ros.confidence.score_episode import ScoreEpisode
from frame_ros.evaluation.calibration.calibration_set import CalibrationSet
from frame_ros.evaluation.calibration.options import CalibrationOptions
from frame_ros.metrics import EPISODE_WINDOW

# Completions at which the calibration is found: those of the paper.
LEVELS: Array = np.arange(100) / 100.0
# Of these there are reliability diagrams, %.
SHOWN = (0, 50, 75, 99)
# Share of the episodes of one outcome that a band leaves out, on either side.
TAIL = 0.1


def newest_at(completion: Array, values: Array, levels: Array = LEVELS) -> Array:
    """Returns the values (L, ...) newest at some completions; the first before it.

    Args:
        completion: (n,) of the values, not decreasing, n at least 1.
        values: (n, ...).
        levels: (L,) completions.
    """
    places = np.searchsorted(completion, levels, side='right') - 1
    return values[np.maximum(places, 0)]


def _window(values: Array) -> Array:
    sums = np.cumsum(np.insert(values, 0, 0.0))
    ends = np.arange(1, len(values) + 1)
    begins = np.maximum(ends - EPISODE_WINDOW, 0)
    return (sums[ends] - sums[begins]) / (ends - begins)


def _average(values: Array) -> Array:
    return np.cumsum(values) / np.arange(1, len(values) + 1)


@dataclass(frozen=True)
class Rule:
    """A way to the confidence at a moment from those of the inferences so far.

    Attributes:
        title: as tables and figures have it.
        apply: (n,) of the inferences -> (n,) so far.
    """

    title: str
    apply: Callable[[Array], Array]


RULES = {
    'current': Rule('Current', lambda values: values),
    'window': Rule(f'Window ({EPISODE_WINDOW})', _window),
    'average': Rule('Average all', _average),
}


def over_horizon(
    episode: ScoreEpisode, score: str, rule: str = 'current', levels: Array = LEVELS
) -> Array:
    """Returns an episode's score (L,) at some completions; inferences without a value are skipped.

    Args:
        episode: with at least one value of the score.
        score: its name.
        rule: one of RULES.
        levels: (L,) completions in [0, 1].
    """
    values = episode.scores[score]
    is_known = np.isfinite(values)
    found = RULES[rule].apply(values[is_known])
    return newest_at(episode.completion[is_known], found, levels)


@dataclass(frozen=True)
class Curve:
    """An estimate at each level, (L,) each; bounds are NaN without resamples."""

    value: Array
    lower: Array
    upper: Array


@dataclass(frozen=True)
class HorizonCalibration:
    """Calibration over the horizon under one rule.

    Attributes:
        rule: one of RULES.
        levels: (L,) completions.
        ece_1, brier: with 95 % intervals over resampled episodes.
        successes, failures: mean confidence of each, with the band between their 10 % and 90 %
            quantiles.
        diagrams: level in % -> reliability diagram.
    """

    rule: str
    levels: Array
    ece_1: Curve
    brier: Curve
    successes: Curve
    failures: Curve
    diagrams: dict[int, list[ReliabilityBin]]


def horizon_calibration(
    given: CalibrationSet, score: str, rule: str, options: CalibrationOptions
) -> HorizonCalibration:
    """Finds the calibration of a score in [0, 1] over the horizon.

    Args:
        given: episodes in which the score has values.
        score: its name.
        rule: one of RULES.
        options: bins, resamples and seed count.
    """
    rows = np.stack([over_horizon(each, score, rule) for each in given.episodes])
    found = [
        calibration_metrics(
            column, given.outcomes, None, options.bins, options.resamples, options.seed,
            ('ece_1', 'brier'),
        )
        for column in rows.T
    ]  # fmt: skip
    curves = {
        name: Curve(*np.array([[e.value, e.lower, e.upper] for e in (f[name] for f in found)]).T)
        for name in ('ece_1', 'brier')
    }
    is_success = given.outcomes > 0.0
    diagrams = {
        percent: reliability_diagram(rows[:, percent], given.outcomes, options.bins)
        for percent in SHOWN
    }
    return HorizonCalibration(
        rule, LEVELS, curves['ece_1'], curves['brier'], band(rows[is_success]),
        band(rows[~is_success]), diagrams,
    )  # fmt: skip


def band(rows: Array) -> Curve:
    """Returns mean, and 10 % and 90 % quantiles, of rows (n, L); NaN without rows."""
    if not len(rows):
        nothing = np.full(rows.shape[1], np.nan)
        return Curve(nothing, nothing, nothing)
    return Curve(rows.mean(axis=0), *np.quantile(rows, (TAIL, 1.0 - TAIL), axis=0))
