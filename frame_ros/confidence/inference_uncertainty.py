# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Uncertainties and confidences of one inference, from its PolicyInference.

The same few lines serve a live message and a row of a bag, so both give the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite, log
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
CHOSEN_FIELDS = ('token_chosen_probability', 'token_step', 'token_dimension')
ENSEMBLE_FIELD = 'rephrasing_confidences'
# Aggregates of an inference's confidence over its tokens: TOKEN_AGGREGATES, and the mean over
# action dimensions of the mean over their tokens.
CONFIDENCE_AGGREGATES = ('mean', 'dimension_mean', 'geometric', 'min', 'max')
# And over the inferences of an episode: those of frame_ros.metrics, which is not imported here.
EPISODE_AGGREGATES = ('first', 'mean', 'min', 'max', 'window')
CONFIDENCES = tuple(f'confidence_{name}' for name in CONFIDENCE_AGGREGATES)
ENSEMBLE_METRICS = ('ensemble_mean', 'ensemble_spread')
_NO_SAMPLES = {
    'ev': NAN, 'sample_spread': np.zeros(0), 'chunk_entropy': NAN, 'samples': np.zeros((0, 0, 0)),
}  # fmt: skip
SAMPLE_VALUES = tuple(_NO_SAMPLES)
# The common result of the four functions.
UNCERTAINTY_VALUES = (
    *TOKEN_METRICS, *SAMPLE_VALUES, *CONFIDENCES, *ENSEMBLE_METRICS,
    'tokens_problem', 'samples_problem', 'confidence_problem', 'ensemble_problem',
)  # fmt: skip
CHUNK_VALUES = ('chunk_consistency', 'chunk_shift')
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
    lists = [statistics[name] for name in TOKEN_FIELDS]
    lengths = [len(each) for each in lists]
    problem = ''
    if len(set(lengths)) > 1:
        named = ', '.join(f'{name} {length}' for name, length in zip(TOKEN_FIELDS, lengths))
        problem = f'token statistics differ in length: {named}'
    elif lengths[0]:
        table = np.array(lists, dtype=np.float64)
        problem = _token_problem(table, vocabulary_size)
    if problem or not lengths[0]:
        return {**dict.fromkeys(TOKEN_METRICS, NAN), 'tokens_problem': problem}
    # Imported here: without array-api-compat a reader of messages still loads, and says it lacks.
    from frame_ros.metrics.token_probabilities import uncertainties

    means = (np.add.reduce(table, axis=1) / table.shape[1]).tolist()
    return {**uncertainties(means), 'tokens_problem': ''}


def _token_problem(table: NDArray[np.float64], vocabulary_size: int) -> str:
    """Returns why token statistics (4, TN) are not those of distributions over V classes."""
    if vocabulary_size < 2:
        return f'vocabulary_size of an inference with tokens is {vocabulary_size}, not 2 or more'
    lowest = np.minimum.reduce(table, axis=1).tolist()
    highest = np.maximum.reduce(table, axis=1).tolist()
    most = 1.0 + _TOLERANCE
    nats = log(vocabulary_size) * most + _TOLERANCE
    for row, limit in enumerate((most, most, most, nats)):
        # NaN is neither.
        if not (lowest[row] >= -_TOLERANCE and highest[row] <= limit):
            bound = '1' if row < 3 else f'ln {vocabulary_size}'
            worst = _worst(table[row], limit)
            hint = '' if row == 3 else _hint(worst)
            return f'{TOKEN_FIELDS[row]} {worst:g} does not lie between 0 and {bound}{hint}'
    if np.maximum.reduce(table[1] - table[0]) > _TOLERANCE:
        return 'token_second_probability is above token_max_probability'
    return ''


def _worst(array: NDArray[np.float64], most: float) -> float:
    return float(array[~((array >= -_TOLERANCE) & (array <= most))][0])


def _hint(worst: float) -> str:
    """Returns what the policy may have given in place of probabilities."""
    return '; take the exponential of log-probabilities' if worst < -_TOLERANCE else ''


def chosen_confidence(statistics: Mapping[str, Any], count: int) -> dict[str, Any]:
    """The confidence of one inference by each of CONFIDENCE_AGGREGATES.

    Args:
        statistics: CHOSEN_FIELDS -> (TN,) values. Empty, or NaN, probabilities: it is not known
            which tokens were taken.
        count: TN, tokens of the inference.

    Returns:
        CONFIDENCES -> value in [0, 1], NaN if there are no tokens or their probabilities are not
        known or unusable; 'confidence_problem': what is wrong with them, or ''.
    """
    unknown = {**dict.fromkeys(CONFIDENCES, NAN), 'confidence_problem': ''}
    if not len(statistics[CHOSEN_FIELDS[0]]):
        return unknown
    chosen = np.asarray(statistics[CHOSEN_FIELDS[0]], dtype=np.float64)
    step, dimension = (np.asarray(statistics[name], dtype=np.int32) for name in CHOSEN_FIELDS[1:])
    if len(chosen) == count and np.isnan(np.minimum.reduce(chosen)):
        return unknown
    problem = _chosen_problem(chosen, step, dimension, count)
    if problem:
        return {**unknown, 'confidence_problem': problem}
    from frame_ros.metrics.families.confidence import inference_confidences

    mean, geometric, least, most, of_groups = inference_confidences(chosen, step, dimension)
    return dict(zip(CONFIDENCES, (mean, of_groups, geometric, least, most)), confidence_problem='')


