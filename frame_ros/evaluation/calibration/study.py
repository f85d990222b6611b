# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""All that `frame-ros calibrate` finds of a policy's episodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from frame_ros.confidence.calibration_parts import FeatureReference, ScoreStatistics
from frame_ros.confidence.combination import ScoreCombination
from frame_ros.confidence.guarantees.drift import episode_values
from frame_ros.confidence.recalibration.recalibrator import kinds
from frame_ros.confidence.score_episode import ScoreEpisode
from frame_ros.confidence.scores import SCORES
from frame_ros.core.errors import CalibrationError
from frame_ros.evaluation.calibration.calibration_set import CalibrationSet, calibration_set
from frame_ros.evaluation.calibration.comparison import (
    Comparison,
    compare,
    episode_folds,
    samples_of,
)
from frame_ros.evaluation.calibration.derived_scores import (
    combined,
    recalibrated,
    standardised,
    with_scores,
)
from frame_ros.evaluation.calibration.feature_scores import with_feature_scores
from frame_ros.evaluation.calibration.horizon import RULES, HorizonCalibration, horizon_calibration
from frame_ros.evaluation.calibration.options import FIRST, HORIZON, RAW, CalibrationOptions
from frame_ros.evaluation.calibration.score_table import (
    CalibrationRow,
    DimensionRow,
    ScoreRow,
    aggregate_rows,
    confidence_rows,
    dimension_rows,
    score_rows,
)
from frame_ros.evaluation.calibration.thresholds import Thresholds, fit_thresholds, risk_episode
from frame_ros.evaluation.statistics.ranks import AUTO, spearman
from frame_ros.evaluation.statistics.several_tests import holm

# The score that is recalibrated.
CONFIDENCE = 'confidence'
# Below so many episodes of an outcome, results are doubtful.
FEW = 20
# Below this p-value, adjusted for the number of scores, a score is not the same all the time.
DRIFTED = 0.01
# Without this option of the metrics, actions are not normalised.
NORMALISING = 'action_lower'
# NumPy computes without Python's lock most of the time.
WORKERS = 2


@dataclass
class CalibrationStudy:
    """The findings.

    Attributes:
        given: the episodes that were used, with the scores that need a calibration, and those left
            out.
        options: of the calibration.
        features: of the successful episodes; None if there are none.
        statistics: mean and standard deviation of each score over the successful episodes.
        combination: of several scores into one risk, as its `to_dict` gives it; None without.
        expected_duration: median of the successful episodes, s; None without any.
        longest_duration: their 95 % quantile, s.
        scores: how well each score separates failures from successes.
        confidences: calibration of each confidence at the first inference.
        aggregates: calibration of the confidence by aggregate over the episode.
        dimensions: calibration by action dimension, at the first inference.
        horizon: rule -> calibration over the horizon.
        comparisons: FIRST and HORIZON -> recalibrators on held-out episodes.
        thresholds: of every score.
        notes: what could not be found, and what makes a number doubtful, in words.
    """

    given: CalibrationSet
    options: CalibrationOptions
    features: FeatureReference | None = None
    statistics: dict[str, ScoreStatistics] = field(default_factory=dict)
    combination: dict[str, Any] | None = None
    expected_duration: float | None = None
    longest_duration: float | None = None
    scores: list[ScoreRow] = field(default_factory=list)
    confidences: list[CalibrationRow] = field(default_factory=list)
    aggregates: list[CalibrationRow] = field(default_factory=list)
    dimensions: list[DimensionRow] = field(default_factory=list)
    horizon: dict[str, HorizonCalibration] = field(default_factory=dict)
    comparisons: dict[str, Comparison] = field(default_factory=dict)
    thresholds: Thresholds = field(default_factory=Thresholds)
    notes: list[str] = field(default_factory=list)

    @property
    def comparison(self) -> Comparison | None:
        """The comparison that the saved recalibrator is of; None if none could be made."""
        return self.comparisons.get(self.options.samples)

    @property
    def saved_kind(self) -> str:
        """Kind of the recalibrator to save; RAW: none."""
        if self.options.recalibrator:
            return self.options.recalibrator
        return RAW if self.comparison is None else self.comparison.recommended


