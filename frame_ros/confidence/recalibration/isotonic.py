# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Isotonic recalibration: the best curve that never falls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from frame_ros.confidence.recalibration.recalibrator import (
    Recalibrator,
    check_both,
    check_probabilities,
    check_varies,
    not_fitted,
    numbers,
)
from frame_ros.confidence.samples import Array, as_confidences, as_given, as_outcomes
from frame_ros.core.errors import CalibrationError


class IsotonicScaling(Recalibrator):
    """The increasing map of least squared error (Zadrozny and Elkan 2002).

    Between the fitted points it is linear, beyond them constant.

    Attributes:
        points: (K,) confidences, increasing.
        values: (K,) probabilities there, not decreasing.
    """

    kind = 'isotonic'

    def __init__(self) -> None:
        super().__init__()
        self.points: Array = np.empty(0)
        self.values: Array = np.empty(0)

    def fit(self, confidences: Any, outcomes: Any) -> IsotonicScaling:
        """Fits the curve to (N,) confidences; errors as of `Recalibrator.fit`."""
        # Loaded where it is needed: scipy.optimize takes a while.
        from scipy.optimize import isotonic_regression

        scores = as_confidences(confidences)
        targets = as_outcomes(outcomes, len(scores))
        check_both(targets)
        check_varies(scores)
        points, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
        means = np.bincount(places, weights=targets) / counts
        fitted = isotonic_regression(means, weights=counts).x
        # The ends of each level hold all that linear interpolation needs.
        is_end = np.ones(len(points), dtype=bool)
        is_end[1:-1] = (np.diff(fitted)[:-1] != 0.0) | (np.diff(fitted)[1:] != 0.0)
        self.points, self.values = points[is_end], np.clip(fitted[is_end], 0.0, 1.0)
        return self

    def predict(self, confidences: Any) -> Array:
        """Returns probabilities of success of (N,) confidences."""
        self.parameters()
        return as_given(self.mapped(as_confidences(confidences)), confidences)

    def mapped(self, values: Array, temperatures: Array | None = None) -> Array:
        """Returns probabilities of success of (N,) confidences, unchecked."""
        return np.interp(values, self.points, self.values)

    def parameters(self) -> dict[str, Any]:
        """The points and their probabilities."""
        if not len(self.points):
            raise not_fitted(self.kind)
        return {'points': self.points.tolist(), 'values': self.values.tolist()}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> IsotonicScaling:
        """Makes one of points and probabilities."""
        made = cls()
        made.points = numbers(parameters, 'points', (None,))
        made.values = numbers(parameters, 'values', (len(made.points),))
        check_probabilities(made.values)
        if (np.diff(made.points) <= 0.0).any() or (np.diff(made.values) < 0.0).any():
            raise CalibrationError('the points of the recalibrator do not increase')
        return made
