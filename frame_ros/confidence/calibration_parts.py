# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Parts of a calibration file: what was fitted on recorded episodes besides the recalibrator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from frame_ros.confidence.samples import Array
from frame_ros.core.errors import CalibrationError

# The most features of an observation's embedding: PolicyInference has no more.
MOST_FEATURES = 64


def array_of(name: str, axes: str) -> Callable[[Any], Array]:
    """Returns a converter to a read-only float64 array of finite numbers.

    Args:
        name: of the field, for errors.
        axes: of the array, as 'N' or 'N, F'; none may be empty.
    """

    def convert(values: Any) -> Array:
        try:
            array = np.array(values, dtype=np.float64)
        except (TypeError, ValueError):
            array = np.empty(0)
        if array.ndim != axes.count(',') + 1 or not array.size:
            raise CalibrationError(f'{name} must be numbers ({axes},), not empty')
        if not np.isfinite(array).all():
            raise CalibrationError(f'{name} holds numbers that are not finite')
        array.flags.writeable = False
        return array

    return convert


_checked_rows = array_of('rows', 'N, F')


def check(is_right: bool, name: str, value: Any, expected: str) -> None:
    """Raises CalibrationError unless a value is right."""
    if not is_right:
        raise CalibrationError(f'{name} is {value!r}; {expected} is expected')


def _single_precision(values: Any) -> Array:
    with np.errstate(over='ignore'):
        return _checked_rows(_checked_rows(values).astype(np.float32))


def _array(name: str, axes: str) -> Any:
    return attrs.field(converter=array_of(name, axes), eq=attrs.cmp_using(eq=np.array_equal))


@attrs.frozen(kw_only=True)
class ScoreStatistics:
    """Mean and standard deviation of a score over all inferences of the successful episodes."""

    mean: float
    standard_deviation: float

    def __attrs_post_init__(self) -> None:
        check(
            self.standard_deviation >= 0.0, 'standard_deviation', self.standard_deviation,
            '0 or more',
        )  # fmt: skip

    def standardised(self, value: float) -> float:
        """Returns by how many standard deviations a value lies above the mean; NaN if it never
        varied.
        """
        if self.standard_deviation == 0.0:
            return float('nan')
        return (value - self.mean) / self.standard_deviation


@attrs.frozen(kw_only=True)
class HorizonThresholds:
    """A quantile over episodes of a score, as the score stands, at equal steps of completion.

    Attributes:
        quantile: in (0, 1).
        thresholds: (points,), as `horizon_thresholds` and `threshold_at` have them.
        episodes: how many there were.
    """

    quantile: float
    thresholds: Array = _array('thresholds', 'points')
    episodes: int

    def __attrs_post_init__(self) -> None:
        check(0.0 < self.quantile < 1.0, 'quantile', self.quantile, 'a share between 0 and 1')


@attrs.frozen(kw_only=True)
class FeatureReference:
    """Embeddings of observations in the calibration episodes, reduced to F <= 64 numbers.

    Attributes:
        source: what gave them, as PolicyInference.feature_source says.
        rows: (n, F), in single precision: more would only make the file larger.
        mean: (F,) of all of them.
        inverse_covariance: (F, F), of the shrunk covariance.
        neighbours: k of the nearest neighbours.
    """

    source: str = ''
    rows: Array = attrs.field(converter=_single_precision, eq=attrs.cmp_using(eq=np.array_equal))
    mean: Array = _array('mean', 'F')
    inverse_covariance: Array = _array('inverse_covariance', 'F, F')
    neighbours: int

    def __attrs_post_init__(self) -> None:
        count, width = self.rows.shape
        check(width <= MOST_FEATURES, 'width of rows', width, f'at most {MOST_FEATURES}')
        check(self.mean.shape == (width,), 'shape of mean', self.mean.shape, f'({width},)')
        shape = self.inverse_covariance.shape
        check(shape == (width, width), 'shape of inverse_covariance', shape, f'({width}, {width})')
        check(1 <= self.neighbours <= count, 'neighbours', self.neighbours, f'1 to {count}')


@attrs.frozen(kw_only=True)
class CalibrationEpisode:
    """An episode that was used.

    Attributes:
        name: of its bag.
        sha256: of its data, hexadecimal.
    """

    name: str
    sha256: str


@attrs.frozen(kw_only=True)
class Provenance:
    """Origin of a calibration.

    Attributes:
        episodes: that were used.
        policy: its name.
        package_version: of frame_ros.
        newest: date of the newest episode, ISO 8601; '' if not known.
        successes, failures: episodes of each.
    """

    episodes: tuple[CalibrationEpisode, ...] = ()
    policy: str = ''
    package_version: str = ''
    newest: str = ''
    successes: int = 0
    failures: int = 0
