# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The threshold of each score that the monitor compares, from the options or a calibration."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from frame_ros.confidence.calibration_file import CalibrationFile
from frame_ros.confidence.monitor.options import BAND, CONFORMAL, FIXED, HORIZON, MonitorOptions
from frame_ros.confidence.thresholds import threshold_at
from frame_ros.core.errors import CalibrationError, ValueRangeError
from frame_ros.metrics import metric_of_field

NAN = float('nan')
# Rounding of a division must not hide a threshold of that very rate.
_TOLERANCE = 1e-9


@dataclass(frozen=True)
class ScoreLimit:
    """A threshold of a score, at equal steps of completion, or one for all of it.

    Attributes:
        score: field of ConfidenceMetrics.
        is_higher_better: whether the bad side of the threshold is below it.
        thresholds: as the score stands, (points,) or (1,).
    """

    score: str
    is_higher_better: bool
    thresholds: tuple[float, ...]

    @property
    def needs_completion(self) -> bool:
        """True if the threshold depends on the point of the task."""
        return len(self.thresholds) > 1

    def threshold(self, completion: float) -> float:
        """Returns the threshold at a completion; NaN if that must be known and is not."""
        if len(self.thresholds) == 1:
            return self.thresholds[0]
        return threshold_at(self.thresholds, completion) if completion == completion else NAN

    def excess(self, value: float, threshold: float) -> float:
        """Returns how far a value is beyond a threshold; negative on the good side."""
        return threshold - value if self.is_higher_better else value - threshold


def score_limits(
    options: MonitorOptions, calibration: CalibrationFile | None
) -> tuple[ScoreLimit, ...]:
    """Returns the limit of each score of the options.

    Raises:
        CalibrationError: a threshold is neither in the options nor in the calibration; it says what
            there is and what would be needed.
        ValueRangeError: no score has the name.
    """
    directions = {score: _is_higher_better(score) for score in options.scores}
    if options.threshold_from == FIXED:
        found: list[tuple[float, ...]] = [(threshold,) for threshold in options.thresholds]
    elif calibration is None:
        raise CalibrationError(
            f'no threshold: threshold_from {options.threshold_from} needs a calibration file, as '
            '`frame-ros calibrate` writes it; or set threshold_from to fixed, and thresholds'
        )
    else:
        find = {HORIZON: _horizon, CONFORMAL: _conformal, BAND: _band}[options.threshold_from]
        found = [find(score, options, calibration) for score in options.scores]
    return tuple(
        ScoreLimit(score, directions[score], thresholds)
        for score, thresholds in zip(options.scores, found)
    )


def _is_higher_better(score: str) -> bool:
    metric = metric_of_field('confidence', score)
    if metric is None or metric.higher_is_better is None:
        raise ValueRangeError(f'{score!r} is no score; the fields of ConfidenceMetrics name them')
    return metric.higher_is_better


def _horizon(score: str, options: MonitorOptions, fitted: CalibrationFile) -> tuple[float, ...]:
    found = fitted.horizon_thresholds
    if score not in found:
        raise CalibrationError(
            f'the calibration has no horizon thresholds of {score}; {_those_of(found)}'
        )
    return tuple(found[score].thresholds.tolist())


def _conformal(score: str, options: MonitorOptions, fitted: CalibrationFile) -> tuple[float, ...]:
    """The threshold with the largest rate that the score's part of alpha allows."""
    own = {each.alpha: each.threshold for each in fitted.conformal if each.score == score}
    alpha = _allowed(score, own, options, 'conformal threshold')
    return (_as_it_stands(score, own[alpha]),)


def _band(score: str, options: MonitorOptions, fitted: CalibrationFile) -> tuple[float, ...]:
    band = fitted.bands.get(score)
    _allowed(score, () if band is None else (band.alpha,), options, 'band')
    assert band is not None
    return tuple(_as_it_stands(score, upper) for upper in band.upper.tolist())


def _allowed(score: str, rates: Collection[float], options: MonitorOptions, kind: str) -> float:
    """The largest of the rates that is not above the score's part of alpha."""
    # By Boole's inequality: of several scores the false alarms add up at most.
    part = options.alpha / options.score_count
    if fitting := [rate for rate in rates if rate <= part + _TOLERANCE]:
        return max(fitting)
    shared = f', its part of {options.alpha:g}' if options.score_count > 1 else ''
    there = ', '.join(f'{rate:g}' for rate in sorted(rates))
    raise CalibrationError(
        f'the calibration has no {kind} of {score} with a false-alarm rate of at most {part:g}'
        f'{shared}; ' + (f'it has one of {there}' if there else 'it has none of this score')
    )


def _as_it_stands(score: str, risk: float) -> float:
    return -risk if _is_higher_better(score) else risk


def _those_of(found: Iterable[str]) -> str:
    return f'it has those of {names}' if (names := ', '.join(found)) else 'it has none'
