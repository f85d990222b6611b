# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The common interface of recalibrators, and their form in a file."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from frame_ros.confidence.samples import Array
from frame_ros.core.errors import CalibrationError

# What a recalibrator is given of each inference; fields of `RecalibrationInputs`.
CONFIDENCE, DIMENSIONS = 'confidence', 'dimensions'
TEMPERATURES, DIMENSION_TEMPERATURES = 'at_temperature', 'dimensions_at_temperature'


class Recalibrator(ABC):
    """A map from what a policy knew to a probability of success.

    Attributes:
        kind: its name in files and tables.
        inputs: what it maps: CONFIDENCE, DIMENSIONS, TEMPERATURES or DIMENSION_TEMPERATURES.
        notes: what a reader of the fit must know, in words.
    """

    kind: ClassVar[str]
    inputs: ClassVar[str] = CONFIDENCE

    def __init__(self) -> None:
        self.notes: list[str] = []

    @abstractmethod
    def fit(self, confidences: Any, outcomes: Any) -> Recalibrator:
        """Fits the map, and returns it.

        Args:
            confidences: (N,); (N, D) of action-wise maps; of temperature scaling see there.
            outcomes: (N,) booleans, or 0 and 1.

        Raises:
            CalibrationError: there are only successes, or only failures, or another reason for
                which nothing can be fitted; it says what would be needed.
            ShapeError, ValueRangeError: the arguments are of another form.
        """

    @abstractmethod
    def predict(self, confidences: Any) -> Array:
        """Returns probabilities of success, (N,), of what `fit` takes: of a torch tensor as one of
        its device and type, without a gradient.

        Raises:
            CalibrationError: it has not been fitted.
            ShapeError, ValueRangeError: the argument is of another form.
        """

    @abstractmethod
    def mapped(self, values: Array, temperatures: Array | None = None) -> Array:
        """Returns probabilities of success, (N,), of values that are known to be right: `predict`
        without its checks, which take longer than the map of a single inference.

        Args:
            values: what `inputs` names, float64 in [0, 1]: (N,) confidences; (N, D) by dimension;
                (N, K) or (N, D, K), means over the tokens at each temperature.
            temperatures: (K,), where values are at temperatures.

        Raises:
            ShapeError: other action dimensions than those it was fitted on.
        """

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Returns the fitted numbers, plain JSON values.

        Raises:
            CalibrationError: it has not been fitted.
        """

    @classmethod
    @abstractmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Recalibrator:
        """Makes a fitted one from what `parameters` gave.

        Raises:
            CalibrationError: a number is missing or cannot be.
        """

    def to_dict(self) -> dict[str, Any]:
        """Returns it as plain JSON values."""
        return {'kind': self.kind, **self.parameters(), 'notes': list(self.notes)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Recalibrator:
        """Makes the recalibrator that `to_dict` wrote, of any kind.

        Raises:
            CalibrationError: an unknown kind, or one that this class is not; a number is missing
                or cannot be.
        """
        known = {each.kind: each for each in kinds()}
        kind = values.get('kind')
        found = known.get(kind) if isinstance(kind, str) else None
        if found is None or not issubclass(found, cls):
            expected = ', '.join(name for name, each in known.items() if issubclass(each, cls))
            raise CalibrationError(f'the recalibrator is of kind {kind!r}; expected: {expected}')
        made, notes = found.from_parameters(values), values.get('notes', [])
        if not isinstance(notes, list):
            raise CalibrationError(f'notes of the recalibrator are {notes!r}; a list is expected')
        made.notes = [str(note) for note in notes]
        return made


def kinds() -> list[type[Recalibrator]]:
    """Returns every recalibrator, by name."""
    # Here, because each of these modules needs this one.
    found: list[type[Recalibrator]] = []
    waiting = list(Recalibrator.__subclasses__())
    while waiting:
        each = waiting.pop(0)
        waiting += each.__subclasses__()
        if 'kind' in vars(each):
            found.append(each)
    return found


def check_both(outcomes: Array) -> None:
    """Raises CalibrationError unless there are successes and failures."""
    successes = int(outcomes.sum())
    if successes in (0, len(outcomes)):
        only = 'successes' if successes else 'failures'
        raise CalibrationError(
            f'all {len(outcomes)} outcomes are {only}; a recalibrator needs episodes of both, at '
            'least one and better 20 of each'
        )


def check_varies(confidences: Array) -> None:
    """Raises CalibrationError if all confidences are the same."""
    if confidences.min() == confidences.max():
        raise CalibrationError(
            f'all {len(confidences)} confidences are {confidences[0]:g}: they distinguish nothing; '
            'use another score'
        )


def numbers(values: Mapping[str, Any], name: str, shape: Sequence[int | None]) -> Array:
    """Returns finite numbers of a file.

    Args:
        values: parameters of a recalibrator.
        name: of the entry.
        shape: expected; None: any length above 0.

    Raises:
        CalibrationError: they are missing, or something else.
    """
    try:
        found = np.asarray(values[name], dtype=np.float64)
    except KeyError:
        raise CalibrationError(f'the recalibrator lacks {name!r}') from None
    except (TypeError, ValueError):
        found = np.full(1, math.nan)
    fits = found.ndim == len(shape) and all(
        size == wanted or (wanted is None and size > 0) for size, wanted in zip(found.shape, shape)
    )
    if not fits or not np.isfinite(found).all():
        raise CalibrationError(f'{name!r} of the recalibrator is no list of finite numbers')
    return found


def check_probabilities(values: Array) -> None:
    """Raises CalibrationError unless all values of a file lie between 0 and 1."""
    if values.min() < 0.0 or values.max() > 1.0:
        raise CalibrationError(
            f"'values' of the recalibrator lie between {values.min():g} and {values.max():g}; "
            'probabilities are expected'
        )


def not_fitted(kind: str) -> CalibrationError:
    """Returns the error of a recalibrator that is asked before it was fitted."""
    return CalibrationError(f'the recalibrator {kind} has not been fitted; call fit first')
