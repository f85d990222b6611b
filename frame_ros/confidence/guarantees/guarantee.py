# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Alarm thresholds of one or several scores, which keep a rate of false alarms together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import ceil
from typing import Any

from frame_ros.confidence.guarantees.alarm_rate import FalseAlarmRate
from frame_ros.core.errors import CalibrationError

# Forms of a threshold: one level, or one that follows the time since the episode's start.
CONSTANT, BAND = 'constant', 'band'
FORMS = (CONSTANT, BAND)
# How several scores share the rate.
BONFERRONI, WORST = 'bonferroni', 'worst'
SHARINGS = (BONFERRONI, WORST)


@dataclass(frozen=True)
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
    """

    upper: tuple[float, ...]
    span: float
    share: float
    shape_episodes: int
    episodes: int

    def at(self, elapsed: float) -> float:
        """Returns the threshold at a time since the episode's start, s."""
        count = len(self.upper)
        return self.upper[min(max(ceil(elapsed * count / self.span) - 1, 0), count - 1)]


@dataclass(frozen=True)
class Guarantee:
    """A rate of false alarms, and the thresholds that keep it while all of them are watched.

    Attributes:
        rate: of the scores together.
        form: CONSTANT or BAND.
        sharing: BONFERRONI or WORST.
        thresholds: score -> its threshold.
        refused: score -> why it has none, and what it would need.
    """

    rate: FalseAlarmRate
    form: str
    sharing: str
    thresholds: Mapping[str, AlarmThreshold]
    refused: Mapping[str, str]

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

    def to_dict(self) -> dict[str, Any]:
        """Returns it as plain JSON values."""
        thresholds = {name: asdict(each) for name, each in self.thresholds.items()}
        for each in thresholds.values():
            each['upper'] = list(each['upper'])
        return {
            'rate': self.rate.to_dict(),
            'form': self.form,
            'sharing': self.sharing,
            'thresholds': thresholds,
            'refused': dict(self.refused),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Guarantee:
        """Makes the guarantee that `to_dict` wrote.

        Raises:
            CalibrationError: an entry is missing or cannot be.
        """
        try:
            form, sharing = values['form'], values['sharing']
            if form not in FORMS or sharing not in SHARINGS:
                raise ValueError(f'form {form!r}, sharing {sharing!r}')
            return cls(
                FalseAlarmRate.from_dict(values['rate']),
                form,
                sharing,
                {str(name): _threshold(each) for name, each in values['thresholds'].items()},
                {str(name): str(why) for name, why in values['refused'].items()},
            )
        except CalibrationError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise CalibrationError(f'a guarantee of the file cannot be read: {error!r}') from None


def _threshold(values: Mapping[str, Any]) -> AlarmThreshold:
    upper = tuple(float(each) for each in values['upper'])
    span, share = float(values['span']), float(values['share'])
    counts = int(values['shape_episodes']), int(values['episodes'])
    if not upper or not all(map(math.isfinite, upper)):
        raise ValueError("'upper' is no list of finite numbers")
    if not 0.0 < span < math.inf or not 0.0 < share <= 1.0:
        raise ValueError(f'span {span}, share {share}')
    return AlarmThreshold(upper, span, share, *counts)
