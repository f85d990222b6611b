# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Uncertainty of inferences as TorchMetrics: the mean over all inferences of all updates."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor

from frame_ros.metrics.families.chunks import chunk_overlap_disagreement
from frame_ros.metrics.families.sampled_actions import execution_variability
from frame_ros.metrics.families.token_uncertainty import (
    deepgini,
    prediction_confidence_uncertainty,
    token_entropy,
    token_probability_uncertainty,
)
from frame_ros.metrics.torch.base import MeanMetric
from frame_ros.metrics.torch.padding import by_episode, widened


class TokenMetric(MeanMetric):
    """A metric of token probabilities.

    Args:
        normalised: divide by the maximum for V classes.
        variant: 'paper'; or 'authors': normalised, as their code reports it.
    """

    is_differentiable = True
    _formula: ClassVar[Callable[..., Tensor]]

    def __init__(self, normalised: bool = False, variant: str = 'paper', **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.normalised, self.variant = normalised, variant
        if normalised or variant == 'authors':
            self.unit = '1'

    def update(self, p: Tensor, token_mask: Tensor | None = None) -> None:
        """Adds one inference or a batch of them.

        Args:
            p: (..., TN, V) probabilities of the V classes of each of TN tokens.
            token_mask: (..., TN) booleans or (...,) numbers of tokens, where TN is padded.

        Raises:
            ShapeError: another shape, no token, fewer than 2 classes.
            ValueRangeError: p are no probabilities that add up to 1, or an unknown variant.
        """
        formula = partial(type(self)._formula, normalised=self.normalised, variant=self.variant)
        self._add(by_episode(formula, 1, token_mask, p))


class TokenProbabilityUncertainty(TokenMetric, id='tb_tp'):
    """TB-TP: 1 - mean over tokens of the largest probability. VLA-UQ eq. 8."""

    plot_upper_bound = 1.0
    _formula = staticmethod(token_probability_uncertainty)


class PredictionConfidenceUncertainty(TokenMetric, id='tb_pcs'):
    """TB-PCS: 1 - mean over tokens of the lead of the largest probability. VLA-UQ eq. 10."""

    plot_upper_bound = 1.0
    _formula = staticmethod(prediction_confidence_uncertainty)


class DeepGini(TokenMetric, id='tb_d'):
    """TB-D: mean over tokens of 1 - sum of squared probabilities. VLA-UQ eq. 12."""

    plot_upper_bound = 1.0
    _formula = staticmethod(deepgini)


class TokenEntropy(TokenMetric, id='tb_e'):
    """TB-E: mean over tokens of the entropy, nats. VLA-UQ eq. 14."""

    _formula = staticmethod(token_entropy)


class ExecutionVariability(MeanMetric, id='ev'):
    """Mean over dimensions of the standard deviation over samples. VLA-UQ eq. 15."""

    is_differentiable = True

    def update(self, samples: Tensor, sample_mask: Tensor | None = None) -> None:
        """Adds one inference or a batch of them.

        Args:
            samples: (..., N, D): N actions inferred from one observation, N >= 2.
            sample_mask: (..., N) booleans or (...,) numbers of samples, where N is padded.

        Raises:
            ShapeError: another shape, or fewer than 2 samples.
            ValueRangeError: a value is not finite.
        """
        self._add(by_episode(execution_variability, 2, sample_mask, samples))


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
