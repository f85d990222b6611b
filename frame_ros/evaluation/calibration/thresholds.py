# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Thresholds of every score, fitted to calibration episodes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from frame_ros.confidence.calibration_parts import HorizonThresholds
from frame_ros.confidence.guarantees.alarm_rate import HOUR, FalseAlarmRate
from frame_ros.confidence.guarantees.guarantee import Guarantee
from frame_ros.confidence.guarantees.risk_episode import RiskEpisode
from frame_ros.confidence.guarantees.standard import standard_guarantees
from frame_ros.confidence.samples import Array
from frame_ros.confidence.score_episode import ScoreEpisode
from frame_ros.confidence.scores import SCORES, risk
from frame_ros.confidence.thresholds import POINTS, points_at
from frame_ros.core.time import SECOND
from frame_ros.evaluation.calibration.calibration_set import CalibrationSet
from frame_ros.evaluation.calibration.horizon import newest_at
from frame_ros.evaluation.calibration.options import CalibrationOptions


@dataclass
class Thresholds:
    """Thresholds of the scores that have values.

    Attributes:
        horizon: score -> the quantile at each percent of completion.
        guarantees: of each score, rate and form one, with its threshold, or the reason for which it
            has none; likewise of scores that are watched together.
    """

    horizon: dict[str, HorizonThresholds] = field(default_factory=dict)
    guarantees: tuple[Guarantee, ...] = ()

    @property
    def refused(self) -> list[tuple[str, str, str]]:
        """(scores, kind, reason) of thresholds that could not be fitted."""
        found: dict[tuple[str, str], dict[str, None]] = {}
        for each in self.guarantees:
            for name, reason in each.refused.items():
                found.setdefault((f'{each.form}, {each.rate}', reason), {})[name] = None
        return [(', '.join(names), kind, reason) for (kind, reason), names in found.items()]


def fit_thresholds(given: CalibrationSet, options: CalibrationOptions) -> Thresholds:
    """Fits the thresholds of every score that has values.

    Args:
        given: the episodes.
        options: quantile, alpha and its confidence, per_hour, together and seed count.
    """
    having = {name: given.with_score(name) for name in SCORES}
    having = {name: each for name, each in having.items() if len(each)}
    successful = [risk_episode(each) for each in given.successful]
    kept = options.alpha_confidence or None
    rates = [FalseAlarmRate(alpha, confidence=kept) for alpha in options.alpha]
    rates += [FalseAlarmRate(rate, HOUR) for rate in options.per_hour]
    return Thresholds(
        {name: horizon_quantile(each, name, options.quantile) for name, each in having.items()},
        standard_guarantees(successful, having, rates, options.together, options.seed),
    )


def horizon_quantile(given: CalibrationSet, name: str, quantile: float) -> HorizonThresholds:
    """Returns a score's quantile over all episodes at each percent of completion, on the side of
    failure (VLA calibration, section 4.2).

    Args:
        given: episodes in which the score has values.
        name: the score; where smaller is better, the quantile is counted from above.
        quantile: share of the episodes beyond the threshold.
    """
    rows = np.stack([_at_points(each, name) for each in given.episodes])
    share = quantile if SCORES[name].higher_is_better else 1.0 - quantile
    return HorizonThresholds(
        quantile=quantile, thresholds=np.quantile(rows, share, axis=0), episodes=len(given)
    )


def _at_points(episode: ScoreEpisode, name: str) -> Array:
    """Returns an episode's score (POINTS,): at each point the newest value of the inferences that
    the monitor compares with this point or one before it; the first before them.
    """
    values = episode.scores[name]
    is_known = np.isfinite(values)
    points = points_at(episode.completion[is_known], POINTS).astype(np.float64)
    return newest_at(points, values[is_known], np.arange(POINTS, dtype=np.float64))


def risk_episode(episode: ScoreEpisode) -> RiskEpisode:
    """Returns an episode's risks as guarantees are fitted to them."""
    last = float(episode.times[-1]) if len(episode) else 0.0
    # An episode that ended with its only inference lasted a moment.
    duration = max(episode.duration, last, 1.0 / SECOND)
    risks = {name: risk(name, values) for name, values in episode.scores.items() if name in SCORES}
    return RiskEpisode(episode.times, duration, risks)
