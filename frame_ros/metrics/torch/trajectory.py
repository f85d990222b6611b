# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Trajectory quality as TorchMetrics: length, smoothness, curvature change, reference errors.

One episode's value each, then the mean over the episodes.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor

from frame_ros.core.errors import ShapeError
from frame_ros.metrics.families.curvature import count_short_segments, curvature_change
from frame_ros.metrics.families.reference_errors import (
    dtw_distance,
    relative_trajectory_error,
)
from frame_ros.metrics.torch.base import MeanMetric
from frame_ros.metrics.torch.padding import by_episode, widened


class CurvatureChange(MeanMetric, id='cc'):
    """Mean over episodes of the curvature change, 1/m. FRAME eq. 8.

    Args:
        wrap: False leaves turns of headings unwrapped, as the published library does.

    short_segments: how many segments below 1e-6 m were left out.
    """

    is_differentiable = True
    short_segments: Tensor

    def __init__(self, wrap: bool = True, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.wrap = wrap
        self._add_scalar('short_segments')

    def update(
        self,
        positions: Tensor,
        headings: Tensor | None = None,
        orientations: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> None:
        """Adds one episode or a batch of them.

        Args:
            positions: (..., T, 2 or 3), m, T >= 3; T >= 4 without headings and orientations.
            headings: (..., T), rad.
            orientations: (..., T, 4), xyzw.
            mask: (..., T) booleans or (...,) lengths of padded episodes.

        Raises:
            ShapeError: shapes that do not match, or too few samples.
            ValueRangeError: a value is not finite, a zero quaternion, headings and orientations.
        """
        minimum = 4 if headings is None and orientations is None else 3
        formula = partial(curvature_change, wrap=self.wrap)
        self._add(by_episode(formula, minimum, mask, positions, headings, orientations))
        short = by_episode(count_short_segments, 2, mask, positions)
        self.short_segments = self.short_segments + short.nansum().to(self.count)


class RelativeTrajectoryError(MeanMetric, id='rte'):
    """Mean over episodes of the mean difference of the displacements, m. FRAME eq. 10.

    Args:
        delta: samples between both ends of a displacement.
        align: 'none', 'se3' or 'sim3'.
        variant: 'paper', or 'evo': as of `relative_trajectory_error`.
    """

    is_differentiable = True

    def __init__(
        self, delta: int = 1, align: str = 'none', variant: str = 'paper', **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.delta, self.align, self.variant = delta, align, variant

    def update(
        self,
        positions: Tensor,
        reference: Tensor,
        mask: Tensor | None = None,
        orientations: Tensor | None = None,
        reference_orientations: Tensor | None = None,
    ) -> None:
        """Adds one episode or a batch; as of `AbsoluteTrajectoryError`, T > delta.

        orientations, reference_orientations: (..., T, 4), xyzw, for the variant 'evo'; the other
        leaves them to the metrics that share a collection's arguments.
        """
        minimum = self.delta + 1
        turns = (orientations, reference_orientations) if self.variant == 'evo' else (None, None)
        arrays = (positions, reference, *turns)
        self._add(by_episode(self._errors, minimum, mask, *arrays))

    def _errors(
        self, positions: Tensor, reference: Tensor, turns: Tensor | None, wanted: Tensor | None
    ) -> Tensor:
        return relative_trajectory_error(
            positions, reference, self.delta, self.align,
            variant=self.variant, orientations=turns, reference_orientations=wanted,
        )  # fmt: skip


class DTWDistance(MeanMetric, id='dtw'):
    """Mean over episodes of the DTW distance to the reference, m. Needs the extra 'dtw' as well.

    Args:
        window: samples by which a matching may leave the diagonal; None: any.
        normalised: divide by the larger number of samples.
    """

    def __init__(self, window: int | None = None, normalised: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.window, self.normalised = window, normalised

    def update(self, positions: Tensor, reference: Tensor) -> None:
        """Adds one episode or a batch of them.

        Args:
            positions: (..., T, 2 or 3), m, T >= 1.
            reference: (..., S, the same 2 or 3), m, S >= 1.

        Raises:
            ShapeError: other shapes. ValueRangeError: a value is not finite.
            MissingExtraError: dtaidistance is not installed.
        """
        points, wanted = widened(positions), widened(reference)
        if points.ndim < 2 or points.shape[:-2] != wanted.shape[:-2]:
            raise ShapeError(
                f'positions have shape {tuple(points.shape)}, reference {tuple(wanted.shape)}; '
                f'(..., T, D) and (..., S, D) of the same episodes are expected'
            )
        pairs = zip(*(a.reshape(-1, *a.shape[-2:]) for a in (points, wanted)))
        values = [dtw_distance(a, b, self.window, self.normalised) for a, b in pairs]
        self._add(torch.as_tensor(values, dtype=self.dtype, device=self.device))
