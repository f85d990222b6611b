# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A calibration, applied to inferences as they come: of a robot, or of a bag."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

from frame_ros.confidence.calibration_file import CalibrationFile
from frame_ros.confidence.combination import ScoreCombination
from frame_ros.confidence.feature_reference import FEATURE_SCORES, NO_FEATURES, FeatureDistances
from frame_ros.confidence.fingerprint import Fingerprint
from frame_ros.confidence.recalibration.inputs import LACKS
from frame_ros.confidence.recalibration.recalibrator import (
    CONFIDENCE,
    DIMENSION_TEMPERATURES,
    DIMENSIONS,
    TEMPERATURES,
)
from frame_ros.confidence.samples import TOLERANCE, Array
from frame_ros.confidence.score_channels import ELAPSED
from frame_ros.core.errors import ShapeError
from frame_ros.core.health import Level, Status

NAN = float('nan')
NOT_FITTED = 'the calibration file holds no {}'


class AppliedCalibration:
    """Applies a calibration to one inference after the other.

    Attributes:
        mismatches: parts of the setup of the newest inference that the calibration does not hold
            for, in words; with any, nothing of it is applied.
        unverified: parts of that setup which are not known, so that nobody can say.
    """

    def __init__(self, calibration: CalibrationFile, confidence_aggregate: str = '') -> None:
        """confidence_aggregate: way in which `confidence` is made of those of tokens."""
        self.calibration = calibration
        self.mismatches: list[str] = []
        self.unverified: list[str] = []
        self._aggregate = confidence_aggregate
        self._combination: ScoreCombination | None = None
        if calibration.combination is not None:
            self._combination = ScoreCombination.from_dict(calibration.combination)
        self._setup: tuple[Any, ...] | None = None
        features = calibration.features
        self._distances = None if features is None else FeatureDistances(features)

    @property
    def problem(self) -> str:
        """The reason for which the calibration is not applied, in words; '' if it is."""
        if not self.mismatches:
            return ''
        return f'the calibration file does not fit: {"; ".join(self.mismatches)}'

    def start(self) -> None:
        """Starts an episode."""
        if self._combination is not None:
            self._combination.start()

    @property
    def status(self) -> Status:
        """The diagnostics of the calibration: whether it holds for the newest inference."""
        origin = self.calibration.provenance
        facts = {
            'policy': origin.policy,
            'successes': str(origin.successes),
            'failures': str(origin.failures),
            'newest': origin.newest,
        }
        if self.mismatches:
            return Status('calibration', Level.ERROR, self.problem, facts)
        if self._setup is None:
            return Status('calibration', Level.OK, 'no inference yet', facts)
        if self.unverified:
            text = f'applied, but cannot be verified: {"; ".join(self.unverified)}'
            return Status('calibration', Level.WARN, text, facts)
        return Status('calibration', Level.OK, 'applied', facts)

    def check(self, values: Mapping[str, Any]) -> str:
        """Compares the setup of an inference with that of the calibration, and returns `problem`.

        Args:
            values: SETUP_FIELDS of the inference; what they lack is not known.
        """
        names = values.get('action_names', ())
        setup = (values.get('policy_fingerprint', ''), values.get('instruction', ''), *names)
        if setup != self._setup:
            self._setup = setup
            found = attrs.evolve(
                Fingerprint.of_inference(setup[0], setup[1], map(str, names)),
                confidence_aggregate=self._aggregate,
            )
            fingerprint = attrs.evolve(self.calibration.fingerprint, robot='')
            self.mismatches = fingerprint.mismatches(found)
            self.unverified = fingerprint.unverified(found)
        return self.problem

    def recalibrate(self, confidence: float, values: Mapping[str, Any]) -> tuple[float, str]:
        """Returns the probability of success of an inference, and why it is NaN although there is a
        confidence.

        Args:
            confidence: raw, NaN if there is none.
            values: RECALIBRATION_VALUES of the inference, where it has them.
        """
        recalibrator = self.calibration.recalibrator
        if recalibrator is None:
            return NAN, NOT_FITTED.format('recalibrator')
        if confidence != confidence:
            return NAN, ''
        raw, grid = _taken(recalibrator.inputs, confidence, values)
        lowest = raw.min() if raw.size and (grid is None or grid.size) else NAN
        if lowest != lowest:
            return NAN, LACKS[recalibrator.inputs]
        if not (lowest >= 0.0 and raw.max() <= 1.0) or not (grid is None or _increases(grid)):
            return NAN, 'confidences are not within 0 and 1, or their temperatures do not increase'
        try:
            return float(recalibrator.mapped(raw[None], grid)[0]), ''
        except ShapeError as error:
            return NAN, f'the recalibrator cannot take the inference: {error}'

    def standardise(self, score: str, value: float) -> tuple[float, str]:
        """Returns a score in standard deviations from its mean in the calibration episodes, and why
        it is NaN if it is not for the value's sake.
        """
        statistics = self.calibration.statistics.get(score)
        if statistics is None:
            return NAN, NOT_FITTED.format(f'mean of {score}')
        if statistics.standard_deviation == 0.0:
            return NAN, f'{score} never varied in the calibration episodes'
        return statistics.standardised(value), ''

    @property
    def combined(self) -> tuple[str, ...]:
        """Names of what `combine` takes, and the time."""
        return () if self._combination is None else self._combination.inputs

    def combine(self, values: Mapping[str, float], elapsed: float) -> tuple[float, str]:
        """Returns the combined risk of the episode so far, and why it is NaN if it is.

        Args:
            values: score -> value, and DISTANCE, m, and CONTACT, 0 or 1, where known.
            elapsed: s since the episode's start.
        """
        if self._combination is None:
            return NAN, NOT_FITTED.format('combination of scores')
        if elapsed != elapsed:
            return NAN, 'it counts from the start of an episode, and none runs'
        return self._combination.update({**values, ELAPSED: elapsed}), ''

    def feature_distances(self, values: Mapping[str, Any]) -> tuple[dict[str, float], str]:
        """Returns FEATURE_SCORES -> distance of an inference, and why they are NaN if they are.

        Args:
            values: of the inference, with 'features' (F,) and 'feature_source'.
        """
        features = values.get('features', ())
        if not len(features):
            return dict.fromkeys(FEATURE_SCORES, NAN), NO_FEATURES
        if self._distances is None:
            return dict.fromkeys(FEATURE_SCORES, NAN), NOT_FITTED.format('features')
        return self._distances.of(features, values.get('feature_source', ''))


# What a recalibrator takes -> value of an inference.
_SOURCES = {
    DIMENSIONS: 'dimension_confidence',
    TEMPERATURES: 'at_temperature',
    DIMENSION_TEMPERATURES: 'dimension_at_temperature',
}


def _taken(inputs: str, confidence: float, values: Mapping[str, Any]) -> tuple[Array, Array | None]:
    """Returns what a recalibrator takes of one inference, and the grid of it, if it is on one."""
    if inputs == CONFIDENCE:
        return _within(np.array(confidence)), None
    found = _within(np.asarray(values.get(_SOURCES[inputs], ()), dtype=np.float64))
    if inputs == DIMENSIONS:
        return found, None
    return found, np.asarray(values.get('temperatures', ()), dtype=np.float64)


def _within(values: Array) -> Array:
    """Cuts to [0, 1] what the rounding of a softmax takes beyond it."""
    if not values.size:
        return values
    is_rounding = values.min() >= -TOLERANCE and values.max() <= 1.0 + TOLERANCE
    return np.minimum(np.maximum(values, 0.0), 1.0) if is_rounding else values


def _increases(grid: Array) -> bool:
    return bool(grid[0] > 0.0 and (grid[1:] > grid[:-1]).all())
