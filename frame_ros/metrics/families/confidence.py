# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Confidence from the probabilities of the tokens that were chosen (VLA calibration, section 3).

Of one inference, of an episode's inferences, and over rephrasings of the instruction. A softmax's
probability is no probability of success: that takes a recalibrator, fitted on episodes.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics import record
from frame_ros.metrics.arrays import Array, as_floats, check_variant, unavailable, weighted_sum
from frame_ros.metrics.constants import NAN
from frame_ros.metrics.engine.samples import RunningMean, WindowMean
from frame_ros.metrics.families.token_uncertainty import MEAN_OVER_TOKENS, MULTIMODAL, SOFTMAX

__all__ = [
    'EPISODE_AGGREGATES', 'EPISODE_WINDOW', 'EnsembleConfidence', 'EpisodeConfidence',
    'TOKEN_AGGREGATES', 'ensemble_confidence', 'episode_confidence', 'token_confidence',
    'token_groups',
]  # fmt: skip

# Over the tokens of an inference.
TOKEN_AGGREGATES = ('mean', 'geometric', 'min', 'max')

# Over the inferences of an episode.
EPISODE_AGGREGATES = ('first', 'mean', 'min', 'max', 'window')

# Inferences of the aggregate 'window' (VLA calibration, section 4.2).
EPISODE_WINDOW = 5

# Rounding of a softmax in single precision takes probabilities so far beyond their bounds.
_TOLERANCE = 1e-6


class EnsembleConfidence(NamedTuple):
    """Confidence over rephrasings: mean, and population standard deviation, NaN of fewer than 2."""

    mean: Array
    spread: Array


def token_confidence(
    probabilities: Any, aggregate: str = 'mean', groups: NDArray[np.integer] | None = None
) -> Array:
    """c_t: how likely the policy found the tokens that it chose. VLA calibration, section 3.3.

    Args:
        probabilities: (..., TN) probability of the chosen token of each of TN tokens.
        aggregate: over the tokens: 'mean' (arithmetic), 'geometric', 'min', 'max'.
        groups: (TN,) integers; tokens of one number are averaged first, then the groups (appendix
            B.1, for several tokens per action dimension). A negative number is a group of its own.
            Only with 'mean'.

    Returns:
        (...,) in [0, 1].

    Raises:
        ShapeError: no token, or not as many groups as tokens.
        ValueRangeError: a value is not finite or not in [0, 1], an unknown aggregate, or groups
            with another aggregate than 'mean'.
    """
    check_variant(aggregate, TOKEN_AGGREGATES, 'aggregate')
    xp, array = _probabilities(probabilities, 'probabilities', 'TN', 'token')
    if groups is not None:
        if aggregate != 'mean':
            raise ValueRangeError(f'groups are averaged; they do not go with {aggregate!r}')
        return _grouped_mean(xp, array, np.asarray(groups))
    if aggregate == 'geometric':
        logarithms = xp.log(xp.where(array > 0, array, 1.0))
        is_possible = xp.all(array > 0, axis=-1)
        return xp.where(is_possible, xp.exp(xp.mean(logarithms, axis=-1)), 0.0)[()]
    formula = {'mean': xp.mean, 'min': xp.min, 'max': xp.max}[aggregate]
    return formula(array, axis=-1)


def token_groups(step: NDArray[np.integer], dimension: NDArray[np.integer]) -> NDArray[np.integer]:
    """`groups` of `token_confidence`: one per step of the chunk and action dimension.

    Args:
        step, dimension: (TN,) as in PolicyInference.msg; -1: none of its own.

    Returns:
        (TN,); negative where a token belongs to no dimension.

    Raises:
        ShapeError: not as many steps as dimensions.
    """
    steps, dimensions = np.asarray(step), np.asarray(dimension)
    if steps.shape != dimensions.shape or steps.ndim != 1:
        raise ShapeError(
            f'steps have shape {steps.shape}, dimensions {dimensions.shape}; (TN,) both is expected'
        )
    width = int(dimensions.max(initial=0)) + 1
    numbers: NDArray[np.integer] = (steps.astype(np.int64) + 1) * width + dimensions
    return np.where(dimensions < 0, -1, numbers)


