# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of predicted actions: MSE, AMSE, NAMSE (FRAME eq. 3-5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from frame_ros.core.errors import ShapeError
from frame_ros.metrics import record
from frame_ros.metrics.arrays import (
    Array,
    as_floats,
    as_sequences,
    check_result,
    check_same_shape,
    flattened,
    inner,
    like,
    pair_of,
    unavailable,
)
from frame_ros.metrics.constants import NAN
from frame_ros.metrics.engine.samples import finite

__all__ = ['AMSE', 'MSE', 'NAMSE', 'amse', 'mse', 'namse']

# Beyond so many last digits the mean of equal numbers is not off.
_ROUNDING = 1e3


def mse(actions: Any, predicted: Any) -> Array:
    """Mean over the steps of the squared error summed over action dimensions. FRAME eq. 3.

    Args:
        actions: (..., T, D) ground truth.
        predicted: (..., T, D).

    Returns:
        (...,) in the action's unit squared.

    Raises:
        ShapeError: shapes differ, or no samples.
        ValueRangeError: a value is not finite.
    """
    xp, truth = as_sequences(actions, 1, 'actions', check=False)
    guess = like(truth, predicted, 'predicted', check=False)
    check_same_shape(truth, guess, ('actions', 'predicted'))
    error = flattened(xp, truth - guess)
    mean = inner(xp, error, error) / truth.shape[-2]
    return check_result(xp, mean, actions=truth, predicted=guess)


def amse(pairs: Iterable[tuple[Any, Any]]) -> Array:
    """Mean of the trajectories' MSE, each trajectory weighing the same. FRAME eq. 4.

    Args:
        pairs: (ground truth, predicted) of each trajectory, (T, D) both; T may differ.

    Raises:
        ShapeError: no trajectory, or shapes differ within a pair.
    """
    errors = [mse(*pair_of(pair, 'pairs', '(T, D) arrays')) for pair in pairs]
    if not errors:
        raise ShapeError('pairs are empty; at least one pair of (T, D) arrays is expected')
    return sum(errors[1:], start=errors[0]) / len(errors)


def namse(pairs: Iterable[tuple[Any, Any]]) -> Array:
    """AMSE over the population variance of all flattened ground-truth entries. FRAME eq. 5.

    Args:
        pairs: (ground truth, predicted) of each trajectory, (T, D) both; T may differ.

    Returns:
        Dimensionless; NaN if the ground truth does not vary.

    Raises:
        ShapeError: no trajectory, or shapes differ within a pair.
    """
    kept = [pair_of(pair, 'pairs', '(T, D) arrays') for pair in pairs]
    error = amse(kept)
    xp, first = as_floats(kept[0][0], 'actions')
    flat = [xp.reshape(like(first, actions, 'actions'), (-1,)) for actions, _ in kept]
    entries = xp.concat(flat) if len(flat) > 1 else flat[0]
    mean = xp.mean(entries)
    centred = entries - mean
    variance = inner(xp, centred, centred) / centred.shape[0]
    # The mean of equal entries is rounded, so their variance need not be 0: one that could be
    # rounding alone shows in the entries.
    rounding = _ROUNDING * xp.finfo(entries.dtype).eps * mean
    is_doubtful = bool(variance <= rounding * rounding)
    if is_doubtful and not (bool(variance > 0) and bool(xp.any(entries != entries[0]))):
        return unavailable(error)
    return error / variance


