# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Scores of a detector against the truth: recall, precision, latency, false alarms per hour."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics import wilson_interval

Array = NDArray[np.float64]
NAN = math.nan


@dataclass(frozen=True)
class Matches:
    """Detections against true intervals.

    Attributes:
        latencies: (N,) s from a true begin to the first detection in it; NaN: missed.
        false_alarms: (K,) s, begins of detections that belong to no true interval.
        fragments: further detections within a detected interval: neither right nor false.
        detections: right ones.
    """

    latencies: Array
    false_alarms: Array
    fragments: int

    @property
    def detections(self) -> int:
        """True intervals that were detected."""
        return int(np.isfinite(self.latencies).sum())


def match_detections(
    truth: ArrayLike, detected: ArrayLike, early: float = 0.0, late: float = 0.0
) -> Matches:
    """Matches detections with the true intervals, by their begins.

    A detection belongs to a true interval if it begins within [begin - early, end + late]; of
    several intervals, to the one that began last. The first of an interval detects it; a detector
    that was already on when the interval began has not detected it.

    Args:
        truth: (N, 2) s, true begins and ends, apart from each other, in time.
        detected: (M,) or (M, 2) s, begins of detections (and ends, which are ignored).
        early, late: s of tolerance: of the stamps, and of a filter that still falls.

    Raises:
        ShapeError: other shapes.
        ValueRangeError: not finite, an end before its begin, true intervals that overlap, or a
            negative tolerance.
    """
    intervals, begins = _intervals(truth), _begins(detected)
    if not (early >= 0.0 and late >= 0.0):
        raise ValueRangeError(f'tolerances are {early} and {late} s; 0 or more is expected')
    latencies = np.full(len(intervals), NAN)
    owner = np.searchsorted(intervals[:, 0] - early, begins, side='right') - 1
    is_inside = owner >= 0
    if len(intervals):
        is_inside &= begins <= intervals[owner, 1] + late
    fragments = 0
    for row, begin in zip(owner[is_inside].tolist(), begins[is_inside].tolist(), strict=True):
        if math.isnan(latencies[row]):
            latencies[row] = max(0.0, begin - intervals[row, 0])
        else:
            fragments += 1
    return Matches(latencies, begins[~is_inside], fragments)


def _intervals(truth: ArrayLike) -> Array:
    intervals = np.asarray(truth, dtype=np.float64)
    if not intervals.size:
        return np.empty((0, 2))
    if intervals.ndim != 2 or intervals.shape[1] != 2:
        raise ShapeError(f'true intervals have shape {intervals.shape}; (N, 2) is expected')
    if not np.isfinite(intervals).all() or (intervals[:, 1] < intervals[:, 0]).any():
        raise ValueRangeError('true intervals are finite, and end no sooner than they begin')
    if (intervals[1:, 0] < intervals[:-1, 1]).any():
        raise ValueRangeError('true intervals are in time and do not overlap: merge them first')
    return intervals


def _begins(detected: ArrayLike) -> Array:
    values = np.asarray(detected, dtype=np.float64)
    if values.ndim == 2 and values.shape[1:] == (2,):
        values = values[:, 0]
    if values.size and values.ndim != 1:
        raise ShapeError(f'detections have shape {values.shape}; (M,) or (M, 2) is expected')
    if not np.isfinite(values).all():
        raise ValueRangeError('begins of detections are finite')
    return np.sort(values.ravel())


@dataclass(frozen=True)
class DetectionScore:
    """The score of many trials. Intervals are of 95 %."""

    trials: int
    detections: int
    recall: float  # with `wilson_interval`; NaN without trials
    recall_interval: tuple[float, float]
    precision: float  # with `wilson_interval`; NaN without trials
    precision_interval: tuple[float, float]
    latency: float  # s, median and 95th percentile of those detected
    latency_95: float  # s, median and 95th percentile of those detected
    false_alarms: int  # in `free_hours` of time without contact
    free_hours: float
    per_hour: float  # with the exact interval of a Poisson rate (Garwood 1936)
    per_hour_interval: tuple[float, float]


