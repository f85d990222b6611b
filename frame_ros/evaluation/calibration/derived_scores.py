# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Scores that need a calibration, of the very episodes that it is fitted on.

The recalibrated confidence of each episode is that of a recalibrator that was fitted without it, so
that thresholds of it hold for new episodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from frame_ros.confidence.calibration_parts import ScoreStatistics
from frame_ros.confidence.combination import ScoreCombination
from frame_ros.confidence.recalibration.inputs import RecalibrationInputs
from frame_ros.confidence.recalibration.recalibrator import Recalibrator
from frame_ros.confidence.samples import Array
from frame_ros.confidence.score_episode import ScoreEpisode
from frame_ros.evaluation.calibration.calibration_set import CalibrationSet
from frame_ros.evaluation.calibration.comparison import Samples

STANDARDISED = {'chunk_consistency_z': 'chunk_consistency'}
RECALIBRATED, COMBINED = 'confidence_calibrated', 'combined_risk'


def with_scores(given: CalibrationSet, found: Sequence[Mapping[str, Array]]) -> CalibrationSet:
    """Returns the episodes with further scores, a mapping for each."""
    return replace(
        given,
        episodes=tuple(
            replace(each, scores={**each.scores, **more})
            for each, more in zip(given.episodes, found, strict=True)
        ),
    )


def standardised(
    given: CalibrationSet, statistics: Mapping[str, ScoreStatistics]
) -> list[dict[str, Array]]:
    """Returns the standardised scores of each episode, where they vary."""
    return [
        {
            name: (each.scores[raw] - statistics[raw].mean) / statistics[raw].standard_deviation
            for name, raw in STANDARDISED.items()
            if raw in statistics and statistics[raw].standard_deviation > 0.0
        }
        for each in given.episodes
    ]


def recalibrated(
    given: CalibrationSet,
    score: str,
    kind: type[Recalibrator],
    samples: Samples,
    folds: NDArray[np.intp],
) -> list[dict[str, Array]]:
    """Returns the recalibrated confidence of each episode, by a recalibrator of the other folds.

    Args:
        given: the episodes.
        score: that is recalibrated.
        kind: the recalibrator.
        samples: of the episodes, that it is fitted on.
        folds: (n,) of the episodes.

    Raises:
        CalibrationError: it cannot be fitted to the other folds.
    """
    made = {}
    for number in range(int(folds.max()) + 1):
        rest = samples.select(folds[samples.episodes] != number)
        made[number] = rest.inputs.fit(kind, rest.outcomes)
    return [
        {RECALIBRATED: inputs_of(each, score).predict(made[int(fold)])}
        for each, fold in zip(given.episodes, folds)
    ]


def combined(
    given: CalibrationSet, inputs: Sequence[str], folds: NDArray[np.intp]
) -> list[dict[str, Array]]:
    """Returns the combined risk of each episode, by a combination of the other folds.

    Args:
        given: the episodes.
        inputs: of the combination.
        folds: (n,) of the episodes.

    Raises:
        CalibrationError: it cannot be fitted to the other folds.
    """
    found: dict[int, dict[str, Array]] = {}
    for number in range(int(folds.max()) + 1):
        rest = [each for each, fold in zip(given.episodes, folds) if fold != number]
        held_out = np.flatnonzero(folds == number).tolist()
        risks = ScoreCombination.fit(rest, inputs).risks_of([given.episodes[i] for i in held_out])
        found |= {place: {COMBINED: risk} for place, risk in zip(held_out, risks)}
    return [found[place] for place in range(len(folds))]


def inputs_of(episode: ScoreEpisode, score: str) -> RecalibrationInputs:
    """Returns all inferences of an episode as recalibrators take them."""
    return RecalibrationInputs(
        episode.scores[score],
        episode.dimensions,
        episode.temperatures,
        episode.at_temperature,
        episode.dimensions_at_temperature,
    )
