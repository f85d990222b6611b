# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers of a study with their intervals, and the episodes that each comes from."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from frame_ros.evaluation.survival.bootstrap import percentiles
from frame_ros.metrics.arrays import are_equal


@dataclass(frozen=True)
class Estimate:
    """A number over episodes.

    Attributes:
        value: NaN if there is none.
        lower, upper: of its interval; NaN if there is none, infinite if it is not bounded.
        reason: why value or interval is missing or not bounded; '' if both are there.
        episodes: number of the set of its episodes.
    """

    value: float
    lower: float = math.nan
    upper: float = math.nan
    reason: str = ''
    episodes: int = 0

    @property
    def excludes_zero(self) -> bool:
        """True if there is an interval, and 0 is outside."""
        return self.lower > 0.0 or self.upper < 0.0


@dataclass(frozen=True)
class EpisodeSet:
    """Episodes that a number comes from.

    Attributes:
        name: in words.
        places: of the episodes in the study, increasing.
    """

    name: str
    places: tuple[int, ...]


@dataclass
class EpisodeSets:
    """The sets of a study, each of them once."""

    sets: list[EpisodeSet] = field(default_factory=list)
    _numbers: dict[tuple[int, ...], int] = field(default_factory=dict)

    def number(self, name: str, places: Iterable[int]) -> int:
        """Returns the number of a set, which has the name that it was given first."""
        key = tuple(sorted(places))
        if key not in self._numbers:
            self._numbers[key] = len(self.sets)
            self.sets.append(EpisodeSet(name, key))
        return self._numbers[key]


def interval(resampled: NDArray[np.float64], alpha: float) -> tuple[float, float]:
    """Returns the percentile interval of (B,) resampled values, by the rules of `percentiles`."""
    return percentiles(resampled, 2, 1.0 - alpha)


def estimate(
    value: float,
    resampled: NDArray[np.float64] | None,
    alpha: float,
    episodes: int,
    reason: str = '',
) -> Estimate:
    """Returns a value with the interval of its resamples.

    reason: why there is no value, or no interval if `resampled` is None.
    """
    if not math.isfinite(value):
        return Estimate(math.nan, reason=reason or 'it has no value here', episodes=episodes)
    if resampled is None:
        return Estimate(value, reason=reason, episodes=episodes)
    lower, upper = interval(resampled, alpha)
    known = resampled[~np.isnan(resampled)]
    if math.isnan(lower) and len(known) and are_equal(known):
        reason = 'no interval: all resamples of the episodes have this value'
    elif math.isnan(lower):
        reason = 'no interval: more than 5 % of the resamples have no value'
    elif not (math.isfinite(lower) and math.isfinite(upper)):
        reason = 'the interval is not bounded: the value is infinite in some resamples'
    else:
        reason = ''
    return Estimate(value, lower, upper, reason, episodes)
