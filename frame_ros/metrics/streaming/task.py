# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Streaming task performance: success, completion, action error (FRAME eq. 1-5)."""

from __future__ import annotations

from collections.abc import Sequence

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.constants import NAN
from frame_ros.metrics.engine.samples import finite
from frame_ros.metrics.task import wilson_interval


class _Rate:
    """`value`: share of what was achieved; NaN before the first trial. `interval`: its Wilson score
    interval at the `confidence` given.
    """

    def __init__(self, confidence: float = 0.95) -> None:
        """Raises ValueRangeError: confidence is not within (0, 1)."""
        wilson_interval(0, 1, confidence)
        self._confidence = confidence
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self._achieved = self._trials = 0.0

    @property
    def value(self) -> float:
        """The rate so far, in [0, 1]."""
        return self._achieved / self._trials if self._trials else NAN

    @property
    def interval(self) -> tuple[float, float]:
        """Lower and upper end, in [0, 1]; NaN before the first trial."""
        if not self._trials:
            return NAN, NAN
        return wilson_interval(self._achieved, self._trials, self._confidence)


class SuccessRate(_Rate):
    """SR so far, with its Wilson `interval`. Batch forms: `success_rate`, `wilson_interval`."""

    def update(self, success: bool | float) -> None:
        """Takes the outcome of one trial: True or 1, False or 0.

        Raises:
            ValueRangeError: another value. Nothing has changed then.
        """
        if success not in (0, 1):
            raise ValueRangeError(f'success is {success}; 0 or 1 (False or True) is expected')
        self._achieved += float(success)
        self._trials += 1.0


class TaskCompletionRate(_Rate):
    """TCR so far, with its Wilson `interval`. Batch forms: `task_completion_rate`,
    `wilson_interval`, of the sums.
    """

    def update(self, completed: float, total: float = 1) -> None:
        """Takes the completed ones of `total` task chains.

        Raises:
            ValueRangeError: total is not 1 or more, or completed is not within 0 to total. Nothing
                has changed then.
        """
        if not (0 <= completed <= total and 1 <= total < float('inf')):
            raise ValueRangeError(
                f'{completed} completed of {total}; 0 <= completed <= total and total >= 1 '
                f'is expected'
            )
        self._achieved += float(completed)
        self._trials += float(total)


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