def study(
    episodes: Sequence[ScoreEpisode], options: CalibrationOptions | None = None
) -> CalibrationStudy:
    """Finds calibration, recalibrators and thresholds of episodes.

    Raises:
        CalibrationError: no episode can be used.
    """
    options = options or CalibrationOptions()
    given, features, problem = with_feature_scores(calibration_set(episodes))
    made = CalibrationStudy(given, options, features)
    if problem:
        made.notes.append(problem)
    _note_counts(made)
    durations = [each.duration for each in given.successful]
    if durations:
        made.expected_duration = float(np.median(durations))
        made.longest_duration = float(np.quantile(durations, 0.95))
    having = given.with_score(CONFIDENCE)
    if len(having):
        _run(made, _confidence_jobs(having, options))
    _note_confidence(made, having)
    _derive(made, having)
    _combine(made)
    made.statistics = statistics_of(made.given.successful)
    made.thresholds = fit_thresholds(made.given, options)
    _note_options(made)
    _note_drift(made)
    made.scores = score_rows(made.given, options)
    return made


def _note_confidence(made: CalibrationStudy, having: CalibrationSet) -> None:
    """Notes episodes without a confidence, and tokens that cannot be used."""
    episodes = made.given.episodes
    wrong = [each for each in episodes if each.confidence_note]
    if wrong:
        made.notes.append(
            f'Tokens of {len(wrong)} of {len(episodes)} episodes give no confidence at one or more '
            f'inferences: {wrong[0].confidence_note} ({wrong[0].name}).'
        )
    if not len(having):
        what = 'The tokens of the policy give' if wrong else 'The policy yields'
        made.notes.append(
            f'{what} no confidence, so there is nothing to recalibrate; thresholds of the other '
            'scores are fitted.'
        )
    elif len(having) < len(episodes):
        made.notes.append(
            f'{len(episodes) - len(having)} of {len(episodes)} episodes have no confidence; they '
            'count for the other scores alone.'
        )


def _run(made: CalibrationStudy, jobs: Mapping[str, Callable[[], Any]]) -> None:
    with ThreadPoolExecutor(WORKERS) as pool:
        running = {name: pool.submit(job) for name, job in jobs.items()}
        for name, job in running.items():
            _take(made, name, job.result)


def _derive(made: CalibrationStudy, having: CalibrationSet) -> None:
    """Adds the standardised scores and the recalibrated confidence to the episodes."""
    own = {id(each) for each in having.episodes}
    has_confidence = [id(each) in own for each in made.given.episodes]
    statistics = statistics_of(made.given.successful)
    made.given = with_scores(made.given, standardised(made.given, statistics))
    kind = next((each for each in kinds() if each.kind == made.saved_kind), None)
    if kind is None or not len(having):
        return
    options = made.options
    try:
        folds = episode_folds(having.outcomes, options.folds, options.seed)
        samples = samples_of(having, CONFIDENCE, options.samples)
        found = iter(recalibrated(having, CONFIDENCE, kind, samples, folds))
    except CalibrationError as error:
        made.notes.append(f'No thresholds of the calibrated confidence: {error}.')
        return
    made.given = with_scores(
        made.given, [next(found) if is_one else {} for is_one in has_confidence]
    )


def _combine(made: CalibrationStudy) -> None:
    """Fits the combination of scores, and adds its risk to the episodes."""
    given, options = made.given, made.options
    try:
        found = ScoreCombination.fit(given.episodes)
        folds = episode_folds(given.outcomes, options.folds, options.seed)
    except CalibrationError as error:
        made.notes.append(f'The scores are not combined: {error}.')
        return
    try:
        risks = combined(given, found.inputs, folds)
    except CalibrationError as error:
        made.notes.append(
            f'The scores are not combined: without a part of the cross-validation, {error}.'
        )
        return
    made.combination = found.to_dict()
    made.given = with_scores(given, risks)


def statistics_of(episodes: Sequence[ScoreEpisode]) -> dict[str, ScoreStatistics]:
    """Returns mean and standard deviation of each score over all inferences of episodes."""
    found = {}
    for name in SCORES:
        parts = [each.scores[name] for each in episodes if name in each.scores]
        values = np.concatenate(parts) if parts else np.zeros(0)
        values = values[np.isfinite(values)]
        if len(values):
            found[name] = ScoreStatistics(
                mean=float(values.mean()), standard_deviation=float(values.std())
            )
    return found


