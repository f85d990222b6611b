# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Safety as TorchMetrics: collision rate, obstacle proximity, risk factor."""

from __future__ import annotations

from torch import Tensor

from frame_ros.metrics.families.collisions import collision_rate, count_collisions
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


def _rate(flags: Tensor) -> Tensor:
    return collision_rate(count_collisions(flags).to(flags.dtype), flags.shape[-1])


def _steps(flags: Tensor) -> Tensor:
    return flags.new_full(flags.shape[:-1], flags.shape[-1])
