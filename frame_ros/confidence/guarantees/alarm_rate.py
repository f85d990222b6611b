# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rates of false alarms that a user names, and the thresholds that keep them.

A false alarm is the first alarm of an episode that succeeds without it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import attrs
import numpy as np

from frame_ros.confidence.conformal import conformal_threshold, required_episodes
from frame_ros.confidence.guarantees.risk_episode import RiskCurve, worst_of
from frame_ros.core.errors import CalibrationError, ValueRangeError

HOUR_SECONDS = 3600.0
# Units of a rate.
EPISODE, HOUR = 'episode', 'hour'
UNITS = (EPISODE, HOUR)


@attrs.frozen
class FalseAlarmRate:
    """A rate of false alarms.

    Attributes:
        value: of EPISODE the probability of a false alarm, in (0, 1); of HOUR false alarms per
            hour of episodes, each counted to its end or first alarm, above 0.
        per: EPISODE or HOUR.
        confidence: of EPISODE. None: the rate is the mean over sets of calibration episodes;
            otherwise the probability, in (0, 1), that the set at hand keeps it (a tolerance limit
            of Wilks 1941), which needs more episodes.

    Raises:
        ValueRangeError: a value is out of its range.
    """

    value: float
    per: str = EPISODE
    confidence: float | None = None

    def __attrs_post_init__(self) -> None:
        if self.per not in UNITS:
            raise ValueRangeError(f'a false-alarm rate is per {" or ".join(UNITS)}: {self.per!r}')
        if self.per == EPISODE:
            required_episodes(self.value, self.confidence)
        elif not 0.0 < self.value < math.inf or self.confidence is not None:
            raise ValueRangeError(
                f'{self.value} false alarms per hour with confidence {self.confidence}; a rate '
                'above 0 and no confidence are expected'
            )

    @property
    def least_episodes(self) -> int:
        """The number of calibration episodes below which there is no threshold. A rate per hour
        needs hours, whatever the number of episodes that they lie in.
        """
        return required_episodes(self.value, self.confidence) if self.per == EPISODE else 1

    def threshold(self, curves: Sequence[RiskCurve]) -> float:
        """Returns the risk that a new successful episode exceeds at no more than this rate.

        Args:
            curves: of successful calibration episodes; the new one is exchangeable with them.

        Raises:
            CalibrationError: they are too few; the message says how many are needed.
        """
        if self.per == HOUR:
            return hourly_threshold(curves, self.value)
        return conformal_threshold(worst_of(curves), self.value, self.confidence)

    def shared(self, share: float) -> FalseAlarmRate:
        """Returns a share, in (0, 1], of the rate, as Bonferroni's inequality allows.

        Raises:
            ValueRangeError: shares of a rate per hour, which do not add up to it.
        """
        if share == 1.0:
            return self
        if self.per == HOUR:
            raise ValueRangeError(
                'scores cannot share a rate per hour by Bonferroni, because an alarm of one cuts '
                "the hours of the others; use the sharing 'worst'"
            )
        return attrs.evolve(self, value=share * self.value)

    def __str__(self) -> str:
        if self.per == HOUR:
            return f'a rate of {self.value:g} false alarms per hour'
        kept = '' if self.confidence is None else f' kept with confidence {self.confidence:g}'
        return f'a false-alarm rate of {self.value:g} per episode{kept}'


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
    per_second = rate / HOUR_SECONDS
    hours, needed = math.fsum(each.duration for each in curves) / HOUR_SECONDS, 1.0 / rate
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
