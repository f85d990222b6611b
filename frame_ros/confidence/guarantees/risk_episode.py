# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The risks of an episode's inferences, as thresholds are fitted to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from frame_ros.confidence.samples import Array
from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import as_floats, on_cpu


@dataclass(frozen=True)
class RiskEpisode:
    """The risks of the inferences of one episode.

    Attributes:
        times: (T,) s since the episode's start, not decreasing.
        duration: s, not before the last time.
        risks: score -> (T,), larger where failure is likelier; NaN where it is unavailable.

    Raises:
        ShapeError: the times have no single axis, or a score has not one value per time.
        ValueRangeError: a time is not finite, negative or before its predecessor, the duration
            is before the last or not above 0, a risk is infinite.
    """

    times: Array
    duration: float
    risks: Mapping[str, Array]

    def __post_init__(self) -> None:
        times = _checked(self.times, 'times', allow_nan=False)
        object.__setattr__(self, 'times', times)
        steps = np.diff(times, prepend=0.0)
        if (steps < 0.0).any():
            raise ValueRangeError('times of an episode start at 0 or later and never decrease')
        last = float(times[-1]) if len(times) else 0.0
        if not 0.0 < self.duration < np.inf or self.duration < last:
            raise ValueRangeError(
                f'duration is {self.duration} s; above 0 and at least the last time, {last:g} s, '
                'is expected'
            )
        risks = {
            name: _checked(each, f'risks {name!r}', allow_nan=True)
            for name, each in self.risks.items()
        }
        object.__setattr__(self, 'risks', risks)
        for name, each in risks.items():
            if each.shape != times.shape:
                raise ShapeError(
                    f'risks {name!r} have shape {each.shape}; {times.shape}, one per time, is '
                    'expected'
                )

    def risk(self, score: str) -> Array:
        """Returns the (T,) risks of a score; NaN throughout if the episode has none."""
        found = self.risks.get(score)
        return np.full(len(self.times), np.nan) if found is None else found


class RiskCurve(NamedTuple):
    """One risk over an episode, where it is available.

    Attributes:
        times: (T,) s since the episode's start, T at least 1.
        risks: (T,) finite.
        duration: s.
    """

    times: Array
    risks: Array
    duration: float


def available(curves: Iterable[RiskCurve]) -> list[RiskCurve]:
    """Returns the curves without their NaN, and without those that hold nothing else."""
    kept = [(each, ~np.isnan(each.risks)) for each in curves]
    return [
        RiskCurve(each.times[is_some], each.risks[is_some], each.duration)
        for each, is_some in kept
        if is_some.any()
    ]


def curves_of(episodes: Sequence[RiskEpisode], score: str) -> list[RiskCurve]:
    """Returns the curve of a score in each episode that has it."""
    return available(RiskCurve(each.times, each.risk(score), each.duration) for each in episodes)


def worst_of(curves: Iterable[RiskCurve]) -> Array:
    """Returns the largest risk of each curve."""
    return np.array([each.risks.max() for each in curves])


def _checked(values: Any, name: str, allow_nan: bool) -> Array:
    array = np.asarray(on_cpu(as_floats(values, name, allow_nan)[1]), dtype=np.float64)
    if array.ndim != 1:
        raise ShapeError(f'{name} have shape {array.shape}; (T,) is expected')
    return array
