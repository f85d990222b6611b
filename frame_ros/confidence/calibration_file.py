# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The calibration of a policy on a robot as a file: fitted on recorded episodes, applied live."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from sys import float_info
from typing import Any

import attrs
import numpy as np

from frame_ros.confidence.calibration_parts import (
    FeatureReference,
    HorizonThresholds,
    Provenance,
    ScoreStatistics,
    array_of,
    check,
)
from frame_ros.confidence.combination import ScoreCombination
from frame_ros.confidence.feature_reference import FeatureDistances
from frame_ros.confidence.fingerprint import Fingerprint
from frame_ros.confidence.guarantees.guarantee import Guarantee
from frame_ros.confidence.recalibration import binning, isotonic, platt, temperature
from frame_ros.confidence.recalibration.recalibrator import Recalibrator
from frame_ros.confidence.samples import Array
from frame_ros.core.errors import CalibrationError, FrameRosError, SetupError
from frame_ros.core.input_files import load_json, read_text
from frame_ros.core.output_files import write_whole
from frame_ros.core.structuring import structured, unstructured

FORMAT = 'frame_ros calibration 1'
# A recalibrator is known by its kind once its module is loaded.
RECALIBRATOR_MODULES = (binning, isotonic, platt, temperature)


def _sorted_references(values: Any) -> dict[str, Array]:
    if not isinstance(values, Mapping):
        raise CalibrationError(f'drift must be a map of scores to numbers, not {values!r}')
    return {str(score): np.sort(array_of('drift', 'N')(part)) for score, part in values.items()}


def _is_equal(mine: Mapping[str, Array], theirs: Mapping[str, Array]) -> bool:
    return mine.keys() == theirs.keys() and all(np.array_equal(mine[s], theirs[s]) for s in mine)


