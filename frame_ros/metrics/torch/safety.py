# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Safety as TorchMetrics: collision rate, obstacle proximity, risk factor."""

from __future__ import annotations

from functools import partial
from typing import Any

from torch import Tensor

from frame_ros.metrics.constants import RISK_FLOOR
from frame_ros.metrics.families.collisions import collision_rate, count_collisions
from frame_ros.metrics.families.distances import obstacle_proximity, risk_factor
from frame_ros.metrics.torch.base import MeanMetric
from frame_ros.metrics.torch.padding import by_episode, widened


class CollisionRate(MeanMetric, id='cr'):
    """All collisions over all control steps. FRAME eq. 11.

    A collision is a rising edge of contact that is not expected; the published library counts
    every step in contact.
    """

    def update(self, in_collision: Tensor, mask: Tensor | None = None) -> None:
        """Adds one episode or a batch of them.

        Args:
            in_collision: (..., T) booleans, T >= 1.
            mask: (..., T) booleans or (...,) lengths of padded episodes.

        Raises:
            ShapeError: a scalar, or a mask of another shape. ValueRangeError: no step.
        """
        flags = widened(in_collision).to(self.count.dtype)
        self._add(by_episode(_rate, 1, mask, flags), by_episode(_steps, 1, mask, flags))


class ObstacleProximity(MeanMetric, id='op'):
    """Mean over episodes of the least distance to any obstacle, m. FRAME eq. 12."""

    is_differentiable = True
    plot_lower_bound = None

    def update(self, distances: Tensor, mask: Tensor | None = None) -> None:
        """Adds one episode or a batch of them.

        Args:
            distances: (..., T), m; NaN where nothing was measured, negative in penetration.
            mask: (..., T) booleans or (...,) lengths of padded episodes.

        Raises:
            ShapeError: no samples. ValueRangeError: an infinite distance.
        """
        self._add(by_episode(obstacle_proximity, 1, mask, distances))


class RiskFactor(MeanMetric, id='rf'):
    """Mean over episodes of the mean reciprocal distance to the nearest obstacle. FRAME eq. 13.

    In 1/m. The published library takes the mean over all steps of all episodes.

    Args:
        floor: m; distances are raised to it.
        variant: 'paper'; or 'authors': 1e-6 m is added instead.
    """

    is_differentiable = True

    def __init__(self, floor: float = RISK_FLOOR, variant: str = 'paper', **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.floor, self.variant = floor, variant

    def update(self, distances: Tensor, mask: Tensor | None = None) -> None:
        """Adds one episode or a batch of them; arguments and errors as of `ObstacleProximity`."""
        formula = partial(risk_factor, floor=self.floor, variant=self.variant)
        self._add(by_episode(formula, 1, mask, distances))


def _rate(flags: Tensor) -> Tensor:
    return collision_rate(count_collisions(flags).to(flags.dtype), flags.shape[-1])


def _steps(flags: Tensor) -> Tensor:
    return flags.new_full(flags.shape[:-1], flags.shape[-1])
