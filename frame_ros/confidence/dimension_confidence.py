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


def recalibration_values(tokens: Mapping[str, Any]) -> dict[str, Array]:
    """Returns RECALIBRATION_VALUES of one inference.

    D is the largest action dimension of a token, and 1; a dimension without tokens has NaN. Values
    are means over the tokens of a dimension, or of the inference.

    Args:
        tokens: 'token_chosen_probability' (TN,), 'token_dimension' (TN,) with -1 for none,
            'temperatures' (K,) and 'token_max_at_temperature' (TN * K,), row-major. What does not
            fit together counts as not known.
    """
    chosen, dimension = (
        np.asarray(tokens[name]) for name in ('token_chosen_probability', 'token_dimension')
    )
    grid = np.asarray(tokens['temperatures'], dtype=np.float64)
    table = np.asarray(tokens['token_max_at_temperature'], dtype=np.float64)
    count = len(chosen)
    found = {
        'dimension_confidence': np.zeros(0),
        'temperatures': grid,
        'at_temperature': np.zeros(0),
        'dimension_at_temperature': np.zeros((0, len(grid))),
    }
    if not count:
        return found
    is_by_dimension = len(dimension) == count and bool((dimension >= 0).any())
    if is_by_dimension:
        found['dimension_confidence'] = _means(chosen.astype(np.float64)[:, None], dimension)[:, 0]
    if len(grid) and table.size == count * len(grid):
        rows = table.reshape(count, len(grid))
        found['at_temperature'] = rows.mean(axis=0)
        if is_by_dimension:
            found['dimension_at_temperature'] = _means(rows, dimension)
    return found


def _means(rows: Array, dimension: NDArray[np.integer]) -> Array:
    """Returns the means (D, K) of rows (TN, K) by dimension; NaN of one without rows."""
    is_of_one = dimension >= 0
    places, rows = dimension[is_of_one], rows[is_of_one]
    counts = np.bincount(places)
    sums = np.stack([np.bincount(places, weights=column) for column in rows.T], axis=1)
    return sums / np.where(counts, counts, np.nan)[:, None]
