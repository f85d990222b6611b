# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rates of false alarms that a user names, and the thresholds that keep them.

A false alarm is the first alarm of an episode that succeeds without it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from frame_ros.confidence.conformal import conformal_threshold, required_episodes
from frame_ros.confidence.guarantees.risk_episode import RiskCurve, worst_of
from frame_ros.core.errors import CalibrationError, ValueRangeError

HOUR = 3600.0  # s


class FalseAlarmRate(ABC):
    """A rate of false alarms.

    Attributes:
        per: its unit in files and options, 'episode' or 'hour'.
    """

    per: ClassVar[str]

    @abstractmethod
    def threshold(self, curves: Sequence[RiskCurve]) -> float:
        """Returns the risk that a new successful episode exceeds at no more than this rate.

        Args:
            curves: of successful calibration episodes; the new one is exchangeable with them.

        Raises:
            CalibrationError: they are too few; the message says how many are needed.
        """

    @property
    @abstractmethod
    def least_episodes(self) -> int:
        """The number of calibration episodes below which there is no threshold."""

    @abstractmethod
    def shared(self, share: float) -> FalseAlarmRate:
        """Returns a share, in (0, 1], of the rate.

        Raises:
            ValueRangeError: shares of this rate do not add up to it.
        """

    @abstractmethod
    def __str__(self) -> str:
        """Returns it in words."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Returns it as plain JSON values."""

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> FalseAlarmRate:
        """Makes the rate that `to_dict` wrote.

        Raises:
            CalibrationError: it is none.
        """
        known = {each.per: each for each in (PerEpisode, PerHour)}
        rest = dict(values)
        kind = known.get(rest.pop('per', ''))
        if kind is None:
            raise CalibrationError(f'a false-alarm rate is per {" or ".join(known)}: {values}')
        try:
            return kind(**{name: each and float(each) for name, each in rest.items()})
        except (TypeError, ValueError) as error:
            raise CalibrationError(f'{values} is no false-alarm rate: {error}') from None


@dataclass(frozen=True)
class PerEpisode(FalseAlarmRate):
    """The probability of a false alarm in an episode, by split conformal prediction.

    Attributes:
        alpha: in (0, 1).
        confidence: None: alpha is the mean over sets of calibration episodes; otherwise the
            probability, in (0, 1), that the set at hand keeps alpha (a tolerance limit of Wilks
            1941), which needs more episodes.

    Raises:
        ValueRangeError: a value is out of its range.
    """

    alpha: float
    confidence: float | None = None
    per: ClassVar[str] = 'episode'

    def __post_init__(self) -> None:
        required_episodes(self.alpha, self.confidence)

    def threshold(self, curves: Sequence[RiskCurve]) -> float:
        """Returns the conformal threshold on the episodes' worst risks."""
        return conformal_threshold(worst_of(curves), self.alpha, self.confidence)

    @property
    def least_episodes(self) -> int:
        """As `required_episodes`."""
        return required_episodes(self.alpha, self.confidence)

    def shared(self, share: float) -> PerEpisode:
        """Returns a share of alpha, as Bonferroni's inequality allows."""
        return self if share == 1.0 else PerEpisode(share * self.alpha, self.confidence)

    def __str__(self) -> str:
        kept = '' if self.confidence is None else f', kept with confidence {self.confidence:g},'
        return f'a false-alarm rate of {self.alpha:g} per episode{kept}'

    def to_dict(self) -> dict[str, Any]:
        """Returns its unit and values."""
        return {'per': self.per, 'alpha': self.alpha, 'confidence': self.confidence}


@dataclass(frozen=True)
class PerHour(FalseAlarmRate):
    """False alarms per hour of episodes, each counted to its end or first alarm.

    Attributes:
        rate: 1/h, above 0.

    Raises:
        ValueRangeError: the rate is not above 0.
    """

    rate: float
    per: ClassVar[str] = 'hour'

    def __post_init__(self) -> None:
        if not 0.0 < self.rate < math.inf:
            raise ValueRangeError(f'{self.rate} false alarms per hour; above 0 is expected')

    def threshold(self, curves: Sequence[RiskCurve]) -> float:
        """Returns the threshold by conformal risk control; see `hourly_threshold`."""
        return hourly_threshold(curves, self.rate)

    @property
    def least_episodes(self) -> int:
        """One: hours count, whatever the episodes that they lie in."""
        return 1

    def shared(self, share: float) -> PerHour:
        """Returns itself for the whole rate, and refuses less."""
        if share == 1.0:
            return self
        raise ValueRangeError(
            'scores cannot share a rate per hour by Bonferroni, because an alarm of one cuts the '
            "hours of the others; use the sharing 'worst'"
        )

    def __str__(self) -> str:
        return f'a rate of {self.rate:g} false alarms per hour'

    def to_dict(self) -> dict[str, Any]:
        """Returns its unit and value."""
        return {'per': self.per, 'rate': self.rate}


def hourly_threshold(curves: Sequence[RiskCurve], rate: float) -> float:
    """The risk above which alarms come at no more than a rate per hour, for a new episode.

    Conformal risk control (Angelopoulos et al. 2024, theorem 1) of the loss A - rate T: A is 1 if
    the episode has an alarm, T its hours up to that or to its end. The loss falls as the threshold
    rises and is 1 at most, so with the smallest threshold at which the losses of n episodes sum up
    to -1 or less, E[A] <= rate E[T] for one more, whatever the durations.

    Args:
        curves: of n successful calibration episodes.
        rate: false alarms per hour, above 0.

    Raises:
        CalibrationError: the episodes have fewer than 1 / rate hours.
    """
    per_second = rate / HOUR
    hours, needed = math.fsum(each.duration for each in curves) / HOUR, 1.0 / rate
    if hours < needed:
        raise CalibrationError(
            f'{len(curves)} episodes of together {hours:.3g} h allow no {rate:g} false alarms per '
            f'hour; it needs {needed:.3g} h of successful episodes'
        )
    # As the threshold passes a record of an episode, its alarm moves on to the next record; past
    # the last one there is none.
    levels, gains, loss = [], [], 1.0
    for times, risks, duration in curves:
        highest = np.maximum.accumulate(risks)
        is_record = np.diff(highest, prepend=-np.inf) > 0.0
        alarms = np.append(times[is_record], duration)
        gain = per_second * np.diff(alarms)
        gain[-1] += 1.0
        loss += 1.0 - per_second * float(alarms[0])
        levels.append(risks[is_record])
        gains.append(gain)
    all_levels = np.concatenate(levels)
    order = np.argsort(all_levels, kind='stable')
    losses = loss - np.cumsum(np.concatenate(gains)[order])
    ordered = all_levels[order]
    is_last = np.append(np.diff(ordered) > 0.0, True)
    enough = np.flatnonzero(is_last & (losses <= 1e-9))
    return float(ordered[enough[0]]) if len(enough) else float(ordered[-1])
