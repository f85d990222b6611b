# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The optimal trajectory difference as TorchMetrics (VLA-UQ eq. 26-29)."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor

from frame_ros.metrics.families.progress import optimal_trajectory_difference
from frame_ros.metrics.torch.base import MeanMetric
from frame_ros.metrics.torch.padding import by_episode


class OptimalTrajectoryDifference(MeanMetric, id='ot'):
    """Mean over episodes of the mean of q_t over the steps; below 0.5 it came closer.

    An episode that began at its target is unavailable.

    Args:
        second_term: 'object_to_goal' or 'tcp_to_goal'.
    """

    is_differentiable = True

    def __init__(self, second_term: str = 'object_to_goal', **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.second_term = second_term

    def update(
        self,
        positions: Tensor,
        target: Tensor,
        goal: Tensor | None = None,
        grasped: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> None:
        """Adds one episode or a batch of them.

        Args:
            positions: (..., T, 3), m, of the TCP, T >= 2.
            target: (..., T, 3), m, of the object.
            goal: (..., T, 3), m, where it has to go; None for picking.
            grasped: (..., T) booleans; needed with a goal.
            mask: (..., T) booleans or (...,) lengths of padded episodes.

        Raises:
            ShapeError: shapes that do not match, too few samples, goal without grasped.
            ValueRangeError: a value is not finite, or an unknown second term.
        """
        formula = partial(_mean_of_steps, self.second_term)
        self._add(by_episode(formula, 2, mask, positions, target, goal, grasped))


def _mean_of_steps(
    second_term: str, tcp: Tensor, target: Tensor, goal: Tensor | None, grasped: Tensor | None
) -> Tensor:
    steps = optimal_trajectory_difference(tcp, target, goal, grasped, second_term)
    return torch.mean(steps[..., 1:], dim=-1)