def episode_confidence(confidences: Any, aggregate: str = 'first') -> Array:
    """The confidence in an episode from those of its inferences. VLA calibration, section 3.4.

    Streaming form: `EpisodeConfidence`.

    Args:
        confidences: (..., T) of the T inferences so far, T at least 1.
        aggregate: 'first' (before the first action), 'mean' (of all so far), 'min', 'max', 'window'
            (mean of the last 5).

    Returns:
        (...,) in [0, 1].

    Raises:
        ShapeError: no inference.
        ValueRangeError: a value is not finite or not in [0, 1], or an unknown aggregate.
    """
    check_variant(aggregate, EPISODE_AGGREGATES, 'aggregate')
    xp, array = _probabilities(confidences, 'confidences', 'T', 'inference')
    if aggregate == 'first':
        return array[..., 0]
    if aggregate == 'window':
        return xp.mean(array[..., -EPISODE_WINDOW:], axis=-1)
    formula = {'mean': xp.mean, 'min': xp.min, 'max': xp.max}[aggregate]
    return formula(array, axis=-1)


def ensemble_confidence(confidences: Any) -> EnsembleConfidence:
    """Mean and spread of the confidence over rephrasings. VLA calibration, section 3.5.

    Args:
        confidences: (..., r) under each of r rephrasings of the instruction, r at least 1.

    Returns:
        mean and spread, (...,) each.

    Raises:
        ShapeError: no rephrasing.
        ValueRangeError: a value is not finite or not in [0, 1].
    """
    xp, array = _probabilities(confidences, 'confidences', 'r', 'rephrasing')
    mean = xp.mean(array, axis=-1)
    if array.shape[-1] < 2:
        return EnsembleConfidence(mean, unavailable(mean))
    return EnsembleConfidence(mean, xp.std(array, axis=-1))


def _probabilities(values: Any, name: str, axis: str, what: str) -> tuple[Any, Array]:
    xp, array = as_floats(values, name)
    if array.ndim < 1 or array.shape[-1] < 1:
        raise ShapeError(
            f'{name} have shape {tuple(array.shape)}; (..., {axis}) with at least 1 {what} is '
            'expected'
        )
    if bool(xp.any((array < -_TOLERANCE) | (array > 1.0 + _TOLERANCE))):
        raise ValueRangeError(
            f'{name} lie between {float(xp.min(array)):g} and {float(xp.max(array)):g}; they must '
            'lie between 0 and 1'
        )
    return xp, xp.clip(array, 0.0, 1.0)


def _grouped_mean(xp: Any, array: Array, groups: NDArray[np.integer]) -> Array:
    if groups.shape != (array.shape[-1],):
        raise ShapeError(
            f'groups have shape {groups.shape}; ({array.shape[-1]},), one per token, is expected'
        )
    means = weighted_sum(xp, array, xp.asarray(_weights(groups), dtype=array.dtype))
    return xp.clip(means, 0.0, 1.0)  # rounding of the weights


def _weights(groups: NDArray[np.integer]) -> NDArray[np.float64]:
    """Returns the weight (TN,) of each token in the mean over groups; they add up to 1."""
    alone = groups < 0
    _, places, sizes = np.unique(groups[~alone], return_inverse=True, return_counts=True)
    weights = np.ones(len(groups))
    weights[~alone] = 1.0 / sizes[places]
    weights /= weights.sum()
    return weights


def inference_confidences(
    chosen: NDArray[np.float64], step: NDArray[np.int32], dimension: NDArray[np.int32]
) -> tuple[float, float, float, float, float]:
    """`token_confidence` of one inference by TOKEN_AGGREGATES, to the bit, and its mean over
    `token_groups`: NaN if no token belongs to a dimension.

    Args:
        chosen: (TN,) finite, in [0, 1] within rounding, TN at least 1.
        step, dimension: (TN,), or both empty.
    """
    least, most = np.minimum.reduce(chosen), np.maximum.reduce(chosen)
    if least < 0.0 or most > 1.0:
        chosen = chosen.clip(0.0, 1.0)
        least, most = np.minimum.reduce(chosen), np.maximum.reduce(chosen)
    count, geometric, grouped = len(chosen), 0.0, NAN
    if least > 0.0:
        geometric = float(np.exp(np.add.reduce(np.log(chosen)) / count))
    if len(dimension) and np.maximum.reduce(dimension) >= 0:
        of_groups = float(chosen @ _weights_of(step.tobytes(), dimension.tobytes()))
        grouped = min(max(of_groups, 0.0), 1.0)  # rounding of the weights
    return float(np.add.reduce(chosen) / count), geometric, float(least), float(most), grouped


