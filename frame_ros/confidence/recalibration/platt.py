# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Platt scaling: a logistic curve over the raw confidence, alone or one per action dimension."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from frame_ros.confidence.recalibration.recalibrator import (
    DIMENSIONS,
    Recalibrator,
    check_both,
    check_varies,
    not_fitted,
    numbers,
)
from frame_ros.confidence.samples import Array, as_confidences, as_given, as_outcomes
from frame_ros.core.errors import CalibrationError, ShapeError

SEPARATED = (
    'the confidences separate failures from successes: maximum likelihood has no finite solution, '
    "so Platt's smoothed targets were fitted"
)
FALLING = 'the curve falls: the larger this confidence, the rarer the success'
_STEPS = 100
_TOLERANCE = 1e-12


def logistic(values: Array) -> Array:
    """1 / (1 + exp(-x)), without overflow."""
    grown = np.exp(-np.abs(values))
    return np.where(values >= 0.0, 1.0, grown) / (1.0 + grown)


def fit_logistic(values: Array, targets: Array) -> tuple[float, float]:
    """Returns slope and intercept of the logistic curve of largest likelihood, by Newton steps.

    Args:
        values: (N,), not all the same.
        targets: (N,) in [0, 1]; the solution is finite, as of smoothed or of overlapping ones.
    """
    # The range, since the squares of a small spread underflow.
    centre, scale = float(values.mean()), float(np.ptp(values))
    rows = np.stack([(values - centre) / scale, np.ones(len(values))])
    found = np.array([0.0, np.log(targets.mean() / (1.0 - targets.mean()))])
    loss = _loss(found, rows, targets)
    for _ in range(_STEPS):
        rate = logistic(found @ rows)
        gradient = rows @ (rate - targets)
        curvature = (rows * (rate * (1.0 - rate))) @ rows.T
        step = np.linalg.lstsq(curvature, gradient, rcond=None)[0]
        shrink = 1.0
        while (new := _loss(found - shrink * step, rows, targets)) > loss and shrink > 1e-10:
            shrink *= 0.5
        found = found - shrink * step
        if np.abs(shrink * step).max() < _TOLERANCE:
            break
        loss = new
    slope = float(found[0]) / scale
    return slope, float(found[1]) - slope * centre


def _loss(found: Array, rows: Array, targets: Array) -> float:
    score = found @ rows
    return float((np.logaddexp(0.0, score) - targets * score).sum())


def is_separated(confidences: Array, outcomes: Array) -> bool:
    """Returns whether a threshold puts all failures on one side; ties at it may be of both."""
    failed, succeeded = confidences[outcomes == 0.0], confidences[outcomes == 1.0]
    return bool(failed.max() <= succeeded.min() or succeeded.max() <= failed.min())


def smoothed(outcomes: Array) -> Array:
    """Platt's targets: (n1 + 1) / (n1 + 2) of n1 successes, 1 / (n0 + 2) of n0 failures."""
    successes = float(outcomes.sum())
    failures = len(outcomes) - successes
    return np.where(outcomes > 0.0, (successes + 1.0) / (successes + 2.0), 1.0 / (failures + 2.0))


