# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Uncertainty of one inference from the probabilities of its tokens (VLA-UQ eq. 7-14).

Each metric has two doors: the full probabilities (..., TN, V), or the per-token statistics
that a PolicyInference message carries (`token_metrics`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from math import log
from typing import Any

from frame_ros.core.errors import ValueRangeError
from frame_ros.metrics import record
from frame_ros.metrics.arrays import Array, array_api_compat, check_same_shape, check_variant, inner
from frame_ros.metrics.token_probabilities import (
    TOKEN_VARIANTS,
    StreamingTokenUncertainty,
    largest_gini,
    mean_over_tokens,
    token_statistic,
    uncertainties,
)

__all__ = [
    'DeepGini', 'PredictionConfidenceUncertainty', 'TokenEntropy', 'TokenProbabilityUncertainty',
    'deepgini', 'prediction_confidence_uncertainty', 'token_entropy', 'token_metrics',
    'token_probability_uncertainty',
]  # fmt: skip


def token_probability_uncertainty(
    p: Any, normalised: bool = False, variant: str = 'paper', validate: bool = True
) -> Array:
    """TB-TP: 1 - mean over tokens of the largest probability. VLA-UQ eq. 8.

    Args:
        p: (..., TN, V) probabilities of the V classes of each of TN tokens.
        normalised: divide by the maximum for V classes, 1 - 1/V.
        variant: 'paper'; or 'authors': normalised, as their code reports it.
        validate: False takes it on trust that p are probabilities, as of a softmax: half of the
            time goes into the check.

    Returns:
        (...,) in [0, 1].

    Raises:
        ShapeError: another shape, no token, fewer than 2 classes.
        ValueRangeError: p are no probabilities that add up to 1, or an unknown variant.
    """
    check_variant(variant, TOKEN_VARIANTS)
    values, classes = mean_over_tokens(p, _unlikeliness, validate)
    return values / largest_gini(classes, normalised or variant == 'authors')


def _unlikeliness(xp: Any, tokens: Array) -> Array:
    return 1.0 - xp.max(tokens, axis=-1)


def prediction_confidence_uncertainty(
    p: Any, normalised: bool = False, variant: str = 'paper', validate: bool = True
) -> Array:
    """TB-PCS: 1 - mean over tokens of (largest - second largest probability). VLA-UQ eq. 10.

    Its maximum is 1 for any number of classes, so `normalised` and `variant` change nothing.
    Arguments, returns and errors: see `token_probability_uncertainty`.
    """
    check_variant(variant, TOKEN_VARIANTS)
    return mean_over_tokens(p, _closeness_of_two, validate)[0]


def _closeness_of_two(xp: Any, tokens: Array) -> Array:
    largest = xp.max(tokens, axis=-1)
    # Without the one chosen maximum the largest of the rest is the second largest, ties included.
    rest = xp.astype(tokens, tokens.dtype, copy=True)
    rows = xp.arange(rest.shape[0], device=array_api_compat.device(tokens))
    rest[rows, xp.argmax(tokens, axis=-1)] = -1.0
    return 1.0 - (largest - xp.max(rest, axis=-1))


def deepgini(
    p: Any, normalised: bool = False, variant: str = 'paper', validate: bool = True
) -> Array:
    """TB-D: mean over tokens of 1 - sum of squared probabilities. VLA-UQ eq. 12.

    Arguments, returns and errors: see `token_probability_uncertainty`; the maximum is 1 - 1/V.
    """
    check_variant(variant, TOKEN_VARIANTS)
    values, classes = mean_over_tokens(p, _impurity, validate)
    return values / largest_gini(classes, normalised or variant == 'authors')


def _impurity(xp: Any, tokens: Array) -> Array:
    return 1.0 - inner(xp, tokens, tokens)


def token_entropy(
    p: Any, normalised: bool = False, variant: str = 'paper', validate: bool = True
) -> Array:
    """TB-E: mean over tokens of the entropy, nats. VLA-UQ eq. 14.

    Arguments, returns and errors: see `token_probability_uncertainty`; the maximum is ln V.
    """
    check_variant(variant, TOKEN_VARIANTS)
    values, classes = mean_over_tokens(p, _entropies, validate)
    return values / (log(classes) if normalised or variant == 'authors' else 1.0)


def _entropies(xp: Any, tokens: Array) -> Array:
    return -inner(xp, tokens, xp.log(xp.where(tokens > 0, tokens, 1.0)))  # 0 log 0 is 0


def token_metrics(
    max_probability: Any,
    second_probability: Any,
    sum_of_squares: Any,
    entropy: Any,
    vocabulary_size: int | None = None,
) -> dict[str, Array]:
    """TB-TP, TB-PCS, TB-D and TB-E from per-token statistics (PolicyInference.msg).

    Args:
        max_probability: (..., TN) largest probability of each token.
        second_probability: (..., TN) second largest.
        sum_of_squares: (..., TN) sum over the classes of p squared.
        entropy: (..., TN) nats.
        vocabulary_size: V: then each is divided by its maximum for V classes. None: as in the
            paper.

    Returns:
        'tb_tp', 'tb_pcs', 'tb_d', 'tb_e', (...,) each.

    Raises:
        ShapeError: no token, or shapes differ.
        ValueRangeError: a value is not finite, or vocabulary_size is below 2.
    """
    if vocabulary_size is not None and vocabulary_size < 2:
        raise ValueRangeError(f'vocabulary_size is {vocabulary_size}; 2 or more is expected')
    xp, largest = token_statistic(max_probability, 'max_probability')
    second = token_statistic(second_probability, 'second_probability')[1]
    squares = token_statistic(sum_of_squares, 'sum_of_squares')[1]
    entropies = token_statistic(entropy, 'entropy')[1]
    for name, other in (
        ('second_probability', second),
        ('sum_of_squares', squares),
        ('entropy', entropies),
    ):
        check_same_shape(largest, other, ('max_probability', name))
    values = uncertainties(xp.mean(xp.stack((largest, second, squares, entropies)), axis=-1))
    if vocabulary_size is None:
        return values
    gini = largest_gini(vocabulary_size, True)
    most = {'tb_tp': gini, 'tb_pcs': 1.0, 'tb_d': gini, 'tb_e': log(vocabulary_size)}
    return {name: values[name] / most[name] for name in values}


class TokenProbabilityUncertainty(StreamingTokenUncertainty):
    """TB-TP of inferences: `step`, `value` (window), `mean`. Batch:
    `token_probability_uncertainty`.
    """

    _batch = token_probability_uncertainty


class PredictionConfidenceUncertainty(StreamingTokenUncertainty):
    """TB-PCS of inferences: `step`, `value` (window), `mean`. Batch:
    `prediction_confidence_uncertainty`.
    """

    _batch = prediction_confidence_uncertainty


class DeepGini(StreamingTokenUncertainty):
    """TB-D of inferences: `step`, `value` (window), `mean`. Batch form: `deepgini`."""

    _batch = deepgini


class TokenEntropy(StreamingTokenUncertainty):
    """TB-E of inferences, nats: `step`, `value` (window), `mean`. Batch form: `token_entropy`."""

    _batch = token_entropy


def _torch_form(largest: float | None, unit: str = '1') -> record.TorchForm:
    def unit_of(options: Mapping[str, Any]) -> str:
        return '1' if options['normalised'] or options['variant'] == 'authors' else unit

    options = ('normalised', 'variant')
    return record.TorchForm(('p',), options, 'token_mask', unit=unit_of, plot_bounds=(0.0, largest))


_CHART = record.Chart('Token uncertainty')

SOFTMAX = (
    'A softmax is not a probability of success: models are often sure of wrong actions, so '
    'calibrate before thresholding. Decoding without sampling changes the actions, not these '
    'values; decoding at another temperature than 1 changes both, if it is applied before. '
)
_CLASSES = (
    'Its maximum depends on the number V of classes, and a large vocabulary of which few tokens '
    'are actions lowers the values: compare within one model, or normalised. '
)
MULTIMODAL = 'Two equally good ways to act look like doubt. '
MEAN_OVER_TOKENS = 'The mean over tokens hides one uncertain joint among several sure ones. '
_NORMALISED = '`normalised` (also `authors`): divided by the maximum for V classes, '

_uncertainty = partial(
    record.Metric, unit='1', higher_is_better=False, category='uncertainty',
    reasons=(record.NO_TOKENS, record.Reason('not computed for this policy')),
    torch_form=_torch_form(1.0), messages=('confidence',), has_three_forms=True,
)  # fmt: skip

TOKEN_PROBABILITY_UNCERTAINTY = _uncertainty(
    id='tb_tp', name='token probability uncertainty', source='VLA-UQ eq. 8',
    batch=token_probability_uncertainty, streaming=TokenProbabilityUncertainty,
    torch='TokenProbabilityUncertainty', line=record.Line(_CHART, 'token probability', '_step'),
    formula='uₜ = 1 − 1/TN Σ_tn maxᵢ pᵢ     over TN tokens of an action',
    shows='How little probability the most likely tokens have: 0 is sure.',
    misleads=f'{SOFTMAX}{_CLASSES}{MULTIMODAL}{MEAN_OVER_TOKENS}',
    variants=f'{_NORMALISED}1 − 1/V.',
)  # fmt: skip

PREDICTION_CONFIDENCE_UNCERTAINTY = _uncertainty(
    id='tb_pcs', name='prediction confidence score uncertainty', source='VLA-UQ eq. 10',
    batch=prediction_confidence_uncertainty, streaming=PredictionConfidenceUncertainty,
    torch='PredictionConfidenceUncertainty',
    line=record.Line(_CHART, 'prediction confidence score', '_step'),
    formula='uₜ = 1 − 1/TN Σ_tn (largest p − second largest p)',
    shows='How close the runner-up is to the most likely token: 1 is a tie.',
    misleads=f'{SOFTMAX}Neighbouring bins of a discretised action mean almost the same motion: a '
        f'tie between them is no doubt. {MULTIMODAL}{MEAN_OVER_TOKENS}',
    variants='Its maximum is 1 for any V: normalising changes nothing.',
)  # fmt: skip

TOKEN_GINI = _uncertainty(
    id='tb_d', name='DeepGini', source='VLA-UQ eq. 12', batch=deepgini, streaming=DeepGini,
    torch='DeepGini', line=record.Line(_CHART, 'DeepGini', '_step'),
    formula='uₜ = 1/TN Σ_tn (1 − Σᵢ pᵢ²)',
    shows='DeepGini: the chance that two draws from the token distribution differ.',
    misleads=f'{SOFTMAX}{_CLASSES}Neighbouring bins count as different actions. '
        f'{MULTIMODAL}{MEAN_OVER_TOKENS}',
    variants=f'{_NORMALISED}1 − 1/V.',
)  # fmt: skip

ENTROPY_OF_TOKENS = _uncertainty(
    id='tb_e', name='token entropy', unit='nats', source='VLA-UQ eq. 14', batch=token_entropy,
    streaming=TokenEntropy, torch='TokenEntropy', torch_form=_torch_form(None, 'nats'),
    line=record.Line(record.Chart('Token entropy'), 'entropy', '_step'),
    formula='uₜ = −1/TN Σ_tn Σᵢ pᵢ ln pᵢ',
    shows='Entropy of the token distribution in nats: how many tokens are in play, e^u of them.',
    misleads=f'{SOFTMAX}{_CLASSES}A long tail of unlikely tokens raises it although none is ever '
        f'chosen. {MULTIMODAL}{MEAN_OVER_TOKENS}',
    variants=f'{_NORMALISED}ln V; then it is a share, no longer nats.',
)  # fmt: skip
