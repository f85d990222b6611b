# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A calibration, applied to inferences as they come: of a robot, or of a bag."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

from frame_ros.confidence.calibration_file import CalibrationFile
from frame_ros.confidence.feature_reference import FEATURE_SCORES, NO_FEATURES, FeatureDistances
from frame_ros.confidence.fingerprint import Fingerprint
from frame_ros.confidence.recalibration.inputs import LACKS, RecalibrationInputs
from frame_ros.core.errors import FrameRosError
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
        self._setup: tuple[Any, ...] | None = None
        features = calibration.features
        self._distances = None if features is None else FeatureDistances(features)

    @property
    def problem(self) -> str:
        """The reason for which the calibration is not applied, in words; '' if it is."""
        if not self.mismatches:
            return ''
        return f'the calibration file does not fit: {"; ".join(self.mismatches)}'

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
        names = [str(name) for name in values.get('action_names', ())]
        setup = (values.get('policy_fingerprint', ''), values.get('instruction', ''), *names)
        if setup != self._setup:
            self._setup = setup
            found = attrs.evolve(
                Fingerprint.of_inference(setup[0], setup[1], names),
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
        inputs = RecalibrationInputs(
            np.array([confidence]),
            **{name: _row(values.get(source)) for name, source in _SOURCES.items()},
            temperatures=_known(values.get('temperatures')),
        )
        try:
            found = float(inputs.predict(recalibrator)[0])
        except FrameRosError as error:
            return NAN, f'the recalibrator cannot take the inference: {error}'
        is_lacking = found != found and confidence == confidence
        return found, LACKS[recalibrator.inputs] if is_lacking else ''

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


# Field of RecalibrationInputs -> value of an inference.
_SOURCES = {
    'dimensions': 'dimension_confidence',
    'at_temperature': 'at_temperature',
    'dimensions_at_temperature': 'dimension_at_temperature',
}


def _known(values: Any) -> Any:
    return None if values is None or not len(values) else np.asarray(values, dtype=np.float64)


def _row(values: Any) -> Any:
    found = _known(values)
    return None if found is None else found[None]
