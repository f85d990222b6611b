# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Temperature scaling: confidence from flattened or sharpened distributions over tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from frame_ros.confidence.recalibration.recalibrator import (
    DIMENSION_TEMPERATURES,
    TEMPERATURES,
    Recalibrator,
    check_both,
    not_fitted,
    numbers,
)
from frame_ros.confidence.samples import Array, as_confidences, as_given, as_outcomes
from frame_ros.confidence.weighted_samples import CLIP
from frame_ros.core.errors import CalibrationError, ShapeError, ValueRangeError
from frame_ros.metrics.arrays import as_floats, on_cpu

# Temperatures that are tried on logits, before the best of them is refined.
SCANNED: Array = np.geomspace(0.05, 20.0, 61).astype(np.float64)
AT_END = 'the best temperature, {:g}, is the end of the range that was tried'

# Temperature -> confidences (N,).
Curve = Callable[[float], Array]


def curve_of_logits(logits: Any) -> Curve:
    """The mean over tokens of the largest probability, at any temperature.

    Args:
        logits: (N, TN, V); tokens that are NaN throughout are padding.

    Raises:
        ShapeError: another shape.
        ValueRangeError: an inference has no token, or a token is NaN in part.
    """
    array = np.asarray(on_cpu(as_floats(logits, 'logits', allow_nan=True)[1]), dtype=np.float64)
    if array.ndim != 3 or not array.size:
        raise ShapeError(f'logits have shape {array.shape}; (N, TN, V) is expected, not empty')
    _check_padding(array)
    below = array - array.max(axis=-1, keepdims=True)
    return lambda temperature: np.nanmean(1.0 / np.exp(below / temperature).sum(axis=-1), axis=1)


def curve_of_grid(largest: Any, temperatures: Any) -> Curve:
    """The mean over tokens of the largest probability, between the temperatures of a grid.

    It is interpolated linearly over the logarithm of the temperature.

    Args:
        largest: (N, TN, K) `token_max_at_temperature` of N inferences; NaN pads tokens.
        temperatures: (K,) `temperatures`, increasing.

    Raises:
        ShapeError: other shapes.
        ValueRangeError: a probability is not in [0, 1], an inference has no token, a token is NaN
            in part, or the grid does not increase from above 0.
    """
    grid = checked_grid(temperatures)
    array = np.asarray(on_cpu(as_floats(largest, 'probabilities', allow_nan=True)[1]), np.float64)
    if array.ndim != 3 or not array.size or array.shape[-1] != len(grid):
        raise ShapeError(
            f'probabilities have shape {array.shape}; (N, TN, {len(grid)}), a value per token and '
            'temperature, is expected'
        )
    _check_padding(array)
    means = as_confidences(np.nanmean(array, axis=1), 'N, K')
    return lambda temperature: between(means[:, None], grid, np.array([temperature]))[:, 0]


def between(means: Array, grid: Array, temperatures: Array) -> Array:
    """Returns confidences (N, D), each at a temperature of its own.

    Args:
        means: (N, D, K) confidence at each temperature of a grid.
        grid: (K,), increasing from above 0; beyond its ends, the values there hold.
        temperatures: (D,).
    """
    if len(grid) == 1:
        return means[..., 0]
    logarithms = np.log(grid)
    place = np.minimum(np.maximum(np.log(temperatures), logarithms[0]), logarithms[-1])
    upper = np.minimum(np.maximum(logarithms.searchsorted(place), 1), len(grid) - 1)
    below, row = logarithms[upper - 1], np.arange(len(upper))
    share = (place - below) / (logarithms[upper] - below)
    return (1.0 - share) * means[:, row, upper - 1] + share * means[:, row, upper]


def _check_padding(array: Array) -> None:
    """Raises ValueRangeError unless each inference has a token, and each token all its values."""
    is_missing = np.isnan(array)
    is_padding = np.all(is_missing, axis=-1)
    if (np.any(is_missing, axis=-1) & ~is_padding).any():
        raise ValueRangeError('a token is NaN in part; all of it, or nothing, is expected to be')
    if len(empty := np.flatnonzero(np.all(is_padding, axis=-1))):
        raise ValueRangeError(f'inference {empty[0]} has no token: all of it is NaN')


def checked_grid(temperatures: Any) -> Array:
    """Returns the temperatures (K,); raises ValueRangeError unless they increase from above 0."""
    grid = np.asarray(on_cpu(as_floats(temperatures, 'temperatures')[1]), dtype=np.float64)
    if grid.ndim != 1 or not len(grid) or grid[0] <= 0.0 or (np.diff(grid) <= 0.0).any():
        raise ValueRangeError('temperatures must increase from above 0: 0.5, 1, 2')
    return grid


def best_temperature(curve: Curve, outcomes: Array, tried: Array) -> float:
    """Returns the temperature of least negative log-likelihood within those tried.

    Raises:
        CalibrationError: the confidences are the same at all of them.
    """
    from scipy.optimize import minimize_scalar

    def loss(logarithm: float) -> float:
        found = curve(float(np.exp(logarithm)))
        chance = np.where(outcomes > 0.0, found, 1.0 - found)
        return float(-np.log(np.maximum(chance, CLIP)).mean())

    logarithms = np.log(tried)
    losses = [loss(each) for each in logarithms]
    if len(tried) > 1 and max(losses) == min(losses):
        raise CalibrationError(
            'the confidences are the same at every temperature: nothing can be fitted; use another '
            'recalibrator'
        )
    best = int(np.argmin(losses))
    low, high = logarithms[max(best - 1, 0)], logarithms[min(best + 1, len(tried) - 1)]
    if low == high:
        return float(tried[best])
    found = minimize_scalar(loss, bounds=(low, high), method='bounded', options={'xatol': 1e-8})
    return float(np.exp(found.x)) if found.fun < losses[best] else float(tried[best])


