# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Thresholds on confidence over the horizon of a task (VLA calibration, section 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.confidence.samples import Array, as_confidences, as_given
from frame_ros.core.errors import CalibrationError, ValueRangeError
from frame_ros.metrics.arrays import checked_count

POINTS = 100
QUANTILE = 0.1


def at_completion(values: Array, points: int = POINTS) -> Array:
    """Resamples an episode's values to equal steps of its completion.

    Args:
        values: (T, ...), sample t of T at completion (t + 1) / T, T at least 1.
        points: number of steps; point k (from 1) is completion k / points.

    Returns:
        (points, ...) the newest value at each point; the first before it.
    """
    count = len(values)
    # Integers, so that completions that are equal are equal: k / points >= (t + 1) / T.
    place = np.arange(1, points + 1) * count // points - 1
    return values[np.maximum(place, 0)]


def horizon_thresholds(
    confidences_per_episode: Sequence[Any], quantile: float = QUANTILE, points: int = POINTS
) -> Array:
    """The quantile over episodes of the confidence at each percent of the task's completion.

    Args:
        confidences_per_episode: (T_i,) each in [0, 1], of at least one episode; T_i at least 1.
        quantile: in (0, 1), interpolated linearly.
        points: steps of completion.

    Returns:
        (points,) thresholds, torch of torch; that of completion c is number ceil(c points) - 1.

    Raises:
        CalibrationError: no episodes.
        ShapeError: an episode without confidences.
        ValueRangeError: a confidence is not in [0, 1], the quantile not in (0, 1), no points.
    """
    points = checked_count(points, 'points', 1)
    if not 0.0 < quantile < 1.0:
        raise ValueRangeError(f'quantile is {quantile}; a value between 0 and 1 is expected')
    given = list(confidences_per_episode)
    rows = [at_completion(as_confidences(each, 'T'), points) for each in given]
    if not rows:
        raise CalibrationError('no episodes; horizon thresholds need some, better 20 or more')
    return as_given(np.quantile(np.stack(rows), quantile, axis=0), given[0])


def threshold_at(thresholds: Array | Sequence[float], completion: float) -> float:
    """Returns the threshold at a completion; beyond 0 to 1 that of the nearest end."""
    # As `points_at`, but many times as fast for a single one.
    place = ceil(round(completion * len(thresholds), 9)) - 1
    return float(thresholds[min(max(place, 0), len(thresholds) - 1)])


def points_at(completions: Array, points: int) -> NDArray[np.intp]:
    """Returns the numbers of the points that `threshold_at` takes at completions."""
    # Rounded, so that 0.55 of 100 is 55 and not a little more.
    places = np.ceil(np.round(completions * points, 9)).astype(np.intp) - 1
    return np.clip(places, 0, points - 1)
