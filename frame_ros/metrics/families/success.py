# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Success and completion of tasks, with their intervals (FRAME eq. 1, 2)."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist
from typing import Any

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.core.plain_text import counted
from frame_ros.metrics import record
from frame_ros.metrics.arrays import (
    Array,
    as_floats,
    as_numbers,
    check_scalar_or_same,
    count_true,
    like,
)
from frame_ros.metrics.constants import NAN

__all__ = [
    'SuccessRate', 'TaskCompletionRate', 'success_rate', 'task_completion_rate', 'wilson_interval',
]  # fmt: skip


def success_rate(successes: Any) -> Array:
    """Share of trials that succeeded, in [0, 1]. FRAME eq. 1.

    Args:
        successes: (..., N) booleans, or 0 and 1.

    Returns:
        (...,) shares.

    Raises:
        ShapeError: no trial.
        ValueRangeError: a value is neither 0 nor 1.
    """
    xp, values = as_numbers(successes, 'successes')
    if values.ndim < 1 or values.shape[-1] < 1:
        raise ShapeError(
            f'successes have shape {tuple(values.shape)}; '
            f'(..., N) with at least 1 trial is expected'
        )
    if values.dtype != xp.bool and not bool(xp.all((values == 0) | (values == 1))):
        raise ValueRangeError('successes hold other values than 0 and 1 (False and True)')
    dtype = values.dtype if xp.isdtype(values.dtype, 'real floating') else xp.float64
    return xp.astype(xp.asarray(count_true(xp, values)), dtype)[()] / values.shape[-1]


def task_completion_rate(completed: Any, total: Any) -> Array:
    """Completed tasks over task chains, in [0, 1]. FRAME eq. 2.

    Args:
        completed: number of completed tasks, scalar or (...,).
        total: number of task chains, scalar or the same shape.

    Raises:
        ShapeError: two shapes, neither of them a scalar's.
        ValueRangeError: total is not positive, or completed is not within 0 to total.
    """
    xp, done = as_floats(completed, 'completed')
    of = like(done, total, 'total')
    check_scalar_or_same(done, of, ('completed', 'total'))
    if bool(xp.any(of <= 0)) or bool(xp.any(done < 0)) or bool(xp.any(done > of)):
        raise ValueRangeError(
            f'{completed} completed of {total}; 0 <= completed <= total and total > 0 is expected'
        )
    return (done / of)[()]


def wilson_interval(
    successes: float, trials: float, confidence: float = 0.95
) -> tuple[float, float]:
    """Wilson score interval of a rate.

    Args:
        successes: number of successes.
        trials: number of trials, at least 1.
        confidence: two-sided coverage, in (0, 1).

    Returns:
        Lower and upper end, in [0, 1].

    Raises:
        ValueRangeError: no trials, more successes than trials, confidence outside (0, 1).
    """
    if not trials >= 1 or not 0 <= successes <= trials:
        raise ValueRangeError(
            f'{counted(successes, "success")} in {counted(trials, "trial")}; '
            '0 <= successes <= trials and trials >= 1 is expected'
        )
    if not 0.0 < confidence < 1.0:
        raise ValueRangeError(f'confidence is {confidence}; a value between 0 and 1 is expected')
    n = float(trials)
    rate = float(successes) / n
    z = NormalDist().inv_cdf(0.5 + 0.5 * confidence)
    centre = rate + z * z / (2.0 * n)
    half = z * sqrt(rate * (1.0 - rate) / n + z * z / (4.0 * n * n))
    scale = 1.0 + z * z / n
    # The ends are exactly 0 and 1 when nothing or everything succeeded.
    low = 0.0 if successes == 0 else max(0.0, (centre - half) / scale)
    high = 1.0 if successes == trials else min(1.0, (centre + half) / scale)
    return low, high


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


SUCCESS_RATE = record.Metric(
    id='sr', name='success rate', unit='1', higher_is_better=True, source='FRAME eq. 1',
    category='task', reasons=(record.Reason('no episode with a known outcome'),),
    batch=success_rate, streaming=SuccessRate, torch='SuccessRate', axis=1,
    formula='SR = successful episodes / episodes with a known outcome',
    shows='Whether the task gets done at all. It is the first number to look at, and it needs '
        'many episodes: reports always show the 95 % Wilson interval with it.',
    misleads='With few episodes the interval is wide: 4 of 5 is compatible with anything from 38 '
        '% to 96 %. Success by luck, by force or after long wandering counts like a clean one, '
        'and what counts as success is decided by whoever ends the episode. Timeouts and stops '
        'count as trials that did not succeed; episodes without an outcome do not count.',
)  # fmt: skip

TASK_COMPLETION_RATE = record.Metric(
    id='tcr', name='task completion rate', unit='1', higher_is_better=True, source='FRAME eq. 2',
    category='task', reasons=(record.Reason('no task chain'),), batch=task_completion_rate,
    streaming=TaskCompletionRate, torch='TaskCompletionRate',
    formula='TCR = completed task chains / task chains',
    shows='How often a chain of several tasks is completed as a whole.',
    misleads='A chain that fails at its last step counts like one that never began. Where an '
        'episode has one task it equals SR. As a rate it needs its Wilson interval.',
)  # fmt: skip