class TemperatureScaling(Recalibrator):
    """Confidence at the temperature that fits the outcomes best (Guo et al. 2017).

    It takes logits (N, TN, V); or, with `temperatures` (K,), the largest probability of each token
    at each of them, (N, TN, K), as PolicyInference has it.

    Attributes:
        temperature: NaN before `fit`; above 1 the policy is too sure.
    """

    kind = 'temperature'
    inputs = TEMPERATURES

    def __init__(self) -> None:
        super().__init__()
        self.temperature = float('nan')

    def fit(self, confidences: Any, outcomes: Any, temperatures: Any = None) -> TemperatureScaling:
        """Finds the temperature; errors as of `Recalibrator.fit`."""
        curve, tried = _curve(confidences, temperatures)
        targets = as_outcomes(outcomes, len(curve(1.0)))
        check_both(targets)
        self.temperature = best_temperature(curve, targets, tried)
        is_end = self.temperature in (tried[0], tried[-1])
        self.notes = [AT_END.format(self.temperature)] if is_end else []
        return self

    def predict(self, confidences: Any, temperatures: Any = None) -> Array:
        """Returns confidences (N,) at the fitted temperature."""
        self.parameters()
        found = _curve(confidences, temperatures)[0](self.temperature)
        return as_given(found, confidences)

    def mapped(self, values: Array, temperatures: Array | None = None) -> Array:
        """Returns confidences (N,) at the fitted temperature, of (N, K), unchecked."""
        assert temperatures is not None
        return between(values[:, None], temperatures, np.array([self.temperature]))[:, 0]

    def parameters(self) -> dict[str, Any]:
        """The temperature."""
        if not np.isfinite(self.temperature):
            raise not_fitted(self.kind)
        return {'temperature': self.temperature}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> TemperatureScaling:
        """Makes one of a temperature."""
        made = cls()
        made.temperature = float(_positive(parameters, 'temperature', ()))
        return made


class ActionWiseTemperatureScaling(Recalibrator):
    """One temperature per action dimension, then the mean. VLA calibration, section 3.6.

    It takes, with `temperatures` (K,), the largest probability of each dimension at each of them,
    (N, D, K): the mean over the dimension's tokens.

    Attributes:
        dimensions: (D,) temperatures; empty before `fit`.
    """

    kind = 'action_wise_temperature'
    inputs = DIMENSION_TEMPERATURES

    def __init__(self) -> None:
        super().__init__()
        self.dimensions: Array = np.empty(0)

    def fit(
        self, confidences: Any, outcomes: Any, temperatures: Any = None
    ) -> ActionWiseTemperatureScaling:
        """Finds the temperatures; errors as of `Recalibrator.fit`."""
        curves, tried = self._curves(confidences, temperatures)
        targets = as_outcomes(outcomes, len(curves[0](1.0)))
        check_both(targets)
        self.dimensions = np.array([best_temperature(each, targets, tried) for each in curves])
        self.notes = [
            f'dimension {number}: {AT_END.format(found)}'
            for number, found in enumerate(self.dimensions)
            if found in (tried[0], tried[-1])
        ]
        return self

    def predict(self, confidences: Any, temperatures: Any = None) -> Array:
        """Returns confidences (N,) at the fitted temperatures."""
        self.parameters()
        curves, _ = self._curves(confidences, temperatures)
        self._check_dimensions(len(curves))
        each = [curve(float(found)) for curve, found in zip(curves, self.dimensions)]
        return as_given(np.mean(each, axis=0), confidences)

    def mapped(self, values: Array, temperatures: Array | None = None) -> Array:
        """Returns confidences (N,) at the fitted temperatures, of (N, D, K), unchecked."""
        assert temperatures is not None
        self._check_dimensions(values.shape[1])
        return between(values, temperatures, self.dimensions).mean(axis=1)

    def _check_dimensions(self, count: int) -> None:
        if count != len(self.dimensions):
            raise ShapeError(f'there are {count} dimensions; {len(self.dimensions)} were fitted')

    @staticmethod
    def _curves(confidences: Any, temperatures: Any) -> tuple[list[Curve], Array]:
        array = np.asarray(on_cpu(as_floats(confidences, 'probabilities', allow_nan=True)[1]))
        if array.ndim != 3 or not array.size:
            raise ShapeError(f'probabilities have shape {array.shape}; (N, D, K) is expected')
        curves = [_curve(array[:, [d]], temperatures) for d in range(array.shape[1])]
        return [curve for curve, _ in curves], curves[0][1]

    def parameters(self) -> dict[str, Any]:
        """The temperatures."""
        if not len(self.dimensions):
            raise not_fitted(self.kind)
        return {'dimensions': self.dimensions.tolist()}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> ActionWiseTemperatureScaling:
        """Makes one of temperatures."""
        made = cls()
        made.dimensions = _positive(parameters, 'dimensions', (None,))
        return made


def _curve(values: Any, temperatures: Any) -> tuple[Curve, Array]:
    if temperatures is None:
        return curve_of_logits(values), SCANNED
    return curve_of_grid(values, temperatures), checked_grid(temperatures)


def _positive(parameters: Mapping[str, Any], name: str, shape: tuple[int | None, ...]) -> Array:
    found = numbers(parameters, name, shape)
    if (found <= 0.0).any():
        raise CalibrationError(f'{name!r} of the recalibrator is not above 0')
    return found