# Inference after inference has the same tokens.
@lru_cache(maxsize=16)
def _weights_of(step: bytes, dimension: bytes) -> NDArray[np.float64]:
    """Returns the `_weights` of the groups of steps and dimensions, int32."""
    return _weights(token_groups(*(np.frombuffer(each, np.int32) for each in (step, dimension))))


class EpisodeConfidence:
    """h(c_1 ... c_t) of an episode's inferences so far, in [0, 1]; NaN before the first.

    Batch form: `episode_confidence`. aggregate: 'first', 'mean', 'min', 'max' or 'window'.

    Source: VLA calibration, section 3.4.
    """

    def __init__(self, aggregate: str = 'first') -> None:
        check_variant(aggregate, EPISODE_AGGREGATES, 'aggregate')
        self._aggregate = aggregate
        self._mean: RunningMean | WindowMean = (
            WindowMean(EPISODE_WINDOW) if aggregate == 'window' else RunningMean()
        )
        self.reset()

    def reset(self) -> None:
        """Starts a new episode."""
        self._value = NAN
        self._mean.reset()

    def update(self, confidence: float) -> None:
        """Takes the confidence of one inference.

        Raises:
            ValueRangeError: it is not in [0, 1]; nothing has changed then.
        """
        if not 0.0 <= confidence <= 1.0:
            raise ValueRangeError(f'confidence is {confidence}; it must lie between 0 and 1')
        self._mean.update(confidence)
        if self._aggregate in ('mean', 'window'):
            self._value = self._mean.value
        elif self._value != self._value:
            self._value = confidence
        elif self._aggregate == 'min':
            self._value = min(self._value, confidence)
        elif self._aggregate == 'max':
            self._value = max(self._value, confidence)

    @property
    def value(self) -> float:
        """The confidence in the episode so far."""
        return self._value


NO_CHOSEN_TOKENS = record.Reason(
    'the probabilities of the chosen tokens are not known '
    '(or, for dimension_mean, their action dimensions)',
    record.Lack.CHOSEN_TOKENS,
)

_CHART = record.Chart('Confidence')

_confidence = partial(
    record.Metric, unit='1', higher_is_better=True, category='confidence', messages=('confidence',),
)  # fmt: skip

CONFIDENCE = _confidence(
    id='confidence', name='confidence', source='VLA calibration, section 3.3',
    reasons=(record.NO_TOKENS, NO_CHOSEN_TOKENS), batch=token_confidence, of_moments=record.MEAN,
    options=('confidence_aggregate',), line=record.Line(_CHART, 'confidence'),
    formula='cₜ = mean over tokens of the probability of the chosen token',
    shows='How likely the policy thought its own action.',
    misleads=f'{SOFTMAX}{MULTIMODAL}{MEAN_OVER_TOKENS}',
    variants='Arithmetic mean (default), geometric mean, smallest or largest over tokens; or the '
        'mean over action dimensions of the mean over their tokens. All classes V count, unless '
        'the policy restricts them to its action tokens.',
)  # fmt: skip

_of_tokens = partial(
    _confidence, source='VLA calibration, section 3.3',
    reasons=(record.NO_TOKENS, NO_CHOSEN_TOKENS), batch=token_confidence, of_moments=record.MEAN,
)  # fmt: skip

TOKEN_MEAN = _of_tokens(
    id='confidence_token_mean', name='mean token probability',
    formula='cₜ = 1/TN Σ_tn p_tn            p: probability of the chosen token',
    shows='How likely the policy found the tokens that it chose, on average.',
    misleads=f'{SOFTMAX}{MULTIMODAL}{MEAN_OVER_TOKENS}',
)  # fmt: skip

