# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The threshold of each score that the monitor compares, from the options or a calibration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from frame_ros.confidence.calibration_file import CalibrationFile
from frame_ros.confidence.guarantees.choice import choose_thresholds
from frame_ros.confidence.guarantees.guarantee import CONSTANT
from frame_ros.confidence.monitor.options import BAND, FIXED, HORIZON, MonitorOptions
from frame_ros.confidence.scores import score_of
from frame_ros.confidence.thresholds import threshold_at
from frame_ros.core.errors import CalibrationError

NAN = float('nan')


@dataclass(frozen=True)
class ScoreLimit:
    """A threshold of a score, at equal steps of completion or of time, or one for all of it.

    Attributes:
        score: field of ConfidenceMetrics.
        is_higher_better: whether the bad side of the threshold is below it.
        thresholds: as the score stands, (points,) or (1,).
        span: s since START that the steps cover; 0: they are steps of completion.
    """

    score: str
    is_higher_better: bool
    thresholds: tuple[float, ...]
    span: float = 0.0

    @property
    def needs_completion(self) -> bool:
        """True if the threshold depends on the completion of the task."""
        return len(self.thresholds) > 1 and not self.span

    def threshold(self, elapsed: float, completion: float) -> float:
        """Returns the threshold; NaN if it follows what is not known.

        Args:
            elapsed: s since START; NaN: not known.
            completion: of the task; NaN: not known.
        """
        if len(self.thresholds) == 1:
            return self.thresholds[0]
        place = elapsed / self.span if self.span else completion
        return threshold_at(self.thresholds, place) if place == place else NAN

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
    directions = {score: score_of(score).higher_is_better for score in options.scores}
    if options.threshold_from == FIXED:
        fixed = zip(directions.items(), options.thresholds)
        return tuple(ScoreLimit(*score, (threshold,)) for score, threshold in fixed)
    if calibration is None:
        raise CalibrationError(
            f'no threshold: threshold_from {options.threshold_from} needs a calibration file, as '
            '`frame-ros calibrate` writes it; or set threshold_from to fixed, and thresholds'
        )
    find = _horizon if options.threshold_from == HORIZON else _guaranteed
    return tuple(find(options, calibration))


def _horizon(options: MonitorOptions, fitted: CalibrationFile) -> Iterator[ScoreLimit]:
    found = fitted.horizon_thresholds
    for score in options.scores:
        if score not in found:
            raise CalibrationError(
                f'the calibration has no horizon thresholds of {score}; {_those_of(found)}'
            )
        thresholds = tuple(found[score].thresholds.tolist())
        yield ScoreLimit(score, score_of(score).higher_is_better, thresholds)


def _guaranteed(options: MonitorOptions, fitted: CalibrationFile) -> Iterator[ScoreLimit]:
    """The limits that together keep the rate of false alarms of the options."""
    form = BAND if options.threshold_from == BAND else CONSTANT
    found = choose_thresholds(fitted.guarantees, options.scores, form, options.false_alarm_rate)
    for score in options.scores:
        upper = tuple(_as_it_stands(score, risk) for risk in found[score].upper)
        yield ScoreLimit(score, score_of(score).higher_is_better, upper, found[score].span)


def _as_it_stands(score: str, risk: float) -> float:
    return -risk if score_of(score).higher_is_better else risk


def _those_of(found: Iterable[str]) -> str:
    return f'it has those of {names}' if (names := ', '.join(found)) else 'it has none'
