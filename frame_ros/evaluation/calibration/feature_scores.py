# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Features of the calibration episodes, and the distances of each episode from the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from frame_ros.confidence.calibration_parts import FeatureReference
from frame_ros.confidence.feature_reference import fit_features, held_out_distances
from frame_ros.confidence.score_episode import ScoreEpisode
from frame_ros.confidence.scores import OF_CALIBRATION
from frame_ros.core.errors import CalibrationError
from frame_ros.evaluation.calibration.calibration_set import CalibrationSet


def with_feature_scores(
    given: CalibrationSet,
) -> tuple[CalibrationSet, FeatureReference | None, str]:
    """Returns the episodes with their distances of features; the reference of a calibration file,
    fitted on the successful ones; and why there is none, or not of all, in words.

    Each episode is compared with the others: its own features would be its nearest neighbours.
    Scores that came of an earlier calibration file are left out: they hold for that file.
    """
    episodes = [_without_earlier(each) for each in given.episodes]
    having = [each.features is not None for each in episodes]
    unusable = [each for each in episodes if each.feature_note]
    note = ''
    if unusable:
        first, count = unusable[0], f'{len(unusable)} of {len(episodes)}'
        note = f'Features of {count} episodes are left out: {first.feature_note} ({first.name}).'
    if not any(having):
        return replace(given, episodes=tuple(episodes)), None, note
    try:
        episodes, reference = _compared(episodes)
    except CalibrationError as error:
        note = f'Distances of features are not fitted: {error}.'
        return replace(given, episodes=tuple(episodes)), None, note
    return replace(given, episodes=tuple(episodes)), reference, note


def _without_earlier(episode: ScoreEpisode) -> ScoreEpisode:
    unknown = np.full(len(episode), np.nan)
    earlier = dict.fromkeys(OF_CALIBRATION & episode.scores.keys(), unknown)
    return replace(episode, scores={**episode.scores, **earlier})


def _compared(episodes: Sequence[ScoreEpisode]) -> tuple[list[ScoreEpisode], FeatureReference]:
    having = [each for each in episodes if each.features is not None]
    sources = sorted({each.feature_source for each in having})
    if len(sources) > 1:
        raise CalibrationError(f'they are of different sources: {", ".join(map(repr, sources))}')
    features = [each.features for each in having]
    is_success = [bool(each.outcome) for each in having]
    distances = iter(held_out_distances(features, fitted=is_success))
    successful = [rows for rows, is_one in zip(features, is_success, strict=True) if is_one]
    reference = fit_features(successful, sources[0])
    found = [
        replace(each, scores={**each.scores, **next(distances)})
        if each.features is not None
        else each
        for each in episodes
    ]
    return found, reference
