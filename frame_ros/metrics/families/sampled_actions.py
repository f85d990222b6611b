# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Variability of sampled actions (VLA-UQ eq. 15)."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics import record
from frame_ros.metrics.arrays import Array, as_sequences, norm
from frame_ros.metrics.constants import WINDOW
from frame_ros.metrics.engine.samples import StepValue

__all__ = ['ExecutionVariability', 'execution_variability']


def execution_variability(samples: Any) -> Array:
    """EV: mean over dimensions of the population standard deviation over samples. VLA-UQ eq. 15.

    Args:
        samples: (..., N, D): N actions inferred from one observation, N >= 2.

    Returns:
        (...,) in the action's unit.

    Raises:
        ShapeError: another shape, or fewer than 2 samples.
        ValueRangeError: a value is not finite.
    """
    xp, array = as_sequences(samples, 2, 'samples', axis='N')
    centred = array - xp.mean(array, axis=-2, keepdims=True)
    spread = norm(xp, xp.matrix_transpose(centred)) / array.shape[-2] ** 0.5
    return xp.mean(spread, axis=-1)


def deviations(samples: NDArray[np.float64]) -> NDArray[np.float64]:
    """Population standard deviations over N samples (N, K), (K,). Not finite where a sample is not,
    or is too large.
    """
    count = len(samples)
    with np.errstate(over='ignore', invalid='ignore'):
        centred = samples - np.add.reduce(samples) / count
        centred *= centred
        return np.sqrt(np.add.reduce(centred) / count)


def mean_deviation(samples: NDArray[np.float64]) -> float:
    """EV of one inference: `execution_variability` of N samples (N, K), also of K numbers of whole
    chunks. Not finite where a sample is not, or is too large.
    """
    return float(np.add.reduce(deviations(samples)) / samples.shape[1])


class ExecutionVariability(StepValue):
    """EV of inferences, unit of the action: `step`, `value` (window), `mean`. Batch form:
    `execution_variability`, of chunks its mean over their steps.
    """

    def __init__(self, window: int = WINDOW) -> None:
        super().__init__(0, window)

    def update(self, samples: Any) -> None:
        """Takes N >= 2 actions (N, D), or chunks of H actions (N, H, D), of one inference.

        Raises:
            ShapeError: another shape, or fewer than 2 samples.
            ValueRangeError: a value is not finite. Nothing has changed in either case.
        """
        array = np.asarray(samples, dtype=np.float64)
        if array.ndim not in (2, 3) or array.shape[0] < 2 or not array.size:
            raise ShapeError(
                f'samples have shape {array.shape}; (N, D) or (N, H, D), N >= 2, is expected'
            )
        variability = mean_deviation(array.reshape(len(array), -1))
        if not (isfinite(variability) or np.isfinite(array).all()):
            raise ValueRangeError('samples hold values that are not finite')
        self.add(variability)


VARIABILITY = record.Metric(
    id='ev', name='execution variability', unit='action', higher_is_better=False, minimum_samples=2,
    source='VLA-UQ eq. 15', category='uncertainty',
    reasons=(record.NO_SAMPLES,), batch=execution_variability,
    streaming=ExecutionVariability, torch='ExecutionVariability',
    torch_form=record.TorchForm(('samples',), mask='sample_mask'), messages=('confidence',),
    has_three_forms=True,
    line=record.Line(record.Chart('Execution variability'), 'spread', '_step'),
    formula='uₜ = 1/D Σ_d √( 1/N Σₙ (aₜ,d,n − āₜ,d)² )      N samples from one observation',
    shows='How much the policy disagrees with itself when asked again.',
    misleads='It is 0 for any policy that decodes without randomness, which says nothing of its '
        'certainty. Dimensions of different units (rad, m, gripper) are averaged as numbers: '
        'compare within one action space. Few samples give a noisy, too small value: on average '
        '0.72 of the true spread with N = 3, 0.90 with N = 8. Two good ways to act look like '
        'doubt. It costs N inferences, and the spread depends on the sampling temperature.',
)  # fmt: skip
