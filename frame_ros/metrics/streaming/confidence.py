# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Confidence in an episode so far, inference by inference."""

from __future__ import annotations

from frame_ros.core.errors import ValueRangeError
from frame_ros.metrics.arrays import check_variant
from frame_ros.metrics.constants import NAN
from frame_ros.metrics.engine.samples import RunningMean, WindowMean
from frame_ros.metrics.token_confidence import EPISODE_AGGREGATES, EPISODE_WINDOW


class EpisodeConfidence:
    """h(c_1 ... c_t) of an episode's inferences so far, in [0, 1]; NaN before the first.

    Batch form: `episode_confidence`. aggregate: 'first', 'mean', 'min', 'max' or 'window'.

    Source: VLA calibration, section 3.4.
    """

    def __init__(self, aggregate: str = 'first') -> None:
        check_variant(aggregate, EPISODE_AGGREGATES)
        self._aggregate = aggregate
        self._mean: RunningMean | WindowMean = (
            WindowMean(EPISODE_WINDOW) if aggregate == 'window' else RunningMean()
        )
        self.reset()

    def reset(self) -> None:
        """Starts a new episode."""
        self._value = NAN
        self._mean.reset()

    def update(self, confidence: float) -> None:
        """Takes the confidence of one inference.

        Raises:
            ValueRangeError: it is not in [0, 1]; nothing has changed then.
        """
        if not 0.0 <= confidence <= 1.0:
            raise ValueRangeError(f'confidence is {confidence}; it must lie between 0 and 1')
        self._mean.update(confidence)
        if self._aggregate in ('mean', 'window'):
            self._value = self._mean.value
        elif self._value != self._value:
            self._value = confidence
        elif self._aggregate == 'min':
            self._value = min(self._value, confidence)
        elif self._aggregate == 'max':
            self._value = max(self._value, confidence)

    @property
    def value(self) -> float:
        """The confidence in the episode so far."""
        return self._value
