# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Fewer points for the eye: long series are thinned, every peak and every gap stays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SERIES_POINTS = 1200
PATH_POINTS = 900


def peak_indices(values: NDArray, points: int = SERIES_POINTS) -> NDArray[np.intp]:
    """Indices of at most about `points` of (T,) values: of each of points/2 equal parts the
    smallest and the largest.

    The first and last sample stay; a part without any value keeps one sample, so that a gap stays a
    gap.
    """
    length = len(values)
    if length <= points:
        return np.arange(length)
    values = np.asarray(values, dtype=np.float64)
    edges = np.linspace(0, length, points // 2 + 1).astype(int)
    low, high = (
        np.where(np.isnan(values), np.inf, values),
        np.where(np.isnan(values), -np.inf, values),
    )
    kept = [0, length - 1]
    for begin, end in zip(edges[:-1], edges[1:]):
        kept += [begin + int(low[begin:end].argmin()), begin + int(high[begin:end].argmax())]
    return np.unique(kept)
