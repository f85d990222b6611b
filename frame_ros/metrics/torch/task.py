# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Task performance as TorchMetrics: success, completion, action error."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from frame_ros.metrics.families.action_error import mse
from frame_ros.metrics.families.success import success_rate, task_completion_rate, wilson_interval
from frame_ros.metrics.torch.base import MeanMetric
from frame_ros.metrics.torch.padding import by_episode, step_mask, widened


class RateMetric(MeanMetric):
    """A share of trials, with its Wilson interval."""

    plot_upper_bound = 1.0

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Wilson interval of the rate over the trials of all processes; NaN, NaN without any."""
        with self.sync_context(
            dist_sync_fn=self.dist_sync_fn,
            should_sync=self._to_sync,
            should_unsync=self._should_unsync,
        ):
            done, trials = float(self.total), float(self.count)
        if not trials:
            return torch.nan, torch.nan
        # The sum of shares times trials is a whole number but for rounding.
        return wilson_interval(min(round(done), trials), trials, confidence)


class SuccessRate(RateMetric, id='sr'):
    """Share of trials that succeeded, over all trials of all updates. FRAME eq. 1."""

    def update(self, successes: Tensor) -> None:
        """Adds trials: successes of any shape, booleans or 0 and 1.

        Raises:
            ShapeError: no trial. ValueRangeError: a value is neither 0 nor 1.
        """
        flags = _as_states(successes, self.count).reshape(-1)
        self._add(success_rate(flags), torch.full_like(flags[:1], flags.shape[0]))


class TaskCompletionRate(RateMetric, id='tcr'):
    """Completed tasks over task chains, over all updates. FRAME eq. 2."""

    def update(self, completed: Tensor | float, total: Tensor | float = 1) -> None:
        """Adds the completed ones of `total` task chains, scalars or (...,) both.

        Raises:
            ValueRangeError: total is not positive, or completed is not within 0 to total.
        """
        done, chains = _as_states(completed, self.count), _as_states(total, self.count)
        done, chains = torch.broadcast_tensors(done, chains)
        self._add(task_completion_rate(done, chains), chains)


class MSE(MeanMetric, id='mse'):
    """Squared action error summed over the dimensions, mean over all steps of all updates.

    FRAME eq. 3 over the steps of all trajectories together, in the action's unit squared. The
    published library's ActionAccuracy calls the mean over trajectories (`AMSE`) its mse too.
    """

    is_differentiable = True

    def update(self, actions: Tensor, predicted: Tensor, mask: Tensor | None = None) -> None:
        """Adds one trajectory or a batch of them.

        Args:
            actions: (..., T, D) ground truth.
            predicted: (..., T, D).
            mask: (..., T) booleans or (...,) lengths of padded trajectories.

        Raises:
            ShapeError: shapes differ, or no samples. ValueRangeError: a value is not finite.
        """
        errors = by_episode(mse, 1, mask, actions, predicted)
        self._add(errors, by_episode(_steps, 1, mask, actions))


class AMSE(MeanMetric, id='amse'):
    """Mean of the trajectories' MSE, each weighing the same. FRAME eq. 4, ActionAccuracy's amse."""

    is_differentiable = True

    def update(self, actions: Tensor, predicted: Tensor, mask: Tensor | None = None) -> None:
        """Adds one trajectory or a batch of them; arguments and errors as of `MSE`."""
        self._add(by_episode(mse, 1, mask, actions, predicted))


class NAMSE(AMSE, id='namse'):
    """AMSE over the population variance of all flattened ground-truth entries. FRAME eq. 5.

    ActionAccuracy's namse. NaN if the ground truth does not vary.
    """

    moments: Tensor

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.add_state('moments', torch.zeros(3, dtype=torch.float64), dist_reduce_fx=merge_moments)

    def update(self, actions: Tensor, predicted: Tensor, mask: Tensor | None = None) -> None:
        """Adds one trajectory or a batch of them; arguments and errors as of `MSE`."""
        super().update(actions, predicted, mask)
        truth = widened(actions)
        entries = (truth if mask is None else truth[step_mask(mask, truth)]).reshape(-1)
        entries = entries.to(self.moments)
        if not entries.shape[0]:
            return
        # From the first entry: what does not vary has then a spread of exactly 0.
        shifted = entries - entries[0]
        offset = shifted.mean()
        spread = ((shifted - offset) ** 2).sum()
        count = torch.full_like(offset, entries.shape[0])
        self.moments = merge_moments(
            torch.stack([self.moments, torch.stack([count, entries[0] + offset, spread])])
        )

    def compute(self) -> Tensor:
        """The value, a scalar."""
        variance = self.moments[2] / self.moments[0].clamp(min=1.0)
        varies = variance > 0
        return torch.where(
            varies, super().compute() / torch.where(varies, variance, 1.0), torch.nan
        )


def merge_moments(parts: Tensor) -> Tensor:
    """Count, mean and sum of squared deviations of parts together: (K, 3) -> (3,)."""
    counts, means, spreads = parts.unbind(dim=-1)
    count = counts.sum()
    # From the mean of the largest part: equal means merge to exactly that mean.
    anchor = means[counts.argmax()]
    mean = anchor + (counts * (means - anchor)).sum() / count.clamp(min=1.0)
    return torch.stack([count, mean, (spreads + counts * (means - mean) ** 2).sum()])


def _steps(actions: Tensor) -> Tensor:
    """Number of steps of each trajectory, (..., T, D) -> (...,)."""
    return actions.new_full(actions.shape[:-2], actions.shape[-2])


def _as_states(values: Any, states: Tensor) -> Tensor:
    """Numbers and booleans as a tensor of the type and device of the states."""
    return torch.as_tensor(values, dtype=states.dtype, device=states.device)
