# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The embedding of an observation, reduced at the source to few numbers."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.policies.protocol import Inference

MOST_FEATURES = 64
WIDEST = 100_000  # its projection takes 51 MB
_SEED = 2026


def reduced_features(values: Any) -> NDArray[np.float64]:
    """Returns at most MOST_FEATURES numbers for an embedding; a narrower one stays as it is.

    A wider one is multiplied with a fixed matrix of random signs, over sqrt(MOST_FEATURES), which
    keeps the distances between embeddings to within about 1/sqrt(MOST_FEATURES) of themselves
    (Achlioptas 2003). The signs of an element are the bits of one draw of PCG64, whose raw draws
    NumPy keeps the same for ever: every version and machine projects alike.

    Args:
        values: (E,).

    Returns:
        (F,), F = min(E, MOST_FEATURES).
    """
    array = np.asarray(values, np.float64)
    return array if len(array) <= MOST_FEATURES else array @ _projection(len(array))


@lru_cache(maxsize=4)
def _projection(width: int) -> NDArray[np.float64]:
    """(width, MOST_FEATURES) signs over sqrt(MOST_FEATURES)."""
    draws = np.random.PCG64(_SEED).random_raw(width)
    bits = (draws[:, None] >> np.arange(MOST_FEATURES, dtype=np.uint64)) & np.uint64(1)
    signs: NDArray[np.float64] = (2.0 * bits - 1.0) / np.sqrt(MOST_FEATURES)
    return signs


def feature_problem(features: Any) -> str:
    """Returns why features cannot be used; '' if they can."""
    try:
        array = np.asarray(features, np.float64)
    except (TypeError, ValueError, OverflowError, RuntimeError):  # a tensor that needs a gradient
        return 'they are no array of numbers'
    if array.ndim != 1 or not 0 < len(array) <= WIDEST:
        return f'they have shape {array.shape}; (E,) with 1 to {WIDEST} numbers is expected'
    return '' if np.isfinite(array).all() else 'they hold values that are not finite'


def with_reduced_features(inference: Inference) -> Inference:
    """Returns the inference with its features reduced, and what was done to them in their source.

    They are (F,) float64 then. Unusable ones are left out, with the reason in `unavailable`.
    Applied twice it changes nothing more.
    """
    given = inference.features
    if given is None:
        return inference
    if not isinstance(inference.feature_source, str):
        problem = f'feature_source is {inference.feature_source!r}; it must be a text'
    else:
        problem = feature_problem(given)
    if problem:
        reasons = {'features': problem, **inference.unavailable}
        return replace(inference, features=None, feature_source='', unavailable=reasons)
    reduced, width, source = reduced_features(given), len(given), inference.feature_source
    if reduced is given:
        return inference
    if width > MOST_FEATURES:
        done = f'{width} numbers projected to {MOST_FEATURES}'
        source = f'{source}, {done}' if source else done
    return replace(inference, features=reduced, feature_source=source)
