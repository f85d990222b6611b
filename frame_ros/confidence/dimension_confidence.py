# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The confidence of one inference by action dimension and temperature, as recalibrators take it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
TEMPERATURE_FIELDS = ('temperatures', 'token_max_at_temperature')
# Of one inference: (D,), (K,), (K,), (D, K); empty if the policy does not yield them.
RECALIBRATION_VALUES = (
    'dimension_confidence',
    'temperatures',
    'at_temperature',
    'dimension_at_temperature',
)
# A number from here on is of a damaged message; a row for each below it would fill the memory.
MOST_DIMENSIONS = 4096
_NONE: Array = np.zeros(0)


def recalibration_values(tokens: Mapping[str, Any]) -> dict[str, Array]:
    """Returns RECALIBRATION_VALUES of one inference.

    D is the largest action dimension of a token, and 1; a dimension without tokens has NaN. Values
    are means over the tokens of a dimension, or of the inference.

    Args:
        tokens: 'token_chosen_probability' (TN,), 'token_dimension' (TN,) with -1 for none and all
            below MOST_DIMENSIONS, 'temperatures' (K,) and 'token_max_at_temperature' (TN * K,),
            row-major. What does not fit together counts as not known.
    """
    chosen = np.asarray(tokens['token_chosen_probability'], dtype=np.float64)
    dimension = np.asarray(tokens['token_dimension'])
    grid = np.asarray(tokens['temperatures'], dtype=np.float64)
    table = np.asarray(tokens['token_max_at_temperature'], dtype=np.float64)
    count, size = len(chosen), len(grid)
    found = {
        'dimension_confidence': _NONE,
        'temperatures': grid,
        'at_temperature': _NONE,
        'dimension_at_temperature': np.zeros((0, size)),
    }
    if not count:
        return found
    rows, has_table = chosen[:, None], size > 0 and table.size == count * size
    if has_table:
        by_temperature = table.reshape(count, size)
        found['at_temperature'] = np.add.reduce(by_temperature) / count
        rows = np.concatenate([rows, by_temperature], axis=1)
    if len(dimension) == count and 0 <= np.maximum.reduce(dimension) < MOST_DIMENSIONS:
        means = _means(rows, dimension)
        found['dimension_confidence'] = means[:, 0]
        if has_table:
            found['dimension_at_temperature'] = means[:, 1:]
    return found


def _means(rows: Array, dimension: NDArray[np.integer]) -> Array:
    """Returns the means (D, K) of rows (TN, K) by dimension; NaN of one without rows."""
    if np.minimum.reduce(dimension) < 0:
        is_of_one = dimension >= 0
        dimension, rows = dimension[is_of_one], rows[is_of_one]
    width = rows.shape[1]
    counts = np.bincount(dimension)
    places = dimension.astype(np.intp)[:, None] * width + np.arange(width)
    sums = np.bincount(places.ravel(), weights=rows.ravel()).reshape(len(counts), width)
    return sums / np.where(counts, counts, np.nan)[:, None]
