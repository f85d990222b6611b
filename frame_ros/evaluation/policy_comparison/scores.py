# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Scores of a policy: each read from the resampled time-to-success CDFs, or from the outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from frame_ros.evaluation.binary.paired import critical_value
from frame_ros.evaluation.binary.strata import as_one_object
from frame_ros.evaluation.survival.kaplan_meier import COMPLETED, mtbf_a_of, units_per_hour_of
from frame_ros.metrics import wilson_interval

Array = NDArray[np.float64]
# Columns of `curve_statistics`.
RMST, COMPLETION, BEFORE_TAU, MEDIAN, GRID = range(5)
# Trials of an object from which on its rate shows its variance.
FEW = 3


@dataclass(frozen=True)
class Score:
    """A score of a policy on an object.

    Attributes:
        id: in JSON.
        name: in tables.
        unit: SI symbol, '1/h', or '' for a share.
        text: its definition.
        missing: why it can have no value where there are episodes.
    """

    id: str
    name: str
    unit: str
    higher_is_better: bool
    text: str
    missing: str = ''


def time_scores(tau: float, success_times: Sequence[float]) -> list[Score]:
    """Returns the scores of times to success. PhAIL, table 1."""
    at = [
        Score(f'success_at_{t:g}', f'F({t:g} s)', '', True, f'share of operations done by {t:g} s')
        for t in success_times
    ]
    return [
        Score('rmst', 'RMST', 's', False, f'restricted mean time to success up to {tau:g} s'),
        Score('completion', f'F({tau:g} s)', '', True, f'share of operations done by {tau:g} s'),
        Score(
            'median', 'median', 's', False, 'time by which half of the operations are done',
            'less than half of the operations are done',
        ),
        *at,
        Score('uph', 'UPH', '1/h', True, '3600 s / RMST: failures count as the whole horizon'),
        Score(
            'uph_completed', 'UPH of done', '1/h', True,
            f'3600 s / mean time of the operations done before {tau:g} s', 'none was done',
        ),
        Score(
            'mtbf_a', 'MTBF/A', 's', True,
            f'mean time between failures or assists: RMST / (1 - F({tau:g} s))',
            'every operation was done: there is no failure to divide by',
        ),
    ]  # fmt: skip


HUMAN_SCORES = [
    Score('hrt', 'HRT', '', True, 'RMST of the human over that of the policy'),
    Score(
        'auc', 'AUC', '', True,
        'probability that the policy is faster than the human; ties and mass beyond the horizon '
        'count half',
    ),
]  # fmt: skip
SUCCESS = Score('success_rate', 'success', '', True, 'share of episodes that succeeded')
CREDIT = Score(
    'stage_credit', 'stages', '', True, 'mean share of the stages that an episode reached in order'
)
NO_HUMAN = 'there is no episode of a human reference'
NO_HUMAN_HERE = 'the human reference has no episode with times on this object'
NO_TIMES = 'no episode has times of operations'


def time_columns(
    statistics: Array, tau: float, places: Sequence[int], times: Sequence[float]
) -> dict[str, Array]:
    """Returns score id -> (R,) values.

    Args:
        statistics: (R, 4 + K) of `curve_statistics`.
        places: of the success times in its grid.
        times: the success times, s.
    """
    rmst, completion, before = (statistics[:, column] for column in (RMST, COMPLETION, BEFORE_TAU))
    return {
        'rmst': rmst,
        'completion': completion,
        'median': statistics[:, MEDIAN],
        **{f'success_at_{t:g}': statistics[:, GRID + k] for k, t in zip(places, times)},
        'uph': units_per_hour_of(rmst, before, tau),
        'uph_completed': units_per_hour_of(rmst, before, tau, COMPLETED),
        'mtbf_a': mtbf_a_of(rmst, completion),
    }


def macro_interval(
    successes: Sequence[int], trials: Sequence[int], confidence: float = 0.95
) -> tuple[float, float]:
    """Returns the interval of the mean of objects' success rates: the mean of their Wilson
    intervals at the lower confidence at which it is as wide as the standard error of the mean asks
    for. Yan and Su 2010. Of one object it is Wilson's; it is not empty where all rates are 0 or 1.
    If an object has fewer than FEW trials, whose own rate says nothing of its variance, it is
    Wilson's of all trials `as_one_object`.

    successes, trials: of the objects, at least one trial each.
    """
    if min(trials) < FEW:
        shares = [1.0 / len(trials)] * len(trials)
        return wilson_interval(*as_one_object(successes, trials, shares), confidence)
    k, n = np.asarray(successes, np.float64), np.asarray(trials, np.float64)
    variances = k / n * (1.0 - k / n) / n
    if not variances.any():
        variances = 1.0 / n
    share = float(np.sqrt(variances.sum()) / np.sqrt(variances).sum())
    own = 2.0 * NormalDist().cdf(share * critical_value(confidence)) - 1.0
    ends = [wilson_interval(each, of, own) for each, of in zip(successes, trials)]
    lower, upper = np.mean(ends, axis=0).tolist()
    return lower, upper
