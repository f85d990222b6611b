# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Sampled chunks of actions: their spread along the horizon, entropy, and consistency from one
inference to the next.
"""

from __future__ import annotations

from math import e, isfinite, log, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.core.turns import nearest_turn
from frame_ros.metrics import record
from frame_ros.metrics.arrays import Array, as_floats, checked_count, like
from frame_ros.metrics.engine.samples import check_finite_block
from frame_ros.metrics.families.sampled_actions import execution_variability
from frame_ros.metrics.shrunk_covariance import shrink

__all__ = ['StatisticalConsistency', 'chunk_entropy', 'sample_spread', 'statistical_consistency']


def sample_spread(samples: Any) -> Array:
    """Spread of sampled chunks at each step: `execution_variability` along the horizon.

    Args:
        samples: (N, H, D): N chunks inferred from one observation, N >= 2.

    Returns:
        (H,) in the action's unit; its mean is EV.

    Raises:
        ShapeError: another shape, or fewer than 2 samples.
        ValueRangeError: a value is not finite.
    """
    xp, array = _chunks(samples, 'samples')
    return execution_variability(xp.permute_dims(array, (1, 0, 2)))


def chunk_entropy(samples: Any) -> Array:
    """Differential entropy of a Gaussian over sampled chunks, mean over the steps.

    At each step 1/2 ln det(2 pi e S), S the covariance of the N samples with Ledoit-Wolf shrinkage,
    so that few samples suffice.

    Args:
        samples: (N, H, D): N chunks inferred from one observation, N >= 2.

    Returns:
        A scalar, nats; -infinity where the samples of a step are all equal, or fill no volume even
        with the shrinkage: two in several dimensions, or as many of each of two.

    Raises:
        ShapeError: another shape, or fewer than 2 samples.
        ValueRangeError: a value is not finite.
    """
    return entropy_of_chunks(*_chunks(samples, 'samples'))


def entropy_of_chunks(xp: Any, samples: Array) -> Array:
    """`chunk_entropy` of samples that are known to be usable, of the library `xp`."""
    steps, dimension = samples.shape[1:]
    found = shrink(xp, xp.permute_dims(samples, (1, 0, 2)))
    sign, logarithm = xp.linalg.slogdet(found.covariance)
    has_volume = sign > 0
    # Without shrinkage a covariance may be singular, and its determinant is that of rounding.
    least = 16 * dimension * xp.finfo(samples.dtype).eps
    is_bare = found.shrinkage < least
    if bool(xp.any(is_bare)):
        has_volume[is_bare] = False  # N samples have at most N - 1 directions
        if samples.shape[0] > dimension:
            ranks = xp.linalg.matrix_rank(found.covariance[is_bare], rtol=least)
            has_volume[is_bare] = ranks == dimension
    determinants = xp.where(has_volume, logarithm, -xp.inf)
    return 0.5 * (xp.sum(determinants) / steps + dimension * log(2.0 * pi * e))


def statistical_consistency(
    previous: Any, current: Any, shift: int, bandwidth: float | None = None
) -> Array:
    """STAC: maximum mean discrepancy of successive sampled chunks over their overlap.

    The squared discrepancy with an RBF kernel, exp(-|x - y|^2 / (2 bandwidth^2)), of the two sets
    of samples, each the concatenation of its actions over the steps that both predict. All pairs
    count, also those of a sample with itself, so it is not negative.

    Args:
        previous: (N', H', D) sampled chunks of the inference before, N' >= 2.
        current: (N, H, D) of this one.
        shift: steps from the beginning of the previous chunks to that of the current ones.
        bandwidth: in the action's unit. None: the median distance of the samples of both sets that
            differ.

    Returns:
        A scalar in [0, 2]; NaN if no step is in both.

    Raises:
        ShapeError: another shape, fewer than 2 samples, or another D.
        ValueRangeError: a value is not finite, a negative shift, or a bandwidth that is not
            positive.

    Source: Sentinel (Agia et al., Unpacking Failure Modes of Generative Policies, 2024), STAC.
    """
    xp, new = _chunks(current, 'current')
    old = like(new, _chunks(previous, 'previous')[1], 'previous')
    _check_bandwidth(bandwidth)
    return _consistency(xp, old, new, shift, bandwidth, None)


def _consistency(
    xp: Any,
    old: Array,
    new: Array,
    shift: int,
    bandwidth: float | None,
    is_continuous: NDArray[np.bool_] | None,
) -> Array:
    """`statistical_consistency` of samples that are usable, each set by itself."""
    if new.shape[-1] != old.shape[-1]:
        raise ShapeError(
            f'chunks have {old.shape[-1]} and {new.shape[-1]} dimensions; one number is expected'
        )
    shift = checked_count(shift, 'shift', 0)
    steps = max(0, min(new.shape[1], old.shape[1] - shift))
    if not steps:
        return xp.sum(new[:, :0, :]) + xp.nan
    first = xp.reshape(old[:, shift : shift + steps, :], (old.shape[0], -1))
    second = xp.reshape(new[:, :steps, :], (new.shape[0], -1))
    turning = None if is_continuous is None else np.tile(is_continuous, steps)
    return _discrepancy(xp, first, second, bandwidth, turning)


def _discrepancy(
    xp: Any,
    first: Array,
    second: Array,
    bandwidth: float | None,
    is_continuous: NDArray[np.bool_] | None,
) -> Array:
    """Squared maximum mean discrepancy of (N, K) and (M, K)."""
    sizes = first.shape[0], second.shape[0]
    every = xp.concat([first, second], axis=0)
    # By row the distances to all later rows. Differences, not inner products: two samples that are
    # one and the same are 0 apart.
    rows = [every[row + 1 :, :] - every[row, :] for row in range(sum(sizes) - 1)]
    if is_continuous is not None:
        rows = [nearest_turn(apart, 0.0, is_continuous) for apart in rows]
    squares = [xp.sum(apart * apart, axis=-1) for apart in rows]
    width = bandwidth**2 if bandwidth is not None else _median_square(xp, xp.concat(squares))
    kernels = [xp.exp(each / (-2.0 * width)) for each in squares]
    own = sum(xp.sum(kernels[row][: sizes[0] - 1 - row]) for row in range(sizes[0] - 1))
    across = sum(xp.sum(kernels[row][sizes[0] - 1 - row :]) for row in range(sizes[0]))
    other = sum(xp.sum(each) for each in kernels[sizes[0] :])
    # A sample is 0 from itself, and each pair is two.
    within = [(n + 2.0 * total) / n**2 for n, total in zip(sizes, (own, other))]
    found = within[0] + within[1] - 2.0 * across / (sizes[0] * sizes[1])
    return xp.maximum(found, xp.zeros_like(found))  # rounding


def _median_square(xp: Any, squares: Array) -> Array:
    """Square of the median distance of the pairs (P,) that differ; 1 if none do."""
    apart = xp.sort(squares[squares > 0])
    count = apart.shape[0]
    if not count:
        return xp.ones_like(squares[0])
    middle = xp.sqrt(apart[(count - 1) // 2]) + xp.sqrt(apart[count // 2])
    return (0.5 * middle) ** 2


def _check_bandwidth(bandwidth: float | None) -> None:
    if bandwidth is not None and not (bandwidth > 0 and isfinite(bandwidth)):
        raise ValueRangeError(f'bandwidth is {bandwidth}; a positive distance is expected')


def _chunks(samples: Any, name: str) -> tuple[Any, Array]:
    xp, array = as_floats(samples, name)
    _check_chunks(array, name)
    return xp, array


def _check_chunks(array: Array, name: str) -> None:
    if array.ndim != 3 or array.shape[0] < 2 or 0 in array.shape:
        raise ShapeError(f'{name} have shape {tuple(array.shape)}; (N, H, D), N >= 2, is expected')


class StatisticalConsistency:
    """STAC of the newest two inferences, `value`; NaN if nothing can be compared.

    Batch form: `statistical_consistency`. gaps: how often there was no inference before but the
    first. bandwidth: as of the batch form, from the next inference on. is_continuous: (D,) of the
    next inferences, whether each dimension turns without end, in rad, and so differs by the short
    way; None: none does.
    """

    def __init__(self, bandwidth: float | None = None) -> None:
        """bandwidth: as of the batch form."""
        _check_bandwidth(bandwidth)
        self.bandwidth = bandwidth
        self.is_continuous: NDArray[np.bool_] | None = None
        self._last: NDArray[np.float64] | None = None
        self.value = float('nan')
        self.gaps = 0

    def reset(self) -> None:
        """Forgets everything."""
        self.reset_differences()
        self.gaps = 0

    def reset_differences(self) -> None:
        """After an inference without samples, or one that was missed: the next has none before."""
        self.gaps += self._last is not None
        self._last = None
        self.value = float('nan')

    def update(self, samples: Any, shift: int = 0) -> None:
        """Takes the samples (N, H, D) of one inference, whose chunks begin `shift` steps after
        those before them (at first 0).

        Raises:
            ShapeError, ValueRangeError: as of the batch form. Nothing has changed then.
        """
        new = np.array(samples, dtype=np.float64)
        _check_chunks(new, 'samples')
        check_finite_block(new.ravel(), new, 'samples')
        value = float('nan')
        if self._last is not None:
            with np.errstate(over='ignore', invalid='ignore'):  # of samples like 1e200
                value = float(
                    _consistency(np, self._last, new, shift, self.bandwidth, self.is_continuous)
                )
        self._last, self.value = new, value


ENTROPY_OF_CHUNKS = record.Metric(
    id='chunk_entropy', name='chunk entropy', unit='nats', higher_is_better=False,
    minimum_samples=2, category='uncertainty',
    reasons=(
        record.NO_SAMPLES,
        record.Reason('the samples of a step are all equal, or on one line as two always are'),
    ),
    batch=chunk_entropy, options=('continuous',),
    messages=('confidence',), of_moments=record.MEAN,
    line=record.Line(record.Chart('Chunk entropy', is_from_zero=False), 'entropy'),
    formula='1/H Σ_h ½ ln det(2πe Σ_h)     Σ_h: covariance of N samples at step h, Ledoit-Wolf',
    shows='How large the volume is that sampled chunks fill: large when many motions are likely.',
    misleads='It is a density: its zero means nothing, it may be negative, and it depends on the '
        'units of the dimensions; compare within one action space. A Gaussian over two ways to '
        'act covers what lies between them. Few samples are drawn towards a sphere.',
)  # fmt: skip

STATISTICAL_CONSISTENCY = record.Metric(
    id='stac', name='statistical consistency of chunks', unit='1', higher_is_better=False,
    minimum_samples=2, source='Sentinel (Agia et al., 2024), STAC', category='uncertainty',
    reasons=(
        record.NO_SAMPLES, record.NO_OVERLAP,
        record.Reason(
            'successive samples cannot be compared: the inference before had none or is missing, '
            'or their rows are changes of a state that is not known'
        ),
    ),
    batch=statistical_consistency,
    streaming=StatisticalConsistency, messages=('confidence',), of_moments=record.MEAN,
    sampled_at=record.INFERENCES, options=('continuous',),
    line=record.Line(record.Chart('Statistical consistency of chunks'), 'squared discrepancy'),
    formula='MMD² = mean k(x, x′) + mean k(y, y′) − 2 mean k(x, y),  k = exp(−‖x − y‖² / 2σ²)\n'
        'x, y: sampled chunks of two inferences over the steps both predict',
    shows='How far the policy has changed its distribution of plans for the same moments; several '
        'ways to act are no doubt as long as they stay the same.',
    misleads='With N samples two draws from one distribution differ by about 0.8/N. Without '
        'a bandwidth of calibration episodes it is the median distance of the samples at hand, '
        'which hides a growing spread. Reacting to something that moved is a good reason to '
        'change. It costs N inferences.',
)  # fmt: skip
