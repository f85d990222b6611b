# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The inferences that recalibrators of any kind are fitted on, and applied to."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.confidence.recalibration.recalibrator import (
    CONFIDENCE,
    DIMENSION_TEMPERATURES,
    DIMENSIONS,
    TEMPERATURES,
    Recalibrator,
)
from frame_ros.confidence.samples import Array
from frame_ros.core.errors import CalibrationError

LACKS = {
    CONFIDENCE: 'the policy yields no confidence',
    DIMENSIONS: 'the policy yields no confidence per action dimension',
    TEMPERATURES: 'the policy yields no grid of temperatures (its option `temperatures`)',
    DIMENSION_TEMPERATURES: 'the policy yields no grid of temperatures per action dimension',
}


@dataclass(frozen=True)
class RecalibrationInputs:
    """N inferences; NaN where one has no value. The fields are named as `Recalibrator.inputs`.

    Attributes:
        confidence: (N,).
        dimensions: (N, D) per action dimension; None without.
        temperatures: (K,) a grid that all inferences share; None without.
        at_temperature: (N, K) confidence at each of them; None without.
        dimensions_at_temperature: (N, D, K) the same per action dimension; None without.
    """

    confidence: Array
    dimensions: Array | None = None
    temperatures: Array | None = None
    at_temperature: Array | None = None
    dimensions_at_temperature: Array | None = None

    def __len__(self) -> int:
        return len(self.confidence)

    def select(self, chosen: NDArray[Any]) -> RecalibrationInputs:
        """Returns some of the inferences: (N,) booleans, or their places."""
        parts = {each.name: getattr(self, each.name) for each in fields(self)}
        return RecalibrationInputs(
            **{
                name: part if part is None or name == 'temperatures' else part[chosen]
                for name, part in parts.items()
            }
        )

    def has(self, kind: type[Recalibrator]) -> NDArray[np.bool_]:
        """Returns which inferences have all that a kind of recalibrator takes, (N,)."""
        values = getattr(self, kind.inputs)
        if values is None or (self.temperatures is None and _is_on_grid(kind)):
            return np.zeros(len(self), bool)
        found: NDArray[np.bool_] = np.isfinite(values.reshape(len(self), -1)).all(axis=1)
        return found

    def fit(self, kind: type[Recalibrator], outcomes: Any) -> Recalibrator:
        """Returns a recalibrator of this kind, fitted to the inferences that have what it takes.

        Args:
            kind: its class.
            outcomes: (N,) booleans, or 0 and 1.

        Raises:
            CalibrationError: no inference has that; or as of `Recalibrator.fit`.
        """
        is_known = self.has(kind)
        if not is_known.any():
            raise CalibrationError(LACKS[kind.inputs])
        return kind().fit(*self._arguments(kind, is_known, np.asarray(outcomes)[is_known]))

    def predict(self, recalibrator: Recalibrator) -> Array:
        """Returns probabilities of success (N,); NaN of an inference without what it takes.

        Raises:
            ShapeError: other action dimensions than those it was fitted on.
        """
        found, kind = np.full(len(self), np.nan), type(recalibrator)
        is_known = self.has(kind)
        if is_known.any():
            found[is_known] = recalibrator.predict(*self._arguments(kind, is_known))
        return found

    def _arguments(
        self, kind: type[Recalibrator], is_known: NDArray[np.bool_], *outcomes: Any
    ) -> tuple[Any, ...]:
        values = getattr(self, kind.inputs)[is_known]
        # Temperature scaling averages over tokens; here that has been done.
        values = values[:, None] if kind.inputs == TEMPERATURES else values
        grid = (self.temperatures,) if _is_on_grid(kind) else ()
        return values, *outcomes, *grid


def _is_on_grid(kind: type[Recalibrator]) -> bool:
    return kind.inputs in (TEMPERATURES, DIMENSION_TEMPERATURES)