TOKEN_GEOMETRIC_MEAN = _of_tokens(
    id='confidence_geometric', name='geometric mean of token probabilities',
    line=record.Line(_CHART, 'geometric mean of tokens'),
    formula='cₜ = ( Π_tn p_tn )^(1/TN)',
    shows='The likelihood of the whole action, per token: comparable for any number of tokens.',
    misleads=f'{SOFTMAX}{MULTIMODAL}One token of probability 0 makes it 0.',
)  # fmt: skip

TOKEN_MINIMUM = _of_tokens(
    id='confidence_min', name='smallest token probability',
    line=record.Line(_CHART, 'smallest of tokens'),
    formula='cₜ = min_tn p_tn',
    shows='The token that the policy was least sure of: one doubtful joint suffices.',
    misleads=f'{SOFTMAX}{MULTIMODAL}The more tokens, the lower: compare within one model and one '
        'length of chunk. A single token is noise; it may be one that hardly matters.',
)  # fmt: skip

TOKEN_MAXIMUM = _of_tokens(
    id='confidence_max', name='largest token probability',
    formula='cₜ = max_tn p_tn',
    shows='The token that the policy was most sure of.',
    misleads=f'{SOFTMAX}It is near 1 in most actions, since some dimension hardly ever changes: '
        'it says little.',
)  # fmt: skip

CALIBRATED_CONFIDENCE = _confidence(
    id='confidence_calibrated', name='calibrated confidence', source='VLA calibration, section 3.6',
    reasons=(
        record.NO_TOKENS, NO_CHOSEN_TOKENS,
        record.Reason('no recalibrator is loaded', record.Lack.CALIBRATION),
    ),
    of_moments=record.MEAN,
    formula='g(cₜ)                          g: recalibrator fitted on earlier episodes',
    shows='Confidence on the scale of success: of episodes at 0.8, about 80 % should succeed.',
    misleads='It holds for the task, robot and scenes that g was fitted on; elsewhere it is again '
        'a guess. Fitted on few episodes, its own interval is wide.',
)  # fmt: skip

CONFIDENCE_OF_EPISODE = _confidence(
    id='confidence_episode', name='confidence of the episode so far',
    source='VLA calibration, section 3.4', reasons=(record.NO_TOKENS, NO_CHOSEN_TOKENS),
    batch=episode_confidence, streaming=EpisodeConfidence,
    options=('confidence_aggregate', 'confidence_episode'),
    formula='h(c₁ … cₜ)                     first step, mean, smallest, largest, or a window',
    shows='The confidence in the episode so far, as one number.',
    misleads='The first step knows the scene and nothing of what happens; a mean over a long '
        'episode dilutes the moment of doubt. Values of different h are not comparable.',
)  # fmt: skip

ENSEMBLE_MEAN = _confidence(
    id='ensemble_mean', name='mean confidence over rephrasings',
    source='VLA calibration, section 3.5',
    reasons=(record.Reason('no rephrasings of the instruction', record.Lack.REPHRASINGS),),
    batch=ensemble_confidence,
    of_moments=record.MEAN,
    formula='1/r Σᵢ cᵢ                      over r rephrasings of the instruction',
    shows='Confidence that does not hang on one wording.',
    misleads='Rephrasings that change the meaning lower it for no reason, and it costs r '
        'inferences.',
)  # fmt: skip

ENSEMBLE_SPREAD = _confidence(
    id='ensemble_spread', name='spread of confidence over rephrasings', higher_is_better=False,
    minimum_samples=2, source='VLA calibration, section 3.5',
    reasons=(
        record.Reason('fewer than two rephrasings of the instruction', record.Lack.REPHRASINGS),
    ),
    batch=ensemble_confidence, of_moments=record.MEAN,
    formula='√( 1/r Σᵢ (cᵢ − c̄)² )          population standard deviation over rephrasings',
    shows='How much the confidence hangs on the wording: large values show a fragile '
        'understanding.',
    misleads='With two or three rephrasings it is mostly chance. A policy that ignores the '
        'instruction has a spread of 0.',
)  # fmt: skip
