# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Uncertainty of inferences as TorchMetrics: the mean over all inferences of all updates."""

from __future__ import annotations

import torch
from torch import Tensor

from frame_ros.metrics.families.chunks import chunk_overlap_disagreement
from frame_ros.metrics.torch.base import MeanMetric
from frame_ros.metrics.torch.padding import widened


class ChunkOverlapDisagreement(MeanMetric, id='chunk_overlap'):
    """Mean absolute difference of two chunks over the steps that both predict."""

    is_differentiable = True

    def update(self, chunk: Tensor, last: Tensor, shift: int) -> None:
        """Adds one pair of chunks or a batch of them; pairs without a common step are unavailable.

        Args:
            chunk: (..., H, D), the newer chunks.
            last: (..., H', D), the chunks before them.
            shift: steps from the beginning of `last` to the beginning of `chunk`, 0 or more.

        Raises:
            ShapeError: not (..., H, D) both with one D.
            ValueRangeError: a value is not finite, or a negative shift.
        """
        new, old = widened(chunk), widened(last)
        if new.ndim < 3 or new.shape[:-2] != old.shape[:-2]:
            self._add(chunk_overlap_disagreement(new, old, shift))
            return
        pairs = zip(new.flatten(0, -3), old.flatten(0, -3))
        self._add(torch.stack([chunk_overlap_disagreement(a, b, shift) for a, b in pairs]))