class PlattScaling(Recalibrator):
    """g(c) = 1 / (1 + exp(-(alpha c + beta))) by maximum likelihood. VLA calibration, section 3.6.

    Attributes:
        alpha, beta: slope and intercept; NaN before `fit`.
    """

    kind = 'platt'

    def __init__(self) -> None:
        super().__init__()
        self.alpha = self.beta = float('nan')

    def fit(self, confidences: Any, outcomes: Any) -> PlattScaling:
        """Fits slope and intercept to (N,) confidences; errors as of `Recalibrator.fit`."""
        values = as_confidences(confidences)
        targets = as_outcomes(outcomes, len(values))
        check_both(targets)
        check_varies(values)
        self.notes = []
        if is_separated(values, targets):
            self.notes, targets = [SEPARATED], smoothed(targets)
        self.alpha, self.beta = fit_logistic(values, targets)
        if self.alpha < 0.0:
            self.notes.append(FALLING)
        return self

    def predict(self, confidences: Any) -> Array:
        """Returns probabilities of success of (N,) confidences."""
        self._check_fitted()
        return as_given(self.mapped(as_confidences(confidences)), confidences)

    def mapped(self, values: Array, temperatures: Array | None = None) -> Array:
        """Returns probabilities of success of (N,) confidences, unchecked."""
        return logistic(self.alpha * values + self.beta)

    def parameters(self) -> dict[str, Any]:
        """Slope and intercept."""
        self._check_fitted()
        return {'alpha': self.alpha, 'beta': self.beta}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> PlattScaling:
        """Makes one of slope and intercept."""
        made = cls()
        made.alpha = float(numbers(parameters, 'alpha', ()))
        made.beta = float(numbers(parameters, 'beta', ()))
        return made

    def _check_fitted(self) -> None:
        if not np.isfinite(self.alpha):
            raise not_fitted(self.kind)


class ActionWisePlattScaling(Recalibrator):
    """One Platt scaling per action dimension, then their mean. VLA calibration, eq. 3.

    Attributes:
        dimensions: the D fitted curves. A dimension that never varied has none, and is left out of
            the mean; `notes` names it.
    """

    kind = 'action_wise_platt'
    inputs = DIMENSIONS

    def __init__(self) -> None:
        super().__init__()
        self.dimensions: list[PlattScaling | None] = []

    def fit(self, confidences: Any, outcomes: Any) -> ActionWisePlattScaling:
        """Fits one curve to each column of (N, D) confidences; errors as of `Recalibrator.fit`."""
        values = as_confidences(confidences, 'N, D')
        targets = as_outcomes(outcomes, len(values))
        check_both(targets)
        varies = values.min(axis=0) < values.max(axis=0)
        if not varies.any():
            raise CalibrationError(
                f'none of the {len(varies)} action dimensions varies in its confidence'
            )
        self.dimensions = [
            PlattScaling().fit(column, targets) if is_varied else None
            for column, is_varied in zip(values.T, varies)
        ]
        self.notes = [
            f'dimension {number}: {note}'
            for number, each in enumerate(self.dimensions)
            for note in (each.notes if each else ['its confidence never varied; it is left out'])
        ]
        return self

    def predict(self, confidences: Any) -> Array:
        """Returns probabilities of success, (N,), of (N, D) confidences."""
        if not self.dimensions:
            raise not_fitted(self.kind)
        return as_given(self.mapped(as_confidences(confidences, 'N, D')), confidences)

    def mapped(self, values: Array, temperatures: Array | None = None) -> Array:
        """Returns probabilities of success, (N,), of (N, D) confidences, unchecked."""
        if values.shape[1] != len(self.dimensions):
            raise ShapeError(
                f'confidences have {values.shape[1]} dimensions; {len(self.dimensions)} were fitted'
            )
        curves = [(n, each.alpha, each.beta) for n, each in enumerate(self.dimensions) if each]
        places, alpha, beta = zip(*curves)
        kept = values if len(places) == values.shape[1] else values[:, list(places)]
        return logistic(np.array(alpha) * kept + np.array(beta)).mean(axis=1)

    def parameters(self) -> dict[str, Any]:
        """Slope and intercept of each dimension; None of one that is left out."""
        if not self.dimensions:
            raise not_fitted(self.kind)
        return {'dimensions': [each and each.parameters() for each in self.dimensions]}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> ActionWisePlattScaling:
        """Makes one of the slopes and intercepts of its dimensions."""
        made, found = cls(), parameters.get('dimensions')
        if not isinstance(found, list) or not any(found) or not all(map(_is_curve, found)):
            raise CalibrationError("'dimensions' of the recalibrator is no list of curves")
        made.dimensions = [each and PlattScaling.from_parameters(each) for each in found]
        return made


def _is_curve(parameters: Any) -> bool:
    return parameters is None or isinstance(parameters, Mapping)
