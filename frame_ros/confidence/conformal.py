# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Thresholds with a false-alarm rate that the user names, without a model of the scores.

They hold for an episode that is exchangeable with the calibration episodes: same policy, robot,
task and scenes, in any order. Scores are larger where failure is likelier.
"""

from __future__ import annotations

from math import ceil, floor, log1p, log10
from typing import Any

import numpy as np

from frame_ros.core.errors import CalibrationError, ShapeError, ValueRangeError
from frame_ros.core.plain_text import counted
from frame_ros.metrics.arrays import as_floats, on_cpu


def required_episodes(alpha: float, confidence: float | None = None) -> int:
    """Returns the least number of successful episodes for a false-alarm rate alpha per episode.

    Args:
        alpha: in (0, 1).
        confidence: None: alpha is the mean over sets of calibration episodes, and ceil(1 / alpha)
            - 1 are needed; otherwise the probability that the rate of the set at hand is alpha at
            most: the least n with (1 - alpha)^n <= 1 - confidence.

    Raises:
        ValueRangeError: alpha or the confidence is not in (0, 1).
    """
    if not 0.0 < alpha < 1.0:
        raise ValueRangeError(f'alpha is {alpha}; a rate between 0 and 1 is expected')
    if confidence is None:
        # Rounded, so that 1 / 0.05 is 20.
        return ceil(round(1.0 / alpha, 9)) - 1
    if not 0.0 < confidence < 1.0:
        raise ValueRangeError(f'confidence is {confidence}; between 0 and 1 is expected')
    return ceil(round(log1p(-confidence) / log1p(-alpha), 9))


def conformal_rank(count: int, alpha: float, confidence: float | None = None) -> int:
    """Returns the rank from 1 of the threshold among `count` sorted worst scores.

    Args:
        count, alpha, confidence: as of `required_episodes`.

    Raises:
        CalibrationError: there are too few episodes for alpha.
        ValueRangeError: alpha or the confidence is not in (0, 1).
    """
    needed = required_episodes(alpha, confidence)
    if count < needed:
        wanted = '' if confidence is None else f' with confidence {confidence:g}'
        raise CalibrationError(
            f'{counted(count, "episode")} {"allows" if count == 1 else "allow"} no false-alarm '
            f'rate of {alpha:g} per episode{wanted}; it '
            f'needs {needed}, and {count} allow {_rounded_up(_least_rate(count, confidence))}'
        )
    if confidence is None:
        return ceil(round((count + 1) * (1.0 - alpha), 9))
    # The rate above rank k is Beta(n + 1 - k, k): at most alpha with the probability that fewer
    # than k of n episodes lie below the quantile 1 - alpha.
    from scipy.stats import binom

    return int(binom.ppf(confidence, count, 1.0 - alpha)) + 1


def _least_rate(count: int, confidence: float | None) -> float:
    """Returns the least alpha of which `count` episodes are enough; 1 of none."""
    if confidence is None or not count:
        return 1.0 / (count + 1)
    return 1.0 - (1.0 - confidence) ** (1 / count)


def _rounded_up(rate: float) -> str:
    """Returns a rate with two digits, which is allowed if the rate is."""
    nearest = f'{rate:.2g}'
    digit = 10.0 ** (floor(log10(rate)) - 1)
    return nearest if float(nearest) >= rate else f'{rate + 0.5 * digit:.2g}'


def rate_bound(count: int, rank: int, confidence: float = 0.95) -> float:
    """The false-alarm rate that one set of calibration episodes keeps with a confidence.

    Over sets the rate of the threshold of rank k among n worst scores has the distribution
    Beta(n + 1 - k, k), if no two scores are equal, and less otherwise (Vovk 2012).

    Args:
        count: n.
        rank: k, from 1 to n.
        confidence: in (0, 1).

    Raises:
        ValueRangeError: a value is out of its range.
    """
    if not 1 <= rank <= count or not 0.0 < confidence < 1.0:
        raise ValueRangeError(
            f'rank {rank} of {count} and confidence {confidence}; 1 to {max(count, 1)}, and '
            'between 0 and 1, are expected'
        )
    from scipy.stats import beta

    return float(beta.ppf(confidence, count + 1 - rank, rank))


def conformal_threshold(worst_scores: Any, alpha: float, confidence: float | None = None) -> float:
    """The score that a new successful episode exceeds with probability of at most alpha.

    Split conformal prediction on the worst score of each episode: the ceil((n + 1)(1 - alpha))-th
    smallest of n.

    Args:
        worst_scores: (n,) the largest score of each successful calibration episode.
        alpha: false alarms per episode, in (0, 1).
        confidence: as of `required_episodes`; None: the rank above.

    Raises:
        CalibrationError: n is below `required_episodes`; the message says how many are needed.
        ShapeError: another shape.
        ValueRangeError: a score is not finite, or alpha or the confidence not in (0, 1).
    """
    scores = np.asarray(on_cpu(as_floats(worst_scores, 'worst_scores')[1]), dtype=np.float64)
    if scores.ndim != 1:
        raise ShapeError(f'worst_scores have shape {scores.shape}; (n,) is expected')
    rank = conformal_rank(len(scores), alpha, confidence)
    return float(np.partition(scores, rank - 1)[rank - 1])
