# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The objective of a search for scenes that break a policy: failures first, then successes of low
quality, and of failures those unlike the ones before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import attrs
import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ValueRangeError
from frame_ros.evaluation.scene_trials.result import TrialResult
from frame_ros.evaluation.scene_trials.search.search_options import QUALITY
from frame_ros.evaluation.statistics.ranks import average_ranks
from frame_ros.metrics.registry import metric
from frame_ros.scenes.description.scene import Scene
from frame_ros.scenes.search.space import Cell

LEAST_FAILURE = 0.5  # score that all failures are above, and all successes below
LAST_STEP = 0.5  # share of the rest that a failure at the last step has

Array = NDArray[np.float64]


@attrs.frozen
class TriedScene:
    """A scene and what became of it.

    Attributes:
        scene: as it was run.
        cell: of the operators' coverage grid.
        results: one for each repeat.
    """

    scene: Scene
    cell: Cell
    results: tuple[TrialResult, ...]

    @property
    def valid(self) -> tuple[TrialResult, ...]:
        """The results that count."""
        return tuple(each for each in self.results if each.is_valid)

    def is_failure(self, rule: str = 'paper') -> bool:
        """Returns whether more than half of the trials that count failed; False if none counts."""
        failed = sum(not each.is_success(rule) for each in self.valid)
        return 2 * failed > len(self.valid)


def check_metrics(metrics: Sequence[str]) -> None:
    """Raises ValueRangeError where an id is that of no metric, or of one without a direction."""
    for name in metrics:
        if metric(name).higher_is_better is None:
            raise ValueRangeError(
                f'the metric {name} has no direction; one by which higher or lower is better is '
                'expected'
            )


def scores(
    tried: Sequence[TriedScene], metrics: Sequence[str] = QUALITY, rule: str = 'paper'
) -> Array:
    """(N,) scores, 0 to 1, of scenes in the order in which they were tried; NaN where no trial
    counts. The higher, the more the policy breaks.

    A success has less than LEAST_FAILURE: the mean over the metrics of the rank of its value among
    all successes so far, the worst highest. A failure has more: most if no step was reached and it
    is unlike all before. That part of its score is divided by one more than the number of failures
    before it that share the pair of bins which most of them share, as failures of one cause do. A
    scene that was run several times has the mean of its trials.

    Raises:
        ValueRangeError: as `check_metrics`.
    """
    check_metrics(metrics)
    trials = [each for scene in tried for each in scene.valid]
    owners = [index for index, scene in enumerate(tried) for _ in scene.valid]
    single = _trial_scores(trials, metrics, rule)
    found = np.full(len(tried), np.nan)
    shared = Counter[Cell]()
    for index, scene in enumerate(tried):
        own = single[[i for i, owner in enumerate(owners) if owner == index]]
        if not own.size:
            continue
        found[index] = own.mean()
        if scene.is_failure(rule):
            pairs: list[Cell] = list(combinations(scene.cell, 2)) or [scene.cell]
            before = max(shared[pair] for pair in pairs)
            shared.update(pairs)
            found[index] = LEAST_FAILURE + (found[index] - LEAST_FAILURE) / (1 + before)
    return found


def _trial_scores(trials: Sequence[TrialResult], metrics: Sequence[str], rule: str) -> Array:
    """(N,) scores of trials that count."""
    success = np.array([each.is_success(rule) for each in trials], dtype=bool)
    values = np.array([[t.metrics.get(name, np.nan) for name in metrics] for t in trials])
    values = values.reshape(len(trials), len(metrics))
    found = np.zeros(len(trials))
    found[success] = LEAST_FAILURE * _badness(values[success], metrics)
    for index in np.flatnonzero(~success):
        severity = 1 - (1 - LAST_STEP) * _progress(trials[index], rule)
        found[index] = LEAST_FAILURE + (1 - LEAST_FAILURE) * severity
    return found


def _progress(trial: TrialResult, rule: str) -> float:
    """The share, 0 to 1, of the steps before success that a failed trial reached."""
    steps = {n: done for n, done in trial.steps.get(rule, {}).items() if n != 'success'}
    return sum(steps.values()) / len(steps) if steps else 0.0


def _badness(values: Array, metrics: Sequence[str]) -> Array:
    """(N,) mean rank, above 0 and below 1, of (N, M) values; 0.5 where no value is available."""
    ranks = np.full(values.shape, np.nan)
    for column, name in enumerate(metrics):
        known = np.isfinite(values[:, column])
        if not known.any():
            continue
        sign = -1.0 if metric(name).higher_is_better else 1.0
        ranks[known, column] = (average_ranks(sign * values[known, column]) - 0.5) / known.sum()
    count = np.isfinite(ranks).sum(axis=1)
    total = np.nansum(ranks, axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), 0.5)
