# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Agreement of two raters beyond chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError

# Weight of a disagreement by the distance of the categories, in [0, 1].
WEIGHTS = {None: np.sign, 'linear': np.abs, 'quadratic': np.square}


def cohens_kappa(a: Sequence[Any], b: Sequence[Any], weights: str | None = None) -> float:
    """Cohen's kappa of two raters of the same items. VLA-UQ, section V-F; Cohen 1960, 1968.

    Args:
        a, b: (N,) categories, all of them numbers or all of them words.
        weights: None: every disagreement counts the same; 'linear' or 'quadratic': by the distance
            of the categories, which are taken in their sorted order.

    Returns:
        1 for complete agreement, 0 for that of chance; NaN if both name one category throughout.

    Raises:
        ShapeError: no item, different lengths, or another shape.
        ValueRangeError: unknown weights, NaN, or a category that is neither number nor word.
    """
    if weights not in WEIGHTS:
        raise ValueRangeError(f'weights is {weights!r}; expected: None, linear, quadratic')
    if len(a) != len(b) or not len(a):
        raise ShapeError(
            f'the raters have {len(a)} and {len(b)} items; the same number of each is expected, at '
            'least 1'
        )
    names, numbers = np.unique(_categories([*a, *b]), return_inverse=True)
    first, second = numbers.reshape(2, len(a))
    places = np.arange(len(names), dtype=np.float64)
    cost = WEIGHTS[weights](np.abs(places[:, None] - places))
    shares = [np.bincount(each, minlength=len(names)) / len(a) for each in (first, second)]
    by_chance = float(shares[0] @ cost @ shares[1])
    return 1.0 - float(cost[first, second].mean()) / by_chance if by_chance else float('nan')


def _categories(values: list[Any]) -> NDArray[Any]:
    """Returns all categories as one array of numbers or of words."""
    if any(np.ndim(value) for value in values):
        raise ShapeError('an item of a rater is an array; one category per item is expected')
    are_words = {isinstance(value, str) for value in values}
    array = np.asarray(values)
    if len(are_words) > 1 or array.dtype.kind not in 'biufU':
        kinds = sorted({type(value).__name__ for value in values})
        raise ValueRangeError(
            f'the categories are of type {", ".join(kinds)}; all numbers or all words are expected'
        )
    if array.dtype.kind == 'f' and np.isnan(array).any():
        raise ValueRangeError('a category is NaN; leave out the items that a rater did not label')
    return array
