# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Instability of actions and of the TCP as TorchMetrics (VLA-UQ).

An episode's value is the mean over its steps; then the mean over the episodes. Static episodes,
whose TCP stays within a threshold of where it began, are counted (`static`) and left out (finding
9).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.constants import STATIC_THRESHOLD
from frame_ros.metrics.families.executed_actions import action_instability
from frame_ros.metrics.families.jerk import rms_jerk
from frame_ros.metrics.families.path import is_static
from frame_ros.metrics.families.tcp_motion import tcp_instability
from frame_ros.metrics.step_differences import check_order
from frame_ros.metrics.torch.base import MeanMetric
from frame_ros.metrics.torch.padding import by_episode


class InstabilityMetric(MeanMetric):
    """Mean over the episodes that are not static."""

    is_differentiable = True
    static: Tensor

    def __init__(self, static_threshold: float | None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.static_threshold = static_threshold
        self._add_scalar('static')

    def _add_moving(
        self, values: Tensor, minimum: int, mask: Tensor | None, positions: Tensor | None
    ) -> None:
        """Adds the values of the episodes that moved; of all, if that is not known."""
        if self.static_threshold is None or positions is None:
            self._add(values)
            return
        guard = partial(is_static, threshold=self.static_threshold)
        static = by_episode(guard, minimum, mask, positions) == 1
        if static.shape != values.shape:
            raise ShapeError(
                f'positions are of {tuple(static.shape)} episodes, the actions of '
                f'{tuple(values.shape)}; the same are expected'
            )
        self._add(values[~static])
        self.static = self.static + static.sum().to(self.count)


class DifferenceMetric(InstabilityMetric):
    """Mean over the steps of an n-th difference; `ids`: of n = 1, 2, 3."""

    ids: tuple[str, str, str]

    def __init__(
        self, order: int, variant: str, static_threshold: float | None, **kwargs: Any
    ) -> None:
        check_order(order)
        super().__init__(static_threshold, **kwargs)
        self._rename(self.ids[order - 1])
        self.order, self.variant = order, variant

    def _add_steps(
        self, formula: Any, mask: Tensor | None, positions: Tensor | None, *arrays: Any
    ) -> None:
        """Adds what the formula gives a step; its first `order` have no value ('authors': 0)."""
        first, minimum = self.order if self.variant == 'paper' else 0, self.order + 1
        values = by_episode(
            lambda *parts: torch.mean(formula(*parts)[..., first:], dim=-1), minimum, mask, *arrays
        )
        self._add_moving(values, minimum, mask, positions)


class ActionInstability(DifferenceMetric, id='a_pi'):
    """Mean absolute n-th difference of the actions: a_pi, a_vi, a_ai. VLA-UQ eq. 2, 4, 6.

    Args:
        order: 1 (A-PI), 2 (A-VI) or 3 (A-AI).
        bounds: (lower, upper), each (D,) or a scalar: actions are normalised to [0, 1] by them.
            None: raw, in the action's unit.
        variant: 'paper' or 'authors'.
        static_threshold: m; None: static episodes count as well.

    Raises:
        ValueRangeError: another order.
    """

    ids = ('a_pi', 'a_vi', 'a_ai')

    def __init__(
        self,
        order: int,
        bounds: Any = None,
        variant: str = 'paper',
        static_threshold: float | None = STATIC_THRESHOLD,
        **kwargs: Any,
    ) -> None:
        super().__init__(order, variant, static_threshold, **kwargs)
        self.unit = self.unit if bounds is not None else 'action'
        self.bounds = bounds

    def update(
        self, actions: Tensor, positions: Tensor | None = None, mask: Tensor | None = None
    ) -> None:
        """Adds one episode or a batch of them.

        Args:
            actions: (..., T, D), T > order.
            positions: (..., T, 2 or 3), m, of the TCP: shows which episodes are static. None: none
                is known to be.
            mask: (..., T) booleans or (...,) lengths of padded episodes.

        Raises:
            ShapeError: another shape, too few samples, bounds of another dimension.
            ValueRangeError: a value is not finite, lower not below upper, an unknown variant.
        """
        formula = partial(
            action_instability, order=self.order, bounds=self.bounds, variant=self.variant
        )
        self._add_steps(formula, mask, positions, actions)


class TCPInstability(DifferenceMetric, id='tcp_pi'):
    """Norm of the n-th difference of the TCP position: tcp_pi, tcp_vi, tcp_ai. VLA-UQ eq. 17-21.

    Args:
        order: 1 (TCP-PI), 2 (TCP-VI) or 3 (TCP-AI).
        rates: divide by the time, m/s^order; needs dt. False: m per step, whatever dt.
        dt: s between samples, for updates that give none.
        variant: 'paper' or 'authors'.
        static_threshold: m; None: static episodes count as well.

    Raises:
        ValueRangeError: another order.
    """

    ids = ('tcp_pi', 'tcp_vi', 'tcp_ai')

    def __init__(
        self,
        order: int,
        rates: bool = False,
        dt: float | None = None,
        variant: str = 'paper',
        static_threshold: float | None = STATIC_THRESHOLD,
        **kwargs: Any,
    ) -> None:
        super().__init__(order, variant, static_threshold, **kwargs)
        if rates:
            self.unit = ('m/s', 'm/s^2', 'm/s^3')[order - 1]
        self.rates, self.dt = rates, dt

    def update(
        self, positions: Tensor, dt: Tensor | float | None = None, mask: Tensor | None = None
    ) -> None:
        """Adds one episode or a batch of them.

        Args:
            positions: (..., T, 2 or 3), m, T > order.
            dt: s between samples, a scalar or (..., T - 1); only rates look at it.
            mask: (..., T) booleans or (...,) lengths of padded episodes.

        Raises:
            ShapeError: another shape, or too few samples.
            ValueRangeError: a value is not finite, dt is missing or not positive.
        """
        spacing = _spacing(dt, self.dt, self.id) if self.rates else None
        formula = partial(tcp_instability, order=self.order, variant=self.variant)
        self._add_steps(
            lambda points, dt: formula(points, dt=dt), mask, positions, positions, spacing
        )


class RMSJerk(InstabilityMetric, id='ti'):
    """Root of the mean squared jerk, m/s^3. VLA-UQ eq. 25.

    Args:
        dt: s between samples, for updates that give none.
        variant: 'paper'; or 'authors', m per step cubed, which looks at no dt.
        static_threshold: m; None: static episodes count as well.
    """

    def __init__(
        self,
        dt: float | None = None,
        variant: str = 'paper',
        static_threshold: float | None = STATIC_THRESHOLD,
        **kwargs: Any,
    ) -> None:
        super().__init__(static_threshold, **kwargs)
        self.dt, self.variant = dt, variant
        if variant != 'paper':
            self.unit = 'm'

    def update(
        self, positions: Tensor, dt: Tensor | float | None = None, mask: Tensor | None = None
    ) -> None:
        """Adds one episode or a batch; as of `TCPInstability`, T >= 4."""
        spacing = 1.0 if self.variant == 'authors' else _spacing(dt, self.dt, self.id)
        formula = partial(rms_jerk, variant=self.variant)
        self._add_moving(by_episode(formula, 4, mask, positions, spacing), 4, mask, positions)


def _spacing(given: Any, default: float | None, id: str) -> Any:
    if given is None and default is None:
        raise ValueRangeError(f'{id} has no dt; give it to the constructor or to update, in s')
    return default if given is None else given
