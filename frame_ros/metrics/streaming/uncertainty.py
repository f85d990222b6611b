# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Streaming uncertainty of inferences: tokens, sampled actions, chunks (VLA-UQ eq. 7-15).

A sample is one inference. Each token metric has two doors: the full probabilities, or the per-token
statistics of a PolicyInference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import isfinite, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import Array, check_variant
from frame_ros.metrics.constants import NAN, WINDOW
from frame_ros.metrics.engine.samples import RunningMean, StepValue, finite
from frame_ros.metrics.uncertainty import (
    deepgini,
    prediction_confidence_uncertainty,
    token_entropy,
    token_probability_uncertainty,
)


class _TokenUncertainty(StepValue):
    """`step`: the newest inference; `value`: mean over the last 8; `mean`: over all so far."""

    _batch: Callable[..., Array]

    def __init__(
        self, normalised: bool = False, variant: str = 'paper', window: int = WINDOW
    ) -> None:
        """`normalised`, `variant`: as of the batch form. Raises ValueRangeError: an unknown one."""
        check_variant(variant, ('paper', 'authors'))
        self._normalised = normalised or variant == 'authors'
        super().__init__(0, window)

    def update(self, p: Any) -> None:
        """Takes the probabilities (TN, V) of one inference.

        Raises:
            ShapeError: another shape, no token, fewer than 2 classes.
            ValueRangeError: p are no probabilities. Nothing has changed in either case.
        """
        value = type(self)._batch(p, normalised=self._normalised)
        if value.ndim:
            raise ShapeError(f'p hold {tuple(value.shape)} inferences; one, (TN, V), is expected')
        self._add(float(value))

    def _maximum(self, vocabulary_size: int | None, of: Callable[[int], float]) -> float:
        """What a value is divided by."""
        if not self._normalised:
            return 1.0
        if vocabulary_size is None or vocabulary_size < 2:
            raise ValueRangeError(
                f'vocabulary_size is {vocabulary_size}; 2 or more is expected to normalise by'
            )
        return of(vocabulary_size)


class TokenProbabilityUncertainty(_TokenUncertainty):
    """TB-TP of inferences: `step`, `value` (window), `mean`. Batch:
    `token_probability_uncertainty`.
    """

    _batch = token_probability_uncertainty

    def update_statistics(
        self, max_probability: Sequence[float], vocabulary_size: int | None = None
    ) -> None:
        """Takes the largest probability of each of TN tokens; V where the value is normalised.

        Raises:
            ShapeError: no token.
            ValueRangeError: a value is not finite, or V is needed and below 2. Nothing has changed
                in either case.
        """
        mean = _token_mean(max_probability, 'max_probability')
        self._add((1.0 - mean) / self._maximum(vocabulary_size, gini_maximum))


class PredictionConfidenceUncertainty(_TokenUncertainty):
    """TB-PCS of inferences: `step`, `value` (window), `mean`. Batch:
    `prediction_confidence_uncertainty`.
    """

    _batch = prediction_confidence_uncertainty

    def update_statistics(
        self, max_probability: Sequence[float], second_probability: Sequence[float]
    ) -> None:
        """Takes the largest and the second largest probability of each of TN tokens.

        Raises:
            ShapeError: no token, or not as many of both.
            ValueRangeError: a value is not finite. Nothing has changed in either case.
        """
        largest = _token_mean(max_probability, 'max_probability')
        finite(second_probability, (len(max_probability),), 'second_probability')
        self._add(1.0 - (largest - _token_mean(second_probability, 'second_probability')))


class DeepGini(_TokenUncertainty):
    """TB-D of inferences: `step`, `value` (window), `mean`. Batch form: `deepgini`."""

    _batch = deepgini

    def update_statistics(
        self, sum_of_squares: Sequence[float], vocabulary_size: int | None = None
    ) -> None:
        """Takes the sum of squared probabilities of each of TN tokens; V where normalised.

        Errors: see `TokenProbabilityUncertainty`.
        """
        mean = _token_mean(sum_of_squares, 'sum_of_squares')
        self._add((1.0 - mean) / self._maximum(vocabulary_size, gini_maximum))


