# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Alarm thresholds of one or several scores, which keep a rate of false alarms together."""

from __future__ import annotations

import math
from collections.abc import Mapping

import attrs

from frame_ros.confidence.guarantees.alarm_rate import FalseAlarmRate
from frame_ros.confidence.thresholds import threshold_at
from frame_ros.core.errors import CalibrationError, ValueRangeError

# Forms of a threshold: one level, or one that follows the time since the episode's start.
CONSTANT, BAND = 'constant', 'band'
FORMS = (CONSTANT, BAND)
# How several scores share the rate.
BONFERRONI, WORST = 'bonferroni', 'worst'
SHARINGS = (BONFERRONI, WORST)


@attrs.frozen
class AlarmThreshold:
    """A threshold of a score's risk: alarm where the risk exceeds it.

    Attributes:
        upper: (points,) risks at equal steps of the time since the episode's start; one point: a
            constant. Beyond the last it stays.
        span: s that the points cover.
        share: of the rate that this score has for itself; 1 if it is alone, or if all scores
            share one statistic.
        shape_episodes: that gave the form of it.
        episodes: that gave its level.

    Raises:
        ValueRangeError: a value is out of its range.
    """

    upper: tuple[float, ...]
    span: float
    share: float
    shape_episodes: int
    episodes: int

    def __attrs_post_init__(self) -> None:
        if not self.upper or not all(map(math.isfinite, self.upper)):
            raise ValueRangeError("'upper' of a threshold is no list of finite numbers")
        if not 0.0 < self.span < math.inf or not 0.0 < self.share <= 1.0:
            raise ValueRangeError(
                f'span is {self.span} s and share {self.share}; above 0, and above 0 and at most '
                '1, are expected'
            )

    def at(self, elapsed: float) -> float:
        """Returns the threshold at a time since the episode's start, s."""
        return threshold_at(self.upper, elapsed / self.span)


@attrs.frozen
class Guarantee:
    """A rate of false alarms, and the thresholds that keep it while all of them are watched.

    Attributes:
        rate: of the scores together.
        form: CONSTANT or BAND.
        sharing: BONFERRONI or WORST.
        thresholds: score -> its threshold.
        refused: score -> why it has none, and what it would need.

    Raises:
        ValueRangeError: another form or sharing.
    """

    rate: FalseAlarmRate
    form: str
    sharing: str
    thresholds: Mapping[str, AlarmThreshold]
    refused: Mapping[str, str]

    def __attrs_post_init__(self) -> None:
        if self.form not in FORMS or self.sharing not in SHARINGS:
            raise ValueRangeError(
                f'form is {self.form!r} and sharing {self.sharing!r}; one of {", ".join(FORMS)} '
                f'and one of {", ".join(SHARINGS)} are expected'
            )

    def threshold(self, score: str) -> AlarmThreshold:
        """Returns the threshold of a score.

        Raises:
            CalibrationError: it has none; the message says why.
        """
        if score in self.thresholds:
            return self.thresholds[score]
        why = self.refused.get(score, f'it was fitted to {", ".join(self.thresholds) or "none"}')
        raise CalibrationError(f'no {self.form} threshold of {score} for {self.rate}: {why}')

    def exceeded(self, risks: Mapping[str, float], elapsed: float) -> list[str]:
        """Returns the scores whose risk exceeds its threshold; NaN and missing ones do not.

        Args:
            risks: score -> risk of one inference.
            elapsed: s since the episode's start.
        """
        nan = math.nan
        return [
            score
            for score, threshold in self.thresholds.items()
            if risks.get(score, nan) > threshold.at(elapsed)
        ]
