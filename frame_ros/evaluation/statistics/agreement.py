# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Agreement of two raters beyond chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from frame_ros.core.errors import ShapeError, ValueRangeError

# Weight of a disagreement by the distance of the categories, in [0, 1].
WEIGHTS = {None: np.sign, 'linear': np.abs, 'quadratic': np.square}


def cohens_kappa(a: Sequence[Any], b: Sequence[Any], weights: str | None = None) -> float:
    """Cohen's kappa of two raters of the same items. VLA-UQ, section V-F; Cohen 1960, 1968.

    Args:
        a, b: (N,) categories, numbers or words.
        weights: None: every disagreement counts the same; 'linear' or 'quadratic': by the distance
            of the categories, which are taken in their sorted order.

    Returns:
        1 for complete agreement, 0 for that of chance; NaN if both name one category throughout.

    Raises:
        ShapeError: no item, or different lengths.
        ValueRangeError: unknown weights.
    """
    if weights not in WEIGHTS:
        raise ValueRangeError(f'weights is {weights!r}; expected: None, linear, quadratic')
    if len(a) != len(b) or not len(a):
        raise ShapeError(f'the raters have {len(a)} and {len(b)} items; the same number is needed')
    names, numbers = np.unique(np.asarray([*a, *b]), return_inverse=True)
    first, second = numbers.reshape(2, len(a))
    places = np.arange(len(names), dtype=np.float64)
    cost = WEIGHTS[weights](np.abs(places[:, None] - places))
    shares = [np.bincount(each, minlength=len(names)) / len(a) for each in (first, second)]
    by_chance = float(shares[0] @ cost @ shares[1])
    return 1.0 - float(cost[first, second].mean()) / by_chance if by_chance else float('nan')
