# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Confidences with the outcomes of their episodes, checked, and their bootstrap by episodes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import array_api_compat, as_floats, on_cpu

Array = NDArray[np.float64]
# Rounding of a softmax in single precision takes probabilities so far beyond their bounds.
TOLERANCE = 1e-6
# Draws, of resamples and episodes, that are kept for the next call.
_MOST_KEPT = 2_000_000


def as_confidences(values: Any, axes: str = 'N') -> Array:
    """Returns confidences as float64, cut to [0, 1].

    Args:
        values: of the shape that `axes` names, such as 'N' or 'N, D'; NumPy, torch or a sequence.

    Raises:
        ShapeError: another number of axes, or an empty one.
        ValueRangeError: a value is not finite or not in [0, 1].
    """
    array = np.asarray(on_cpu(as_floats(values, 'confidences')[1]), dtype=np.float64)
    if array.ndim != axes.count(',') + 1 or not array.size:
        raise ShapeError(f'confidences have shape {array.shape}; ({axes},) is expected, not empty')
    if array.min() < -TOLERANCE or array.max() > 1.0 + TOLERANCE:
        raise ValueRangeError(
            f'confidences lie between {array.min():g} and {array.max():g}; they must lie between '
            '0 and 1'
        )
    return np.clip(array, 0.0, 1.0)


def as_given(found: Array, given: Any) -> Any:
    """Returns numbers that were made of `given`: of a torch tensor as one of its device and type
    (float64 of whole numbers), without its gradient; otherwise as they are.
    """
    if not array_api_compat.is_torch_array(given):
        return found
    return (given if given.is_floating_point() else given.double()).new_tensor(found)


def as_outcomes(values: Any, count: int) -> Array:
    """Returns outcomes as float64: 1.0 success, 0.0 failure.

    Args:
        values: (N,) booleans, or 0 and 1.
        count: N.

    Raises:
        ShapeError: another shape.
        ValueRangeError: a value is neither 0 nor 1.
    """
    array = np.asarray(on_cpu(as_floats(values, 'outcomes')[1]), dtype=np.float64)
    if array.shape != (count,):
        raise ShapeError(
            f'outcomes have shape {array.shape}; ({count},), one per confidence, is expected'
        )
    if not ((array == 0.0) | (array == 1.0)).all():
        raise ValueRangeError('outcomes hold other values than 0 and 1 (False and True)')
    return array


def as_episodes(values: Any, count: int) -> NDArray[np.intp]:
    """Returns the number of the episode that each sample belongs to, from 0.

    Args:
        values: (N,) any labels; None: every sample is an episode.
        count: N.

    Raises:
        ShapeError: another shape.
    """
    if values is None:
        return np.arange(count)
    labels = np.asarray(values)
    if labels.shape != (count,):
        raise ShapeError(
            f'episodes have shape {labels.shape}; ({count},), one per confidence, is expected'
        )
    return np.unique(labels, return_inverse=True)[1].reshape(count)


def episode_resamples(episodes: int, resamples: int, seed: int) -> NDArray[np.int64]:
    """Returns how often each episode was drawn, with replacement, (resamples, episodes).

    The array is read-only.
    """
    draw = _drawn if episodes * resamples > _MOST_KEPT else _kept
    return draw(episodes, resamples, seed)


def _drawn(episodes: int, resamples: int, seed: int) -> NDArray[np.int64]:
    shares = np.full(episodes, 1.0 / episodes)
    found = np.random.default_rng(seed).multinomial(episodes, shares, size=resamples)
    found.flags.writeable = False
    return found


# The same episodes are resampled for one statistic after the other.
_kept = lru_cache(maxsize=4)(_drawn)
