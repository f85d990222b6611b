# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Tables over scores: how well they separate failures from successes, and are calibrated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from frame_ros.confidence.calibration import STATISTICS, Estimate, calibration_metrics
from frame_ros.confidence.samples import Array
from frame_ros.confidence.scores import SCORES, risk
from frame_ros.evaluation.calibration.calibration_set import CalibrationSet
from frame_ros.evaluation.calibration.options import CalibrationOptions
from frame_ros.metrics import EPISODE_AGGREGATES, episode_confidence

# An episode's risk from those of its inferences.
SUMMARIES: dict[str, Callable[[Array], float]] = {
    'first': lambda risks: float(risks[0]),
    'mean': lambda risks: float(risks.mean()),
    'worst': lambda risks: float(risks.max()),
}


@dataclass(frozen=True)
class ScoreRow:
    """A score as a means to separate failed episodes from successful ones.

    Attributes:
        score: its name.
        successes, failures: episodes in which it has values.
        auroc, auprc: summary of an episode -> area for failures; empty if there are only
            successes, or only failures, with values.
        is_constant: whether it never varies.
    """

    score: str
    successes: int
    failures: int
    auroc: dict[str, Estimate]
    auprc: dict[str, Estimate]
    is_constant: bool


def score_rows(given: CalibrationSet, options: CalibrationOptions) -> list[ScoreRow]:
    """Returns a row for each score that has values, in the order of SCORES."""
    rows = ((name, given.with_score(name)) for name in SCORES)
    return [_score_row(name, having, options) for name, having in rows if len(having)]


def _score_row(name: str, given: CalibrationSet, options: CalibrationOptions) -> ScoreRow:
    risks = [risk(name, each.scores[name]) for each in given.episodes]
    known = [each[np.isfinite(each)] for each in risks]
    every = np.concatenate(known)
    row = ScoreRow(name, given.successes, given.failures, {}, {}, bool(every.min() == every.max()))
    if not given.successes or not given.failures:
        return row
    for summary, reduce in SUMMARIES.items():
        found = _areas(np.array([reduce(each) for each in known]), given.outcomes, options)
        row.auroc[summary], row.auprc[summary] = found['auroc'], found['auprc']
    return row


def _areas(risks: Array, outcomes: Array, options: CalibrationOptions) -> dict[str, Estimate]:
    """Returns the areas of risks (n,) of any unit: they depend on the order alone."""
    order = np.unique(risks, return_inverse=True)[1].reshape(len(risks))
    confidences = 1.0 - order / max(1, len(risks))
    return calibration_metrics(
        confidences, outcomes, None, options.bins, options.resamples, options.seed,
        ('auroc', 'auprc'),
    )  # fmt: skip


@dataclass(frozen=True)
class CalibrationRow:
    """Calibration of one way to get a confidence.

    Attributes:
        name: score, or aggregate over the episode.
        metrics: name of STATISTICS -> estimate.
    """

    name: str
    metrics: dict[str, Estimate]


def probability_scores(given: CalibrationSet) -> list[str]:
    """Returns the scores that are confidences: within [0, 1], of all episodes, larger is better."""
    return [
        name
        for name, score in SCORES.items()
        if score.metric.category == 'confidence'
        and score.higher_is_better
        and score.metric.unit == '1'
        and len(given.with_score(name)) == len(given)
        and _is_probability(given, name)
    ]


def _is_probability(given: CalibrationSet, name: str) -> bool:
    every = np.concatenate([each.scores[name] for each in given.episodes])
    return bool(np.nanmin(every) >= 0.0 and np.nanmax(every) <= 1.0)


def confidence_rows(given: CalibrationSet, options: CalibrationOptions) -> list[CalibrationRow]:
    """Returns the calibration of each confidence at the first inference (the paper's tables 4 to
    6).
    """
    return [
        CalibrationRow(name, _metrics(_episodes(given, name, 'first'), given.outcomes, options))
        for name in probability_scores(given)
    ]


def aggregate_rows(
    given: CalibrationSet, score: str, options: CalibrationOptions
) -> list[CalibrationRow]:
    """Returns the calibration of an episode's confidence by each aggregate (section 3.4).

    Args:
        given: episodes in which the score has values.
        score: in [0, 1].
        options: bins, resamples and seed count.
    """
    return [
        CalibrationRow(name, _metrics(_episodes(given, score, name), given.outcomes, options))
        for name in EPISODE_AGGREGATES
    ]


def _episodes(given: CalibrationSet, score: str, aggregate: str) -> Array:
    rows = (each.scores[score] for each in given.episodes)
    known = (row[np.isfinite(row)] for row in rows)
    return np.array([float(episode_confidence(row, aggregate)) for row in known])


def _metrics(
    confidences: Array, outcomes: Array, options: CalibrationOptions
) -> dict[str, Estimate]:
    return calibration_metrics(
        confidences, outcomes, None, options.bins, options.resamples, options.seed,
        tuple(STATISTICS),
    )  # fmt: skip


@dataclass(frozen=True)
class DimensionRow:
    """Calibration of the confidence in one action dimension, at the first inference.

    Attributes:
        dimension: number from 0.
        bias: mean confidence less the success rate; above 0 it is too sure.
        metrics: name of STATISTICS -> estimate.
    """

    dimension: int
    bias: float
    metrics: dict[str, Estimate]


def dimension_rows(given: CalibrationSet, options: CalibrationOptions) -> list[DimensionRow]:
    """Returns the calibration of each action dimension (section 4.4); empty if the policy yields no
    confidence for them.
    """
    parts = [each.dimensions for each in given.episodes]
    known = [part[np.isfinite(part).any(axis=1)][:1] for part in parts if part is not None]
    shapes = {part.shape for part in known}
    if len(known) < len(given) or len(shapes) != 1 or not shapes.pop()[0]:
        return []
    rows = np.concatenate(known)
    return [
        DimensionRow(
            number,
            float(column.mean() - given.outcomes.mean()),
            _metrics(column, given.outcomes, options),
        )
        for number, column in enumerate(rows.T)
        if np.isfinite(column).all()
    ]
