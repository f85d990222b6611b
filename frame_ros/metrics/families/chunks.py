# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Chunks of actions: how far two that overlap differ, and how many actions are left."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError
from frame_ros.metrics import record
from frame_ros.metrics.arrays import Array, as_floats, checked_count, like, norm, unavailable
from frame_ros.metrics.constants import NAN
from frame_ros.metrics.engine.samples import RunningMean, check_finite_block, mean_weights

__all__ = [
    'ChunkOverlapDisagreement',
    'chunk_consistency',
    'chunk_distances',
    'chunk_overlap_disagreement',
]


def chunk_overlap_disagreement(chunk: Any, last: Any, shift: int) -> Array:
    """Mean absolute difference of two chunks over the steps that both predict.

    Args:
        chunk: (H, D), the newer chunk.
        last: (H', D), the chunk before it.
        shift: steps from the beginning of `last` to the beginning of `chunk`, 0 or more.

    Returns:
        A scalar in the action's unit; NaN if no step is in both.

    Raises:
        ShapeError: not (H, D) both with one D.
        ValueRangeError: a value is not finite, or a negative shift.
    """
    xp, apart = _difference(chunk, last, shift, ('chunk', 'last'))
    return xp.mean(xp.abs(apart)) if apart.shape[0] else unavailable(xp.sum(apart))


def chunk_consistency(previous: Any, current: Any, shift: int) -> Array:
    """Mean over the steps that two chunks both predict of the Euclidean distance of their actions.

    Args:
        previous: (H', D), the older chunk.
        current: (H, D), the newer one.
        shift: steps from the beginning of `previous` to the beginning of `current`, 0 or more.

    Returns:
        A scalar in the action's unit; NaN if no step is in both.

    Raises:
        ShapeError: not (H, D) both with one D.
        ValueRangeError: a value is not finite, or a negative shift.

    Source: VLA-FAIL, arXiv 2606.21386.
    """
    xp, apart = _difference(current, previous, shift, ('current', 'previous'))
    return xp.mean(norm(xp, apart)) if apart.shape[0] else unavailable(xp.sum(apart))


def chunk_distances(
    previous: NDArray[np.float64], current: NDArray[np.float64], shift: int
) -> tuple[float, float]:
    """`chunk_overlap_disagreement` and `chunk_consistency` at once, for every inference of a robot.

    The same values, in a third of the time. Arguments and errors as of `chunk_consistency`; a value
    that is not finite is noticed at the steps that both predict.
    """
    steps = min(len(current), len(previous) - shift)
    if steps > 0 and shift >= 0 and current.shape[1:] == previous.shape[1:]:
        apart = current[:steps] - previous[shift : shift + steps]
        consistency = float(np.add.reduce(norm(np, apart)) / steps)
        if isfinite(consistency):
            return float(np.add.reduce(np.abs(apart), axis=None) / apart.size), consistency
    overlap = chunk_overlap_disagreement(current, previous, shift)
    return float(overlap), float(chunk_consistency(previous, current, shift))


def _difference(chunk: Any, last: Any, shift: int, names: tuple[str, str]) -> tuple[Any, Array]:
    """Returns the namespace, and newer minus older chunk over the steps of both, (steps, D)."""
    xp, new = as_floats(chunk, names[0])
    old = like(new, last, names[1])
    if new.ndim != 2 or old.ndim != 2 or new.shape[1] != old.shape[1]:
        raise ShapeError(
            f'chunks have shapes {tuple(new.shape)} and {tuple(old.shape)}; (H, D) both is expected'
        )
    shift = checked_count(shift, 'shift', 0)
    steps = max(0, min(new.shape[0], old.shape[0] - shift))
    return xp, new[:steps, :] - old[shift : shift + steps, :]