def _chosen_problem(
    chosen: NDArray[np.float64], step: NDArray, dimension: NDArray, count: int
) -> str:
    if len(chosen) != count:
        return f'token_chosen_probability has {len(chosen)} values for {count} tokens'
    if len(step) != len(dimension) or len(step) not in (0, count):
        return f'token_step has {len(step)} and token_dimension {len(dimension)} values for {count}'
    most = 1.0 + _TOLERANCE
    if not (np.minimum.reduce(chosen) >= -_TOLERANCE and np.maximum.reduce(chosen) <= most):
        worst = _worst(chosen, most)
        return f'token_chosen_probability {worst:g} does not lie between 0 and 1{_hint(worst)}'
    return ''


def ensemble_values(confidences: Any) -> dict[str, Any]:
    """Mean and spread of one inference's confidence over rephrasings of the instruction.

    Args:
        confidences: (r,), each in [0, 1]; empty: no prompt ensemble.

    Returns:
        ENSEMBLE_METRICS -> value, NaN if there are none or they are unusable (the spread also of
        one); 'ensemble_problem': what is wrong with them, or ''.
    """
    nothing = dict.fromkeys(ENSEMBLE_METRICS, NAN)
    if not len(confidences):
        return {**nothing, 'ensemble_problem': ''}
    values = np.asarray(confidences, dtype=np.float64)
    most = 1.0 + _TOLERANCE
    if not (values.min() >= -_TOLERANCE and values.max() <= most):
        worst = _worst(values, most)
        problem = f'{ENSEMBLE_FIELD} {worst:g} does not lie between 0 and 1'
        return {**nothing, 'ensemble_problem': problem}
    from frame_ros.metrics import ensemble_confidence

    found = ensemble_confidence(values)
    pair = zip(ENSEMBLE_METRICS, (float(found.mean), float(found.spread)))
    return {**dict(pair), 'ensemble_problem': ''}


def sample_values(samples: Any, count: int, horizon: int, dimension: int) -> dict[str, Any]:
    """Spread and entropy of the sampled chunks of one inference.

    Args:
        samples: (N x H x D,) values of N sampled chunks, row-major; empty: none.
        count, horizon, dimension: N, H, D.

    Returns:
        'ev': mean over the H steps of `execution_variability`, and 'sample_spread' (H,) those, in
        the unit of the action; 'chunk_entropy', nats, NaN also where the samples of a step are all
        equal; 'samples' (N, H, D). NaN and empty if there are no samples, or they are
        unusable; 'samples_problem': what is wrong with them, or ''.
    """
    problem = _sample_problem(len(samples), count, horizon, dimension)
    if problem or not count:
        return {**_NO_SAMPLES, 'samples_problem': problem}
    from frame_ros.metrics.arrays import array_api_compat
    from frame_ros.metrics.families.sampled_actions import deviations
    from frame_ros.metrics.families.sampled_chunks import entropy_of_chunks

    values = np.asarray(samples, dtype=np.float64).reshape(count, horizon, dimension)
    spread = deviations(values.reshape(count, -1))
    variability = float(np.add.reduce(spread) / spread.size)
    if not isfinite(variability):
        is_finite = np.isfinite(values).all()
        what = (
            'are too large to have a deviation' if is_finite else 'hold values that are not finite'
        )
        return {**_NO_SAMPLES, 'samples_problem': f'samples {what}'}
    with np.errstate(over='ignore', invalid='ignore'):
        library = array_api_compat.array_namespace(values)
        entropy = float(entropy_of_chunks(library, values))
    return {
        'ev': variability,
        'sample_spread': spread.reshape(horizon, dimension).mean(axis=1),
        'chunk_entropy': entropy if isfinite(entropy) else NAN,
        'samples': values,
        'samples_problem': '',
    }


def chunk_values(consistency: float, shift: float) -> dict[str, Any]:
    """Comparison of the chunk of one inference with the one before it.

    Args:
        consistency: mean distance over the steps both predict, unit of the joints.
        shift: steps from the beginning of the one before; 0: not known, so nothing is.

    Returns:
        'chunk_consistency', NaN if it is not known, and 'chunk_shift', 0 then.
    """
    is_known = isfinite(shift) and shift > 0
    is_distance = is_known and isfinite(consistency) and consistency >= 0
    return {
        'chunk_consistency': float(consistency) if is_distance else NAN,
        'chunk_shift': float(shift) if is_known else 0.0,
    }


def is_delta(action_space: str) -> bool:
    """Returns whether rows of a chunk are changes, which start from a state that is not known."""
    return action_space.endswith('_delta')


def _sample_problem(length: int, count: int, horizon: int, dimension: int) -> str:
    expected = count * horizon * dimension
    if length != expected or (count and not expected):
        return (
            f'samples hold {length} values; {count} chunks of {horizon} steps and '
            f'{dimension} dimensions have {expected}'
        )
    return 'a single sampled chunk has no deviation; 2 or more are needed' if count == 1 else ''