class MSE:
    """MSE so far, in the action's unit squared. Batch form: `mse`."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self._dimension = 0
        self._total = 0.0
        self._steps = 0

    def update(self, action: Sequence[float], predicted: Sequence[float]) -> None:
        """Takes one step: ground truth and prediction, D values each.

        Raises:
            ShapeError: not as many values in both, or not as many as before.
            ValueRangeError: a value is not finite. Nothing has changed in either case.
        """
        self._take(*self._checked(action, predicted))

    @property
    def value(self) -> float:
        """Mean so far; NaN before the first step."""
        return self._total / self._steps if self._steps else NAN

    def _checked(
        self, action: Sequence[float], predicted: Sequence[float]
    ) -> tuple[list[float], list[float]]:
        truth = finite(action, (self._dimension,) if self._dimension else (), 'action')
        if not truth:
            raise ShapeError('action has 0 values; at least 1 is expected')
        return truth, finite(predicted, (len(truth),), 'predicted')

    def _take(self, truth: list[float], guess: list[float]) -> None:
        self._dimension = len(truth)
        self._total += sum((a - b) * (a - b) for a, b in zip(truth, guess, strict=True))
        self._steps += 1


class AMSE(MSE):
    """AMSE so far: the mean MSE of the trajectories, the one under way included. Batch: `amse`."""

    def reset(self) -> None:
        """Forgets everything."""
        super().reset()
        self._ended = 0.0
        self.trajectories = 0

    def end_trajectory(self) -> None:
        """The next step begins another trajectory. Without a step since the last: no effect."""
        if self._steps:
            self._ended += self._total / self._steps
            self.trajectories += 1
            self._total = 0.0
            self._steps = 0

    @property
    def value(self) -> float:
        """Mean so far, each trajectory weighing the same; NaN before the first step."""
        if not self._steps:
            return self._ended / self.trajectories if self.trajectories else NAN
        return (self._ended + self._total / self._steps) / (self.trajectories + 1)


class NAMSE(AMSE):
    """NAMSE so far: AMSE over the variance of all entries of the ground truth so far. NaN while
    they do not vary. Batch form: `namse`.
    """

    def reset(self) -> None:
        """Forgets everything."""
        super().reset()
        self._count = 0
        self._mean = self._squares = 0.0

    def _take(self, truth: list[float], guess: list[float]) -> None:
        super()._take(truth, guess)
        # Welford: the sum of squared distances to the mean, without subtracting large sums.
        for entry in truth:
            self._count += 1
            change = entry - self._mean
            self._mean += change / self._count
            self._squares += change * (entry - self._mean)

    @property
    def value(self) -> float:
        """AMSE over the population variance, dimensionless."""
        variance = self._squares / self._count if self._count else 0.0
        return super().value / variance if variance > 0.0 else NAN


_error = partial(
    record.Metric, unit='action^2', higher_is_better=False, category='task',
    reasons=(record.NO_TRUTH,),
)  # fmt: skip

ACTION_ERROR = _error(
    id='mse', name='mean squared action error', source='FRAME eq. 3', batch=mse, streaming=MSE,
    torch='MSE',
    formula='MSE = 1/T Σₜ ‖aₜ − âₜ‖²        summed over action dimensions, mean over T steps',
    shows="How far predicted actions are from a demonstrator's, on recorded data, without running "
        'the robot.',
    misleads='A low error does not mean success: small errors add up in closed loop, and where '
        'there are several good ways the mean of them has a low error and fits none. Dimensions '
        'of different units (rad, m, gripper) are added up, so the one with the largest numbers '
        'decides. It grows with the number of dimensions.',
)  # fmt: skip

MEAN_ACTION_ERROR = _error(
    id='amse', name='average mean squared action error', source='FRAME eq. 4', batch=amse,
    streaming=AMSE, torch='AMSE',
    formula='AMSE = 1/K Σₖ MSEₖ             over K trajectories',
    shows='The action error over a data set in which each trajectory weighs the same, long or '
        'short.',
    misleads='As MSE. Short trajectories weigh as much as long ones, so failures cut short can '
        'dominate it. Not comparable between data sets whose actions have other scales: NAMSE is.',
)  # fmt: skip

NORMALISED_ACTION_ERROR = _error(
    id='namse', name='normalised average mean squared action error', unit='1', minimum_samples=2,
    source='FRAME eq. 5', reasons=(record.NO_TRUTH, record.Reason('they do not vary')), batch=namse,
    streaming=NAMSE, torch='NAMSE',
    formula='NAMSE = AMSE / σ²              σ²: population variance of all ground-truth entries',
    shows='The action error relative to how much the ground truth varies: comparable between data '
        'sets. Predicting the overall mean gives about the number of action dimensions.',
    misleads='The variance is taken over all dimensions together, so it mixes units, and one '
        'dimension with a large offset makes the error look small. Data that hardly vary make it '
        'explode.',
)  # fmt: skip