class ChunkOverlapDisagreement:
    """Mean absolute difference of a chunk of actions from the one before, unit of the action.

    `value`: of the newest two over the steps that both predict, NaN if there is none or no chunk
    before; `mean`: over all so far; `gaps`: how often there was no chunk before but the first.
    Batch form: `chunk_overlap_disagreement`.
    """

    def __init__(self) -> None:
        self._mean = RunningMean()
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self._mean.reset()
        self._last: Any = None
        self.value = NAN
        self.gaps = 0

    def reset_differences(self) -> None:
        """After a gap: the next chunk is compared with none before it."""
        self.gaps += self._last is not None
        self._last = None
        self.value = NAN

    @property
    def mean(self) -> float:
        """Mean over all pairs so far."""
        return self._mean.value

    def update(self, chunk: Any, shift: int = 0) -> None:
        """Takes a chunk (H, D), which begins `shift` steps after the one before it (at first 0).

        Raises:
            ShapeError: not (H, D), or another D than before.
            ValueRangeError: a value is not finite, or a negative shift. Nothing has changed in
                either case.
        """
        new = np.array(chunk, dtype=np.float64)
        last = self._last
        if new.ndim != 2 or not new.size or (last is not None and new.shape[1] != last.shape[1]):
            raise ShapeError(
                f'chunk has shape {new.shape}, the one before '
                f'{None if last is None else last.shape}; (H, D) both is expected'
            )
        shift = checked_count(shift, 'shift', 0)
        check_finite_block(new.ravel(), new, 'chunk')
        self._last, self.value = new, NAN
        steps = 0 if last is None else min(len(new), len(last) - shift)
        if steps > 0:
            apart = np.abs(new[:steps] - last[shift : shift + steps]).ravel()
            self.value = float(mean_weights(len(apart)).dot(apart))
            self._mean.update(self.value)


QUEUE_DEPTH = record.efficiency_metric(
    id='queue_depth', name='actions left when a chunk arrives', unit='1', higher_is_better=None,
    reasons=(
        record.NO_INFERENCE,
        record.Reason('the newest inference does not say how many actions were left'),
    ),
    of_moments=record.MEAN,
    formula='actions not yet executed when the new chunk arrived',
    shows='How close inference is to starving the robot: at 0 it has waited.',
    misleads='Neither high nor low is better: a deep queue means safety from stalls, and actions '
        'that were decided long ago.',
)  # fmt: skip

_CHART = record.Chart('Chunk overlap disagreement')

CHUNK_OVERLAP = record.Metric(
    id='chunk_overlap', name='chunk overlap disagreement', unit='action', higher_is_better=False,
    minimum_samples=2, category='uncertainty',
    reasons=(
        record.NO_INFERENCE,
        record.Reason('no two chunks predict a common step', record.Lack.OVERLAP),
    ),
    batch=chunk_overlap_disagreement, streaming=ChunkOverlapDisagreement,
    torch='ChunkOverlapDisagreement', messages=('confidence', 'efficiency'), of_moments=record.MEAN,
    sampled_at=record.INFERENCES,
    line=record.Line(_CHART, 'mean absolute difference'),
    formula='mean |new chunk − last chunk|  over steps and dimensions that both predict',
    shows='Whether the policy sticks to its plan: how much a new chunk differs from the last one '
        'about the same moments.',
    misleads='It depends on how much later the new chunk was made: a policy that replans rarely '
        'differs more. Reacting to something that moved is a good reason to differ. Chunks that '
        'do not overlap have none. Units of dimensions are mixed.',
)  # fmt: skip

CHUNK_CONSISTENCY = record.Metric(
    id='chunk_consistency', name='chunk consistency', unit='action', higher_is_better=False,
    minimum_samples=2, source='VLA-FAIL, arXiv 2606.21386', category='uncertainty',
    reasons=(record.NO_OVERLAP,), batch=chunk_consistency, messages=('confidence',),
    of_moments=record.MEAN, sampled_at=record.INFERENCES, line=record.Line(_CHART, 'mean distance'),
    formula='mean over k of ‖aₜ[k] − aₜ₋₁[k + s]‖     s: steps between their beginnings',
    shows='How far the policy moved its plan for the same moments: large when it changes its mind.',
    misleads='It depends on how much later the new chunk was made: compare at one rate of '
        'inference, or z-scored by calibration episodes. Reacting to something that moved is a '
        'good reason to replan. Units of joints (rad, m) are mixed. A policy that samples its '
        'actions differs from chunk to chunk without doubt.',
)  # fmt: skip