def _confidence_jobs(
    having: CalibrationSet, options: CalibrationOptions
) -> dict[str, Callable[[], Any]]:
    """Returns what is found of the confidence: 'part of the study, key' -> function."""
    jobs: dict[str, Callable[[], Any]] = {
        'confidences': lambda: confidence_rows(having, options),
        'aggregates': lambda: aggregate_rows(having, CONFIDENCE, options),
        'dimensions': lambda: dimension_rows(having, options),
    }
    for rule in RULES:
        jobs[f'horizon {rule}'] = partial(horizon_calibration, having, CONFIDENCE, rule, options)
    for moments in (FIRST, HORIZON):
        jobs[f'comparisons {moments}'] = partial(compare, having, CONFIDENCE, moments, options)
    return jobs


def _take(made: CalibrationStudy, name: str, result: Callable[[], Any]) -> None:
    part, _, key = name.partition(' ')
    try:
        found = result()
    except CalibrationError as error:
        text = f'Recalibrators cannot be compared: {error}.'
        if text not in made.notes:
            made.notes.append(text)
        return
    if key:
        getattr(made, part)[key] = found
    else:
        setattr(made, part, found)


def _note_counts(made: CalibrationStudy) -> None:
    given, notes = made.given, made.notes
    if not given.failures or not given.successes:
        only, other = ('successes', 'failures') if given.successes else ('failures', 'successes')
        lost = 'expected duration, conformal thresholds and bands' if not given.successes else ''
        notes.append(
            f'All {len(given)} episodes are {only}: no recalibrator can be fitted, and no score '
            f'judged{f"; {lost} need successes" if lost else ""}. Record {other}, {FEW} or more.'
        )
    elif min(given.successes, given.failures) < FEW:
        notes.append(
            f'Of the episodes {given.successes} succeeded and {given.failures} failed; with fewer '
            f'than {FEW} of either, intervals are wide and recalibrators unreliable.'
        )
    quantile = made.options.quantile
    needed = math.ceil(round(1.0 / quantile, 9))
    if len(given) < needed:
        notes.append(
            f'The horizon thresholds, quantiles of {quantile:g}, are of {len(given)} episodes, '
            f'close to the worst of them; {needed} or more are needed for one to lie '
            'beyond.'
        )
    if made.options.samples == HORIZON and len(given) and max(map(len, given.episodes)) < 2:
        notes.append('No episode has more than one inference: its horizon is one moment.')


def _note_options(made: CalibrationStudy) -> None:
    """Notes scores that were computed by other options in some episodes, or by raw actions for want
    of the recorded ones.
    """
    known = [each for each in made.given.episodes if each.options]
    used = {name: score.metric.options for name, score in SCORES.items() if name in made.statistics}
    for option in dict.fromkeys(option for options in used.values() for option in options):
        scores = ', '.join(name for name, options in used.items() if option in options)
        if len({repr(each.options.get(option)) for each in known}) > 1:
            made.notes.append(
                f'The option {option} of the metrics differs between episodes: thresholds of '
                f'{scores} are of values that cannot be compared.'
            )
        if option == NORMALISING and known and not any(each.options[option] for each in known):
            made.notes.append(
                f'The episodes have no bounds of the actions: thresholds of {scores} are of raw '
                'actions, and do not hold where the metrics node normalises them.'
            )


def _note_drift(made: CalibrationStudy) -> None:
    """Notes scores whose episodes' means rise or fall in the course of time (Spearman, Holm).

    Of few episodes the p-value is exact: the asymptotic one is 0 for any order of 3 that rises.
    """
    by_time = sorted(made.given.successful, key=lambda each: each.begin)
    if not by_time or not by_time[0].begin:
        return
    values = [episode_values(risk_episode(each)) for each in by_time]
    columns = [[each[name] for each in values if name in each] for name in SCORES]
    found = [spearman(column, list(range(len(column))), AUTO) for column in columns]
    changed = [
        f'{name} {"rises" if each.rho > 0.0 else "falls"}'
        for name, each, p in zip(SCORES, found, holm([each.p for each in found]))
        if p < DRIFTED
    ]
    if changed:
        made.notes.append(
            f'From the earlier to the later successful episodes the risk of {", ".join(changed)}: '
            'they are not exchangeable, and rates of false alarms may not hold. Calibrate on '
            'episodes of one setup, and record those of different scenes in turn.'
        )
