# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of an open-loop evaluation, summarised over episodes, joints and steps."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.core.plain_text import counted
from frame_ros.evaluation.open_loop import EpisodeErrors
from frame_ros.evaluation.rollouts import RESAMPLES, Estimate, bootstrapped_mean
from frame_ros.metrics import namse

NAN = math.nan
LEAST_EPISODES = 2
# The percentile bootstrap covers less than nominal with fewer.
MANY_EPISODES = 10


@dataclass(frozen=True)
class JointError:
    """Errors of one joint, over all compared steps."""

    name: str
    root_mean_square: float  # rad or m
    mean_absolute: float  # rad or m
    largest: float  # rad or m
    bias: float  # mean of predicted minus executed
    share: float  # the root mean square over the joint's range; NaN if the range is unknown


@dataclass(frozen=True)
class StepError:
    """Errors of one step of the chunk, over all chunks."""

    step: int
    time: float  # s since the chunk's first step
    mse: float  # summed over joints
    share: float  # the same with every joint over its range
    count: int  # chunks that had it


@dataclass(frozen=True)
class OpenLoopSummary:
    """The summary of an open-loop evaluation.

    Attributes:
        amse, namse: FRAME eq. 4 and 5, an episode being a trajectory, with 95 % percentile
            bootstrap intervals over episodes; NaN bounds with fewer than two.
        amse_share: amse with every joint over its range, dimensionless.
        spread: least and greatest MSE of an episode.
        rows: compared steps.
        left_out: reason -> chunks or steps that were not compared.
        notes: further remarks.
    """

    episodes: tuple[EpisodeErrors, ...] = field(repr=False)
    amse: Estimate
    namse: Estimate
    amse_share: Estimate
    spread: tuple[float, float]
    joints: tuple[JointError, ...]
    steps: tuple[StepError, ...]
    chunks: int
    rows: int
    left_out: Mapping[str, int]
    notes: tuple[str, ...] = ()


def summarise_errors(
    episodes: Sequence[EpisodeErrors],
    joint_limits: Mapping[str, tuple[float, float]] | None = None,
    seed: int = 0,
) -> OpenLoopSummary:
    """Summarises the errors of episodes.

    Args:
        joint_limits: joint -> lower and upper limit, rad or m.
        seed: of the bootstrap.

    Raises:
        ShapeError: no episodes.
        ValueRangeError: they move different joints.
    """
    if not episodes:
        raise ShapeError('there are no episodes; at least one is expected')
    names = episodes[0].names
    for episode in episodes:
        if episode.names != names:
            raise ValueRangeError(
                f'{episode.episode_id} compares the joints {list(episode.names)}, '
                f'{episodes[0].episode_id} {list(names)}; compare them one by one'
            )
    ranges = np.array([_range(name, joint_limits) for name in names])
    error = np.concatenate([e.predicted - e.truth for e in episodes])
    step = np.concatenate([e.step for e in episodes])
    per_episode = np.array([e.mse for e in episodes])
    shares = np.array([_mean_square((e.predicted - e.truth) / ranges) for e in episodes])
    left_out: Counter[str] = Counter()
    for episode in episodes:
        left_out.update(episode.left_out)
    return OpenLoopSummary(
        tuple(episodes),
        _interval(per_episode, seed),
        _namse(episodes, seed),
        _interval(shares, seed),
        (float(per_episode.min()), float(per_episode.max())),
        tuple(_joint_error(name, error[:, i], ranges[i]) for i, name in enumerate(names)),
        _step_errors(error, step, episodes[0].dt, ranges),
        sum(e.chunks for e in episodes),
        len(error),
        dict(left_out),
        _notes(episodes, names, ranges, joint_limits or {}),
    )


def _range(name: str, limits: Mapping[str, tuple[float, float]] | None) -> float:
    lower, upper = (limits or {}).get(name, (NAN, NAN))
    width = upper - lower
    return width if math.isfinite(width) and width > 0 else NAN


def _mean_square(error: NDArray[np.float64]) -> float:
    """Squared error (N, D) summed over joints, the mean over rows."""
    return float((error**2).sum(axis=1).mean())


def _interval(values: NDArray[np.float64], seed: int) -> Estimate:
    found = bootstrapped_mean(values, seed)
    if found.count < LEAST_EPISODES:
        return Estimate(found.value, NAN, NAN, found.count)
    return found


def _namse(episodes: Sequence[EpisodeErrors], seed: int) -> Estimate:
    """NAMSE, with numerator and denominator of the same resampled episodes."""
    value = float(namse((e.truth, e.predicted) for e in episodes))
    count = len(episodes)
    if count < LEAST_EPISODES or not math.isfinite(value):
        return Estimate(value, NAN, NAN, count)
    centre = np.concatenate([e.truth.ravel() for e in episodes]).mean()
    sizes = np.array([e.truth.size for e in episodes], np.float64)
    sums = np.array([(e.truth - centre).sum() for e in episodes])
    squares = np.array([((e.truth - centre) ** 2).sum() for e in episodes])
    errors = np.array([e.mse for e in episodes])
    picks = np.random.default_rng(seed).integers(count, size=(RESAMPLES, count))
    total = sizes[picks].sum(axis=1)
    variance = squares[picks].sum(axis=1) / total - (sums[picks].sum(axis=1) / total) ** 2
    resampled = errors[picks].mean(axis=1)[variance > 0] / variance[variance > 0]
    lower, upper = np.percentile(resampled, (2.5, 97.5))
    return Estimate(value, float(lower), float(upper), count)


def _joint_error(name: str, error: NDArray[np.float64], width: float) -> JointError:
    root = math.sqrt(float((error**2).mean()))
    absolute = np.abs(error)
    return JointError(
        name, root, float(absolute.mean()), float(absolute.max()), float(error.mean()), root / width
    )


def _step_errors(
    error: NDArray[np.float64], step: NDArray[np.intp], dt: float, ranges: NDArray[np.float64]
) -> tuple[StepError, ...]:
    found = []
    for number in np.unique(step).tolist():
        own = error[step == number]
        share = _mean_square(own / ranges)
        found.append(StepError(number, number * dt, _mean_square(own), share, len(own)))
    return tuple(found)


def _notes(
    episodes: Sequence[EpisodeErrors],
    names: tuple[str, ...],
    ranges: NDArray[np.float64],
    limits: Mapping[str, tuple[float, float]],
) -> tuple[str, ...]:
    notes = []
    without = [name for name, width in zip(names, ranges) if not math.isfinite(width)]
    not_shown = 'not shown as a share of the joint range'
    if unknown := [name for name in without if name not in limits]:
        notes.append(
            f'{not_shown}: the limits of {", ".join(unknown)} are not known (name the robot)'
        )
    if endless := [name for name in without if name in limits]:
        notes.append(f'{not_shown}: {", ".join(endless)}, of which the robot has no limits')
    if unmatched := sorted({name for e in episodes for name in e.unmatched}):
        notes.append(f'joints that only one side has, left out: {", ".join(unmatched)}')
    if len(episodes) < LEAST_EPISODES:
        notes.append('one episode has no interval: it takes two or more')
    elif len(episodes) < MANY_EPISODES:
        notes.append(f'intervals over only {counted(len(episodes), "episode")} are too narrow')
    if len({e.dt for e in episodes}) > 1:
        notes.append('the episodes differ in dt: steps are those of the first')
    return tuple(notes)
