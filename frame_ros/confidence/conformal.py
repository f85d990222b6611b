# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Thresholds with a false-alarm rate that the user names, without a model of the scores.

They hold for an episode that is exchangeable with the calibration episodes: same policy, robot,
task and scenes, in any order. Scores are larger where failure is likelier.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from frame_ros.confidence.samples import Array
from frame_ros.core.errors import CalibrationError, ShapeError, ValueRangeError
from frame_ros.metrics.arrays import as_floats, on_cpu


def required_episodes(alpha: float) -> int:
    """Returns the least number of successful episodes for a false-alarm rate alpha per episode.

    Raises:
        ValueRangeError: alpha is not in (0, 1).
    """
    if not 0.0 < alpha < 1.0:
        raise ValueRangeError(f'alpha is {alpha}; a rate between 0 and 1 is expected')
    # Rounded, so that 1 / 0.05 is 20.
    return ceil(round(1.0 / alpha, 9)) - 1


def conformal_rank(count: int, alpha: float) -> int:
    """Returns the rank from 1 of the threshold among `count` sorted worst scores.

    Raises:
        CalibrationError: there are too few episodes for alpha.
        ValueRangeError: alpha is not in (0, 1).
    """
    needed = required_episodes(alpha)
    if count < needed:
        raise CalibrationError(
            f'{count} episodes allow no false-alarm rate of {alpha:g} per episode; it needs '
            f'{needed}, and {count} allow {1.0 / (count + 1):.2g}'
        )
    return ceil(round((count + 1) * (1.0 - alpha), 9))


def conformal_threshold(worst_scores: Any, alpha: float) -> float:
    """The score that a new successful episode exceeds with probability of at most alpha.

    Split conformal prediction on the worst score of each episode: the ceil((n + 1)(1 - alpha))-th
    smallest of n.

    Args:
        worst_scores: (n,) the largest score of each successful calibration episode.
        alpha: false alarms per episode, in (0, 1).

    Raises:
        CalibrationError: n is below ceil(1 / alpha) - 1; the message says how many are needed.
        ShapeError: another shape.
        ValueRangeError: a score is not finite, or alpha not in (0, 1).
    """
    scores = np.asarray(on_cpu(as_floats(worst_scores, 'worst_scores')[1]), dtype=np.float64)
    if scores.ndim != 1:
        raise ShapeError(f'worst_scores have shape {scores.shape}; (n,) is expected')
    rank = conformal_rank(len(scores), alpha)
    return float(np.partition(scores, rank - 1)[rank - 1])


@dataclass(frozen=True)
class Band:
    """A threshold that follows the horizon: alarm where a score exceeds `upper`.

    Attributes:
        upper: (points,) at equal steps of completion.
        alpha: false alarms per episode.
        centre, scale: (points,) of which `upper` is centre + width * scale.
        width: the conformal quantile.
        fitted, calibrated: episodes for the shape, and for the width.
    """

    upper: Array
    alpha: float
    centre: Array
    scale: Array
    width: float
    fitted: int
    calibrated: int


def functional_band(scores: Any, alpha: float, share_for_shape: float = 0.5) -> Band:
    """A band over the horizon that a new successful episode leaves with probability <= alpha.

    The first part of the episodes gives the shape, mean and spread at each point; of the others the
    largest standardised excess of each is conformal (as the functional bands of FAIL-Detect, Xu et
    al. 2025). The split keeps the guarantee for the whole horizon at once, without Bonferroni.

    Args:
        scores: (n, points) of successful episodes, in an order that says nothing of them.
        alpha: false alarms per episode, in (0, 1).
        share_for_shape: share of the episodes that give the shape, in (0, 1).

    Raises:
        CalibrationError: too few episodes; the message says how many are needed.
        ShapeError: another shape.
        ValueRangeError: a score is not finite, alpha or the share not in (0, 1).
    """
    values = np.asarray(on_cpu(as_floats(scores, 'scores')[1]), dtype=np.float64)
    if values.ndim != 2 or not values.shape[1]:
        raise ShapeError(f'scores have shape {values.shape}; (n, points) is expected')
    if not 0.0 < share_for_shape < 1.0:
        raise ValueRangeError(f'share_for_shape is {share_for_shape}; between 0 and 1 is expected')
    needed = required_episodes(alpha)
    for_shape = min(round(share_for_shape * len(values)), len(values) - needed)
    if for_shape < 2:
        raise CalibrationError(
            f'{len(values)} episodes give no band with a false-alarm rate of {alpha:g} per '
            f'episode; it needs {needed + 2}: 2 for its shape and {needed} for its width'
        )
    shape, rest = values[:for_shape], values[for_shape:]
    centre = shape.mean(axis=0)
    spread = shape.std(axis=0, ddof=1)
    # A point at which the episodes agree exactly must not decide alone.
    floor = 0.1 * float(spread.max()) or 1.0
    scale = np.maximum(spread, floor)
    width = conformal_threshold(((rest - centre) / scale).max(axis=1), alpha)
    return Band(centre + width * scale, alpha, centre, scale, width, for_shape, len(rest))
