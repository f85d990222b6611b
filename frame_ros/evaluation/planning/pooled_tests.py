# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""P-values of many trials of two arms at once, all by pooled resampling of whole episodes, or by
permutations of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from frame_ros.evaluation.survival.macro_ks import resampled_p
from frame_ros.evaluation.survival.pool import WORKERS, Draws, Pool, arm_statistics

Array = NDArray[np.float64]
KS, RMST = 'macro-KS', 'RMST'
# Most numbers of episodes that are drawn at once.
BLOCK = 8_000_000


def success_name(threshold: float) -> str:
    """Returns the name of the test of success within so many seconds."""
    return f'success at {threshold:.12g} s'


def trial_p_values(
    pools: Mapping[str, Pool],
    first: Mapping[str, Draws],
    second: Mapping[str, Draws],
    tau: float,
    thresholds: Sequence[float],
    resamples: int,
    random: np.random.Generator,
    workers: int = WORKERS,
    has_replacement: bool = True,
) -> dict[str, Array]:
    """Tests both arms of every trial by macro-KS, by the macro-averaged difference of RMST, and by
    that of success at thresholds. PhAIL, sections 3.3 and 5.2.

    Of each trial the episodes of both arms are pooled by object, and arms of the same numbers of
    episodes drawn from them with replacement, or without: the episodes are permuted, as
    `frame-ros compare` does. p = (1 + count) / (resamples + 1), where count is of resamples whose
    statistic, without its sign, is not smaller.

    Args:
        pools: object -> its operations.
        first, second: object -> (T, n) and (T, m) numbers of episodes in the arms of each trial.
        tau: s, of KS and RMST.
        thresholds: s.
        resamples: of each trial.
        has_replacement: of the draws from the pool.

    Returns:
        Name of the test -> (T,) p-values.

    Raises:
        ShapeError, ValueRangeError: as `arm_statistics`.
    """
    trials = len(next(iter(first.values())))
    drawn = resamples * sum(first[name].shape[1] + second[name].shape[1] for name in pools)
    rows = max(1, BLOCK // drawn)
    found = [
        _block_p_values(
            pools,
            {name: first[name][begin : begin + rows] for name in pools},
            {name: second[name][begin : begin + rows] for name in pools},
            (tau, thresholds, resamples, workers),
            random,
            has_replacement,
        )
        for begin in range(0, trials, rows)
    ]
    return {name: np.concatenate([each[name] for each in found]) for name in found[0]}


def _block_p_values(
    pools: Mapping[str, Pool],
    first: Mapping[str, Draws],
    second: Mapping[str, Draws],
    settings: tuple[float, Sequence[float], int, int],
    random: np.random.Generator,
    has_replacement: bool,
) -> dict[str, Array]:
    tau, thresholds, resamples, workers = settings
    observed: dict[str, Array] = {}
    null: dict[str, Array] = {}
    for name, pool in pools.items():
        size = first[name].shape[1]
        joined = np.concatenate([first[name], second[name]], axis=1)
        shape = len(joined), resamples, joined.shape[1]
        if has_replacement:
            places = random.integers(joined.shape[1], size=shape, dtype=np.int32)
        else:
            order = np.arange(joined.shape[1], dtype=np.int32)
            places = random.permuted(np.broadcast_to(order, shape), axis=2)
        drawn = np.take_along_axis(joined[:, None, :], places, axis=2).reshape(-1, joined.shape[1])
        arms = [(first[name], second[name], observed), (drawn[:, :size], drawn[:, size:], null)]
        for a, b, sums in arms:
            for test, values in _statistics(pool, a, b, tau, thresholds, workers).items():
                sums[test] = sums.get(test, 0.0) + values
    trials_first = -1, resamples
    return {
        test: np.asarray(resampled_p(np.abs(values), np.abs(null[test]).reshape(trials_first)))
        for test, values in observed.items()
    }


def _statistics(
    pool: Pool, a: Draws, b: Draws, tau: float, thresholds: Sequence[float], workers: int
) -> dict[str, Array]:
    whole = arm_statistics(pool, a, b, tau, workers)
    found = {KS: whole.ks, RMST: whole.rmst_difference}
    for threshold in thresholds:
        until = arm_statistics(pool, a, b, threshold, workers)
        found[success_name(threshold)] = until.completion_difference
    return found