def detection_score(matches: Iterable[Matches], free_seconds: float) -> DetectionScore:
    """Puts trials together. free_seconds: s of time in which there was no contact.

    Raises:
        ValueRangeError: the time is negative or not finite.
    """
    if not (math.isfinite(free_seconds) and free_seconds >= 0.0):
        raise ValueRangeError(f'free time is {free_seconds} s; finite and not negative is expected')
    found = list(matches)
    latencies = np.concatenate([m.latencies for m in found]) if found else np.empty(0)
    known = latencies[np.isfinite(latencies)]
    trials, detections = len(latencies), len(known)
    alarms = sum(len(m.false_alarms) for m in found)
    hours = free_seconds / 3600.0
    reported = detections + alarms
    return DetectionScore(
        trials,
        detections,
        detections / trials if trials else NAN,
        wilson_interval(detections, trials) if trials else (NAN, NAN),
        detections / reported if reported else NAN,
        wilson_interval(detections, reported) if reported else (NAN, NAN),
        float(np.median(known)) if detections else NAN,
        float(np.quantile(known, 0.95)) if detections else NAN,
        alarms,
        hours,
        alarms / hours if hours > 0 else NAN,
        poisson_rate_interval(alarms, hours),
    )


def poisson_rate_interval(
    count: int, exposure: float, confidence: float = 0.95
) -> tuple[float, float]:
    """Exact interval of a rate from a count: Garwood, Biometrika 28 (1936), by chi-squared
    quantiles. In events per unit of `exposure`; NaN without exposure.

    Raises:
        ValueRangeError: a negative count or exposure, or a confidence outside (0, 1).
    """
    from scipy.stats import chi2

    if count < 0 or not exposure >= 0.0:
        raise ValueRangeError(f'{count} events in {exposure}; neither may be negative')
    if not 0.0 < confidence < 1.0:
        raise ValueRangeError(f'confidence is {confidence}; a value between 0 and 1 is expected')
    if exposure == 0.0:
        return NAN, NAN
    tail = (1.0 - confidence) / 2.0
    low = chi2.ppf(tail, 2 * count) / 2.0 if count else 0.0
    high = chi2.ppf(1.0 - tail, 2 * (count + 1)) / 2.0
    return float(low / exposure), float(high / exposure)


@dataclass(frozen=True)
class DistanceScore:
    """Measured against true distances. All in m.

    Attributes:
        frames: with both.
        unavailable: frames without a measured distance.
        median, percentile_99: of the absolute error.
        too_far: share of the frames in which the measured distance exceeded the true one by more
            than `margin`.
        worst_too_far: the largest excess.
    """

    frames: int
    unavailable: int
    median: float
    percentile_99: float
    margin: float
    too_far: float
    too_far_interval: tuple[float, float]
    worst_too_far: float


def distance_score(measured: ArrayLike, truth: ArrayLike, margin: float = 0.01) -> DistanceScore:
    """Scores distances, m, (T,) each; NaN: not measured.

    Raises:
        ShapeError: they are not of one length. ValueRangeError: a true distance is not finite.
    """
    found, true = np.asarray(measured, np.float64), np.asarray(truth, np.float64)
    if found.shape != true.shape or found.ndim != 1:
        raise ShapeError(f'measured {found.shape} and true {true.shape}; both (T,) are expected')
    if not np.isfinite(true).all():
        raise ValueRangeError('true distances are finite: leave frames without an obstacle out')
    is_known = np.isfinite(found)
    errors = (found - true)[is_known]
    count = len(errors)
    if not count:
        return DistanceScore(0, len(found), NAN, NAN, margin, NAN, (NAN, NAN), NAN)
    excess = int((errors > margin).sum())
    return DistanceScore(
        count,
        len(found) - count,
        float(np.median(np.abs(errors))),
        float(np.quantile(np.abs(errors), 0.99)),
        margin,
        excess / count,
        wilson_interval(excess, count),
        float(errors.max()),
    )
