# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recalibration by bins of equal mass: histogram binning and Platt binning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from frame_ros.confidence.calibration import BINS
from frame_ros.confidence.recalibration.platt import PlattScaling
from frame_ros.confidence.recalibration.recalibrator import (
    Recalibrator,
    check_both,
    check_probabilities,
    check_varies,
    not_fitted,
    numbers,
)
from frame_ros.confidence.samples import Array, as_confidences, as_given, as_outcomes
from frame_ros.confidence.weighted_samples import WeightedSamples
from frame_ros.core.errors import CalibrationError
from frame_ros.metrics.arrays import checked_count


class _Binned(Recalibrator):
    """A step function over bins that are closed above.

    Attributes:
        upper: (M,) upper edges, the last 1.
        values: (M,) the value of each bin.
    """

    def __init__(self, bins: int = BINS) -> None:
        """Raises ValueRangeError for fewer than 1 bin."""
        super().__init__()
        self._bins = checked_count(bins, 'bins', 1)
        self.upper: Array = np.empty(0)
        self.values: Array = np.empty(0)

    def _cut(self, scores: Array, targets: Array) -> None:
        """Sets the edges, and the mean of the targets in each bin as its value."""
        found = WeightedSamples(scores, np.zeros(len(scores))).bins(self._bins)
        self.upper = found.upper[0][found.weight[0] > 0.0]
        self.upper[-1] = 1.0
        places = np.searchsorted(self.upper, scores)
        sums = np.bincount(places, weights=targets, minlength=len(self.upper))
        self.values = sums / np.bincount(places, minlength=len(self.upper))

    def _look_up(self, scores: Array) -> Array:
        return self.values[np.searchsorted(self.upper, scores)]

    def _table(self) -> dict[str, Any]:
        if not len(self.upper):
            raise not_fitted(self.kind)
        return {'upper': self.upper.tolist(), 'values': self.values.tolist()}

    def _set_table(self, parameters: Mapping[str, Any]) -> None:
        self.upper = numbers(parameters, 'upper', (None,))
        self.values = numbers(parameters, 'values', (len(self.upper),))
        check_probabilities(self.values)
        if (np.diff(self.upper) <= 0.0).any() or self.upper[-1] != 1.0:
            raise CalibrationError("'upper' of the recalibrator does not increase up to 1")


class HistogramBinning(_Binned):
    """The success rate of the bin that a confidence lies in (Zadrozny and Elkan 2001).

    Bins are of equal mass, cut as for the ECE.
    """

    kind = 'histogram_binning'

    def fit(self, confidences: Any, outcomes: Any) -> HistogramBinning:
        """Cuts (N,) confidences; errors as of `Recalibrator.fit`."""
        scores = as_confidences(confidences)
        targets = as_outcomes(outcomes, len(scores))
        check_both(targets)
        check_varies(scores)
        self._cut(scores, targets)
        return self

    def predict(self, confidences: Any) -> Array:
        """Returns probabilities of success of (N,) confidences."""
        self._table()
        return as_given(self.mapped(as_confidences(confidences)), confidences)

    def mapped(self, values: Array, temperatures: Array | None = None) -> Array:
        """Returns probabilities of success of (N,) confidences, unchecked."""
        return self._look_up(values)

    def parameters(self) -> dict[str, Any]:
        """Edges and success rates."""
        return self._table()

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> HistogramBinning:
        """Makes one of edges and success rates."""
        made = cls()
        made._set_table(parameters)
        return made


class PlattBinning(_Binned):
    """Platt scaling, then the mean scaled confidence of the bin (Kumar et al. 2019)."""

    kind = 'platt_binning'

    def __init__(self, bins: int = BINS) -> None:
        super().__init__(bins)
        self._platt = PlattScaling()

    def fit(self, confidences: Any, outcomes: Any) -> PlattBinning:
        """Scales and cuts (N,) confidences; errors as of `Recalibrator.fit`."""
        self._platt.fit(confidences, outcomes)
        self.notes = list(self._platt.notes)
        scaled = self._platt.mapped(as_confidences(confidences))
        self._cut(scaled, scaled)
        return self

    def predict(self, confidences: Any) -> Array:
        """Returns probabilities of success of (N,) confidences."""
        self._table()
        return as_given(self.mapped(as_confidences(confidences)), confidences)

    def mapped(self, values: Array, temperatures: Array | None = None) -> Array:
        """Returns probabilities of success of (N,) confidences, unchecked."""
        return self._look_up(self._platt.mapped(values))

    def parameters(self) -> dict[str, Any]:
        """Slope, intercept, edges and values."""
        table = self._table()
        return {**self._platt.parameters(), **table}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> PlattBinning:
        """Makes one of slope, intercept, edges and values."""
        made = cls()
        made._platt = PlattScaling.from_parameters(parameters)
        made._set_table(parameters)
        return made