class TokenEntropy(_TokenUncertainty):
    """TB-E of inferences, nats: `step`, `value` (window), `mean`. Batch form: `token_entropy`."""

    _batch = token_entropy

    def update_statistics(
        self, entropy: Sequence[float], vocabulary_size: int | None = None
    ) -> None:
        """Takes the entropy (nats) of each of TN tokens; V where the value is normalised.

        Errors: see `TokenProbabilityUncertainty`.
        """
        mean = _token_mean(entropy, 'entropy')
        self._add(mean / self._maximum(vocabulary_size, log))


class ExecutionVariability(StepValue):
    """EV of inferences, unit of the action: `step`, `value` (window), `mean`. Batch form:
    `execution_variability`, of chunks its mean over their steps.
    """

    def __init__(self, window: int = WINDOW) -> None:
        super().__init__(0, window)

    def update(self, samples: Any) -> None:
        """Takes N >= 2 actions (N, D), or chunks of H actions (N, H, D), of one inference.

        Raises:
            ShapeError: another shape, or fewer than 2 samples.
            ValueRangeError: a value is not finite. Nothing has changed in either case.
        """
        array = np.asarray(samples, dtype=np.float64)
        if array.ndim not in (2, 3) or array.shape[0] < 2 or not array.size:
            raise ShapeError(
                f'samples have shape {array.shape}; (N, D) or (N, H, D), N >= 2, is expected'
            )
        flat = array.reshape(len(array), -1)
        weights = _weights(len(flat))
        mean = weights.dot(flat)
        _check_finite(mean, array, 'samples')
        centred = flat - mean
        centred *= centred
        deviations = weights.dot(centred)
        np.sqrt(deviations, deviations)
        self._add(float(_weights(len(deviations)).dot(deviations)))


class ChunkOverlapDisagreement:
    """Mean absolute difference of a chunk of actions from the one before, unit of the action.

    `value`: of the newest two over the steps that both predict, NaN if there is none or no chunk
    before; `mean`: over all so far; `gaps`: how often there was no chunk before but the first.
    Batch form: `chunk_overlap_disagreement`.
    """

    def __init__(self) -> None:
        self._mean = RunningMean()
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self._mean.reset()
        self._last: Any = None
        self.value = NAN
        self.gaps = 0

    def reset_differences(self) -> None:
        """After a gap: the next chunk is compared with none before it."""
        self.gaps += self._last is not None
        self._last = None
        self.value = NAN

    @property
    def mean(self) -> float:
        """Mean over all pairs so far."""
        return self._mean.value

    def update(self, chunk: Any, shift: int = 0) -> None:
        """Takes a chunk (H, D), which begins `shift` steps after the one before it (at first 0).

        Raises:
            ShapeError: not (H, D), or another D than before.
            ValueRangeError: a value is not finite, or a negative shift. Nothing has changed in
                either case.
        """
        new = np.array(chunk, dtype=np.float64)
        last = self._last
        if new.ndim != 2 or not new.size or (last is not None and new.shape[1] != last.shape[1]):
            raise ShapeError(
                f'chunk has shape {new.shape}, the one before '
                f'{None if last is None else last.shape}; (H, D) both is expected'
            )
        if shift < 0:
            raise ValueRangeError(f'shift is {shift}; 0 steps or more is expected')
        _check_finite(new.ravel(), new, 'chunk')
        self._last, self.value = new, NAN
        steps = 0 if last is None else min(len(new), len(last) - shift)
        if steps > 0:
            apart = np.abs(new[:steps] - last[shift : shift + steps]).ravel()
            self.value = float(_weights(len(apart)).dot(apart))
            self._mean.update(self.value)


def gini_maximum(classes: int) -> float:
    """The largest TB-TP and TB-D of distributions over so many classes."""
    return 1.0 - 1.0 / classes


@lru_cache(maxsize=64)
def _weights(count: int) -> NDArray[np.float64]:
    """Those of a mean of `count` values: one product is a fifth of the work of numpy's own mean."""
    return np.full(count, 1.0 / count)


def _check_finite(summary: NDArray[np.float64], values: NDArray[np.float64], name: str) -> None:
    """Raises ValueRangeError unless `values` are finite; a `summary` (K,) of them mostly tells."""
    if not isfinite(summary.dot(summary)) and not np.isfinite(values).all():
        raise ValueRangeError(f'{name} hold values that are not finite')


def _token_mean(values: Sequence[float], name: str) -> float:
    numbers = finite(values, (), name)
    if not numbers:
        raise ShapeError(f'{name} has no values; one of each token is expected')
    return sum(numbers) / len(numbers)