@attrs.frozen(kw_only=True)
class CalibrationFile:
    """A calibration. What is not fitted is None or empty.

    Attributes:
        recalibrator: from the confidence of an inference to a probability of success; its `inputs`
            says what it takes, and `fingerprint.confidence_aggregate` which confidence.
        statistics: score -> its mean and standard deviation.
        horizon_thresholds: score -> thresholds of it over the horizon, as the score stands.
        guarantees: thresholds of risks, each with the rate of false alarms that it keeps.
        expected_duration: median of the successful episodes, s.
        longest_duration: their 95 % quantile, s.
        features: the embeddings of the calibration episodes.
        stac_bandwidth: of the kernel of the score `stac`, in the unit of the action.
        combination: of several scores into one risk, as its `to_dict` gives it.
        drift: score -> its values in the calibration episodes, sorted.
        provenance: what it was fitted on.
        fingerprint: what it holds for.
    """

    recalibrator: Recalibrator | None = attrs.field(
        default=None, eq=lambda each: each and each.to_dict()
    )
    statistics: Mapping[str, ScoreStatistics] = attrs.field(factory=dict)
    horizon_thresholds: Mapping[str, HorizonThresholds] = attrs.field(factory=dict)
    guarantees: tuple[Guarantee, ...] = attrs.field(default=(), converter=tuple)
    expected_duration: float | None = None
    longest_duration: float | None = None
    features: FeatureReference | None = None
    stac_bandwidth: float | None = None
    combination: dict[str, Any] | None = None
    drift: Mapping[str, Array] = attrs.field(
        factory=dict, converter=_sorted_references, eq=attrs.cmp_using(eq=_is_equal)
    )
    provenance: Provenance = attrs.field(factory=Provenance)
    fingerprint: Fingerprint = attrs.field(factory=Fingerprint)

    def __attrs_post_init__(self) -> None:
        for name in ('expected_duration', 'longest_duration', 'stac_bandwidth'):
            value = getattr(self, name)
            is_right = value is None or (value > 0.0 and isfinite(value))
            check(is_right, name, value, 'a number above 0')

    @property
    def of_metrics(self) -> CalibrationFile:
        """The part that the metrics of an inference depend on, without thresholds and episodes."""
        rest = ('horizon_thresholds', 'guarantees', 'drift')
        empty = {name: getattr(_NOTHING, name) for name in rest}
        return attrs.evolve(self, **empty, provenance=attrs.evolve(self.provenance, episodes=()))

    def to_dict(self) -> dict[str, Any]:
        """Returns it as plain JSON values, without what is not fitted."""
        values = {
            field.name: unstructured(getattr(self, field.name))
            for field in attrs.fields(CalibrationFile)
            if field.name not in ('recalibrator', 'fingerprint')
        }
        if self.recalibrator is not None:
            values['recalibrator'] = self.recalibrator.to_dict()
        if self.features is not None:
            values['features']['rows'] = _short(self.features.rows)
        values['fingerprint'] = self.fingerprint.to_dict()
        fitted = {name: value for name, value in values.items() if value not in (None, {}, [])}
        return {'format': FORMAT, **fitted}

    @classmethod
    def from_dict(cls, content: Any) -> CalibrationFile:
        """Makes the calibration that `to_dict` wrote.

        Raises:
            CalibrationError: another format, a part that is missing, unknown or of another type, a
                number that is not finite.
        """
        if not isinstance(content, Mapping) or 'format' not in content:
            raise CalibrationError('it is no calibration: it has no format')
        if content['format'] != FORMAT:
            raise CalibrationError(
                f'its format is {content["format"]!r}; {FORMAT!r} is expected, as the '
                '`frame-ros calibrate` of this version writes it'
            )
        values = {name: value for name, value in content.items() if name != 'format'}
        _check_finite(values)
        try:
            if values.get('recalibrator') is not None:
                values['recalibrator'] = _recalibrator(values['recalibrator'])
            found = structured(cls, values)
        except SetupError as error:
            raise CalibrationError(str(error)) from error
        # Parts that are used in another form than that of the file.
        if found.features is not None:
            FeatureDistances(found.features)
        if found.combination is not None:
            ScoreCombination.from_dict(found.combination)
        return found

    def to_json(self) -> str:
        """Returns it as JSON text; numbers are exact.

        Raises:
            CalibrationError: a number is not finite.
        """
        content = self.to_dict()
        _check_finite(content)
        return json.dumps(content, ensure_ascii=False, separators=(',', ':'))

    @classmethod
    def from_json(cls, text: str) -> CalibrationFile:
        """Reads what `to_json` wrote.

        Raises:
            CalibrationError: it is not JSON, or as of `from_dict`.
        """
        try:
            content = load_json(text)
        except ValueError as error:
            raise CalibrationError(f'it is not JSON: {error}') from error
        return cls.from_dict(content)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> CalibrationFile:
        """Reads a file.

        Raises:
            CalibrationError: it cannot be read or is no calibration; the message names the file.
        """
        place = Path(path).expanduser()
        try:
            return cls.from_json(read_text(place))
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else 'it is not UTF-8 text'
            raise CalibrationError(f'calibration file {place}: {reason}') from error
        except FrameRosError as error:
            raise CalibrationError(f'calibration file {place}: {error}') from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file whole or not at all.

        Raises:
            CalibrationError: a number is not finite.
            SetupError: the file cannot be written.
        """
        write_whole(Path(path).expanduser(), self.to_json() + '\n', 'the calibration')


_NOTHING = CalibrationFile()


def _recalibrator(values: Any) -> Recalibrator:
    if not isinstance(values, Mapping):
        raise CalibrationError(f'recalibrator must be a map of names to values, not {values!r}')
    return Recalibrator.from_dict(values)


def _short(rows: Array) -> list[list[float]]:
    """Returns numbers in single precision as the shortest decimals that are read as the same."""
    return [[float(str(value)) for value in row] for row in rows.astype(np.float32)]


def _check_finite(content: Any, where: str = '') -> None:
    if isinstance(content, (int, float)):
        if not -float_info.max <= content <= float_info.max:
            text = content if isinstance(content, float) else 'a number of too many digits'
            raise CalibrationError(f'{where} holds {text}; finite numbers are expected')
    elif isinstance(content, Mapping):
        for name, part in content.items():
            _check_finite(part, f'{where}.{name}' if where else str(name))
    elif isinstance(content, (list, tuple)):
        for part in content:
            _check_finite(part, where)
