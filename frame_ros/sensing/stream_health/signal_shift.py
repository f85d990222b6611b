# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The shift at which a measured signal fits a predicted one best, where a part of it may be of
something else.

Both agree up to a gain and a constant of each channel, but for the moments in which something
touches the robot. Those stand out of what the best fit leaves over. They are left out, and the rest
is fitted again, until the same stays: least trimmed squares (Rousseeuw and Leroy, Robust Regression
and Outlier Detection, 1987) with a limit in place of a share.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
EDGE = 4  # grid points from the largest shifts: what lies there may lie beyond
LEAST_ENERGY = 1e-12  # of a prediction that changes, and as a share of what it has at most
STANDS_OUT = 8.0  # times the median of what is left over, beyond which something else is looked for
LIMIT = 5.0  # likewise, beyond which it is left out then
ROUNDS = 10
EXACT = 1e-6  # of the measured signal: what fits as well as that fits exactly
LEAST_SHARE = 0.5  # of the signal that must stay


class Shift(NamedTuple):
    """A fit.

    Attributes:
        later: grid points by which the measured signal comes later.
        deviation: likewise, its standard deviation.
        correlation: of both signals.
    """

    later: float
    deviation: float
    correlation: float


class _Fit(NamedTuple):
    """correlations: (2 lags + 1,). centred: (K, n), the prediction at the best of them, without its
    mean. gain: of it. residual: (K, n).
    """

    correlations: Array
    best: int
    centred: Array
    gain: float
    residual: Array


def best_shift(
    predicted: Array, seen: Array, lags: int, has_known_sign: bool, margin: int
) -> Shift | None:
    """Returns the best shift of at most `lags` grid points; None if the signals do not show it.

    Args:
        predicted: (K, n + 2 lags).
        seen: (K, n).
        lags: grid points.
        has_known_sign: whether the measured signal grows with the predicted one.
        margin: grid points on both sides of what stands out that are left out with it.
    """
    size = seen.shape[1]
    weights: Array = np.ones(size)
    fit = _fitted(predicted, seen, weights, has_known_sign)
    for _ in range(ROUNDS):
        if fit is None:
            return None
        # A mean goes with what stands out, a median stays.
        usual = np.median(fit.residual[:, weights > 0.0], axis=1, keepdims=True)
        left = np.linalg.norm(fit.residual - usual, axis=0)
        median = max(float(np.median(left[weights > 0.0])), EXACT * float(np.ptp(seen)))
        if weights.all() and left.max() <= STANDS_OUT * median:
            break
        is_out = np.convolve(left > LIMIT * median, np.ones(2 * margin + 1), 'same') > 0.5
        if np.count_nonzero(is_out) > (1.0 - LEAST_SHARE) * size:
            return None
        if np.array_equal(is_out, weights == 0.0):
            break
        weights = np.where(is_out, 0.0, 1.0)
        fit = _fitted(predicted, seen, weights, has_known_sign)
    return None if fit is None else _shift_of(fit, weights, lags)


def _fitted(predicted: Array, seen: Array, weights: Array, has_known_sign: bool) -> _Fit | None:
    total_weight = float(weights.sum())
    # Sums of what is near 0 lose no digits.
    predicted = predicted - predicted.mean(axis=1, keepdims=True)
    seen = seen - (seen @ weights)[:, None] / total_weight
    weighted = seen * weights
    pairs = zip(predicted, weighted, strict=True)
    products = np.add.reduce([np.correlate(each, other, 'valid') for each, other in pairs])
    squares = [np.correlate(each * each, weights, 'valid') for each in predicted]
    sums = [np.correlate(each, weights, 'valid') for each in predicted]
    energies = np.add.reduce(squares) - np.add.reduce([s * s for s in sums]) / total_weight
    total = float((weighted * seen).sum())
    if total <= 0.0 or not (energies > LEAST_ENERGY * (1.0 + energies.max())).all():
        return None
    correlations = products / np.sqrt(energies * total)
    if not has_known_sign:
        correlations = np.abs(correlations)
    best = int(np.argmax(correlations))
    centred = predicted[:, best : best + seen.shape[1]]
    centred = centred - (centred @ weights)[:, None] / total_weight
    gain = float(products[best] / energies[best])
    return _Fit(correlations, best, centred, gain, seen - gain * centred)


def _shift_of(fit: _Fit, weights: Array, lags: int) -> Shift | None:
    correlations, best = fit.correlations, fit.best
    if not EDGE <= best < len(correlations) - EDGE:
        return None
    before, peak, after = correlations[best - 1 : best + 2].tolist()
    curve = before - 2.0 * peak + after
    part = 0.5 * (before - after) / curve if curve < 0.0 else 0.0
    residual = fit.residual * weights
    change = fit.gain * fit.gain * _shift_energy(fit.centred, weights)
    variance = float((residual * residual).sum()) / (float(weights.sum()) * len(residual))
    # What is left over is not white: neighbours on the grid are of one error.
    correlated = _correlation_length(residual)
    deviation = sqrt(variance * correlated / change) if change > 0.0 else inf
    # Window l begins l grid points into the prediction, l - lags of them from the measured one.
    return Shift(-(best - lags + part), deviation, peak)


def _shift_energy(signal: Array, weights: Array) -> float:
    """Returns the energy of the slope of a signal (K, n), per grid point, that neither a constant
    nor another gain would explain: a ramp that is shifted is the same ramp.
    """
    slope = np.empty_like(signal)
    slope[:, 1:-1] = 0.5 * (signal[:, 2:] - signal[:, :-2])
    slope[:, 0] = signal[:, 1] - signal[:, 0]
    slope[:, -1] = signal[:, -1] - signal[:, -2]
    slope -= (slope @ weights)[:, None] / float(weights.sum())
    weighted = signal * weights
    slope -= signal * (float((slope * weighted).sum()) / float((signal * weighted).sum()))
    return float((slope * slope * weights).sum())


def _correlation_length(residual: Array) -> float:
    """Returns how many neighbouring samples are of one error, at least 1."""
    variance = float((residual * residual).sum())
    if variance <= 0.0:
        return 1.0
    neighbour = float((residual[:, 1:] * residual[:, :-1]).sum()) / variance
    share = min(max(neighbour, 0.0), 0.98)
    return (1.0 + share) / (1.0 - share)
