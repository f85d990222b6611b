# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Adjustment of p-values for the number of tests made at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import as_floats, on_cpu


def holm(p_values: Any) -> NDArray[np.float64]:
    """P-values adjusted by Holm's step-down method: the family-wise error stays below the level.
    Holm 1979.

    Args:
        p_values: (N,) in [0, 1]; NaN: a test that was not made, which counts as none.

    Returns:
        (N,) in [0, 1], NaN where the argument is.

    Raises:
        ShapeError: another shape.
        ValueRangeError: a value is outside [0, 1].
    """
    values = checked_p_values(p_values)
    known = values[~np.isnan(values)]
    order = np.argsort(known, kind='stable')
    factors = np.arange(len(known), 0, -1)
    adjusted = np.empty(len(known))
    adjusted[order] = np.minimum(np.maximum.accumulate(known[order] * factors), 1.0)
    found = np.full(len(values), np.nan)
    found[~np.isnan(values)] = adjusted
    return found


def bonferroni(p_values: Any) -> NDArray[np.float64]:
    """P-values times their number: the family-wise error stays below the level. Dunn 1961.

    Never below those of `holm`, which refuses the same and more; PhAIL's tables have these.

    Args:
        p_values: (N,) in [0, 1]; NaN: a test that was not made, which counts as none.

    Returns:
        (N,) in [0, 1], NaN where the argument is.

    Raises:
        ShapeError: another shape.
        ValueRangeError: a value is outside [0, 1].
    """
    values = checked_p_values(p_values)
    return np.minimum(values * np.sum(~np.isnan(values)), 1.0)


def checked_p_values(p_values: Any) -> NDArray[np.float64]:
    """Returns (N,) p-values as an array; NaN is let through.

    Raises:
        ShapeError: another shape.
        ValueRangeError: a value is outside [0, 1].
    """
    values = np.asarray(
        on_cpu(as_floats(p_values, 'p_values', allow_nan=True)[1]), dtype=np.float64
    )
    if values.ndim != 1:
        raise ShapeError(f'p_values have shape {values.shape}; (N,) is expected')
    known = values[~np.isnan(values)]
    if len(known) and not (known.min() >= 0.0 and known.max() <= 1.0):
        raise ValueRangeError('p_values hold some outside 0 and 1')
    return values
