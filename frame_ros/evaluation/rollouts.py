# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Summary of a policy's episodes: success with its interval, and each metric's mean.

For a training loop that evaluates a checkpoint, or a comparison of two policies over one set of
scenes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError
from frame_ros.episodes.episode import Episode
from frame_ros.metrics import REGISTRY, wilson_interval
from frame_ros.metrics.arrays import are_equal
from frame_ros.metrics.record import OURS

NAN = math.nan
# The papers' metrics whose value an episode's summary holds.
METRICS = tuple(
    id
    for id, each in REGISTRY.items()
    if each.messages and each.source != OURS and not each.of_moments
)
RESAMPLES = 1000


@dataclass(frozen=True)
class Estimate:
    """A mean over episodes."""

    value: float
    lower: float  # its 95 % interval; NaN: none
    upper: float  # its 95 % interval; NaN: none
    count: int  # episodes that had a value


@dataclass(frozen=True)
class RolloutSummary:
    """Episodes of one policy.

    Attributes:
        success_rate: with its Wilson interval.
        static: episodes in which the TCP stood still; their instability is left out.
        metrics: id -> mean with its percentile bootstrap interval over episodes; NaN where no
            episode had a value.
        per_episode: id -> (episodes,) values.
    """

    episodes: int
    successes: int
    static: int
    success_rate: Estimate
    metrics: dict[str, Estimate]
    per_episode: dict[str, NDArray[np.float64]] = field(repr=False)

    def scalars(self) -> dict[str, float]:
        """Returns values for a logger of a training run: 'sr', 'sr_lower', 'sr_upper', 'ps', ...;
        unavailable metrics are left out.
        """
        rate = self.success_rate
        values = {'sr': rate.value, 'sr_lower': rate.lower, 'sr_upper': rate.upper}
        values.update({name: estimate.value for name, estimate in self.metrics.items()})
        return {name: value for name, value in values.items() if math.isfinite(value)}


def summarise_rollouts(episodes: Sequence[Episode], seed: int = 0) -> RolloutSummary:
    """Summarises processed episodes. seed: of the bootstrap.

    Raises:
        ShapeError: no episodes.
    """
    if not episodes:
        raise ShapeError('there are no episodes; at least one is expected')
    rows = [episode_metrics(episode) for episode in episodes]
    successes = sum(episode.is_success for episode in episodes)
    static = [episode.is_static for episode in episodes]
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    for name in METRICS:
        if not REGISTRY[name].counts_when_static:
            columns[name] = np.where(static, NAN, columns[name])
    lower, upper = wilson_interval(successes, len(episodes))
    return RolloutSummary(
        len(episodes),
        successes,
        sum(static),
        Estimate(successes / len(episodes), float(lower), float(upper), len(episodes)),
        {name: bootstrapped_mean(values, seed) for name, values in columns.items()},
        columns,
    )


def episode_metrics(episode: Episode) -> dict[str, float]:
    """Returns one processed episode's metrics by id; NaN if unavailable. 'time': to success, s."""
    values = {name: episode.value(name) for name in METRICS}
    known = {name: NAN if value is None else value for name, value in values.items()}
    return {**known, 'time': float(episode.summary['time_to_success'])}


def bootstrapped_mean(values: NDArray[np.float64], seed: int = 0) -> Estimate:
    """Returns the mean of the finite values (N,), with its 95 % bootstrap interval; without one
    where they are fewer than two, or all the same: resamples of them would all agree.
    """
    finite = values[np.isfinite(values)]
    if not len(finite):
        return Estimate(NAN, NAN, NAN, 0)
    if are_equal(finite):
        return Estimate(float(finite.mean()), NAN, NAN, len(finite))
    picks = np.random.default_rng(seed).integers(len(finite), size=(RESAMPLES, len(finite)))
    lower, upper = np.percentile(finite[picks].mean(axis=1), (2.5, 97.5))
    return Estimate(float(finite.mean()), float(lower), float(upper), len(finite))
