# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The uncertainties of one inference, from what its PolicyInference carries; or why there are none.

The same few lines serve a live message and a row of a bag, so both give the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

NAN = float('nan')
TOKEN_METRICS = ('tb_tp', 'tb_pcs', 'tb_d', 'tb_e')
TOKEN_FIELDS = (
    'token_max_probability',
    'token_second_probability',
    'token_sum_of_squares',
    'token_entropy',
)
# What the two functions return together.
UNCERTAINTY_VALUES = (*TOKEN_METRICS, 'ev', 'tokens_problem', 'samples_problem')
# Rounding of a softmax in single precision takes probabilities so far beyond their bounds.
_TOLERANCE = 1e-6


def token_uncertainty(statistics: Mapping[str, Any], vocabulary_size: int) -> dict[str, Any]:
    """TB-TP, TB-PCS, TB-D and TB-E of one inference, as in the papers (not normalised).

    Args:
        statistics: TOKEN_FIELDS -> (TN,) values of the TN tokens; empty: the policy yields none.
        vocabulary_size: V.

    Returns:
        TOKEN_METRICS -> value, NaN if there are no tokens or they are unusable; 'tokens_problem':
        what is wrong with them, or ''.
    """
    arrays = [np.asarray(statistics[name], dtype=np.float64) for name in TOKEN_FIELDS]
    problem = _token_problem(arrays, vocabulary_size) if any(map(len, arrays)) else ''
    if problem or not len(arrays[0]):
        return {**dict.fromkeys(TOKEN_METRICS, NAN), 'tokens_problem': problem}
    # Imported here: without array-api-compat a reader of messages still loads, and says it lacks.
    from frame_ros.metrics import token_metrics

    largest, second, squares, entropy = arrays
    values = token_metrics(largest, second, squares, entropy)
    return {**{name: float(values[name]) for name in TOKEN_METRICS}, 'tokens_problem': ''}


def _token_problem(arrays: list[NDArray[np.float64]], vocabulary_size: int) -> str:
    """What keeps token statistics from being those of distributions over V classes."""
    largest, second, squares, entropy = arrays
    if len({len(array) for array in arrays}) > 1:
        lengths = ', '.join(f'{name} {len(a)}' for name, a in zip(TOKEN_FIELDS, arrays))
        return f'token statistics differ in length: {lengths}'
    if vocabulary_size < 2:
        return f'vocabulary_size of an inference with tokens is {vocabulary_size}, not 2 or more'
    most = 1.0 + _TOLERANCE
    for name, array in zip(TOKEN_FIELDS[:3], arrays):
        # NaN is neither.
        if not (array.min() >= -_TOLERANCE and array.max() <= most):
            return f'{name} {_worst(array, most):g} does not lie between 0 and 1'
    if not (second <= largest + _TOLERANCE).all():
        return 'token_second_probability is above token_max_probability'
    most = float(np.log(vocabulary_size)) * most + _TOLERANCE
    if not (entropy.min() >= -_TOLERANCE and entropy.max() <= most):
        return (
            f'token_entropy {_worst(entropy, most):g} does not lie between 0 and '
            f'ln {vocabulary_size}'
        )
    return ''


def _worst(array: NDArray[np.float64], most: float) -> float:
    return float(array[~((array >= -_TOLERANCE) & (array <= most))][0])


def sample_variability(samples: Any, count: int, horizon: int, dimension: int) -> dict[str, Any]:
    """EV of one inference: the mean over the H steps of the chunk of `execution_variability`.

    Args:
        samples: (N x H x D,) values of N sampled chunks, row-major; empty: none.
        count, horizon, dimension: N, H, D.

    Returns:
        'ev' in the unit of the action, NaN if there are no samples or they are unusable;
        'samples_problem': what is wrong with them, or ''.
    """
    values = np.asarray(samples, dtype=np.float64)
    problem = _sample_problem(values, count, horizon, dimension)
    if problem or not count:
        return {'ev': NAN, 'samples_problem': problem}
    from frame_ros.metrics import execution_variability

    chunks = values.reshape(count, horizon, dimension).swapaxes(0, 1)
    with np.errstate(over='ignore'):
        variability = float(execution_variability(chunks).mean())
    if not np.isfinite(variability):
        return {'ev': NAN, 'samples_problem': 'samples are too large to have a deviation'}
    return {'ev': variability, 'samples_problem': ''}


def _sample_problem(values: NDArray[np.float64], count: int, horizon: int, dimension: int) -> str:
    expected = count * horizon * dimension
    if len(values) != expected or (count and not expected):
        return (
            f'samples hold {len(values)} values; {count} chunks of {horizon} steps and '
            f'{dimension} dimensions have {expected}'
        )
    if count == 1:
        return 'a single sampled chunk has no deviation; 2 or more are needed'
    return '' if np.isfinite(values).all() else 'samples hold values that are not finite'
