# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Episodes of different length in one padded batch: every formula sees whole episodes only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from frame_ros.core.errors import ShapeError, ValueRangeError


def by_episode(
    formula: Callable[..., Tensor], minimum: int, mask: Tensor | None, *arrays: Any
) -> Tensor:
    """The values of a formula for each episode of a batch.

    Padding never reaches the formula, whatever it holds: episodes of one length are evaluated
    together, cut to it.

    Args:
        formula: arrays of episodes of one length -> one value each, (...,).
        minimum: samples that it needs.
        mask: None: the arrays go to the formula as they are. Else (..., T) booleans, True for the
            samples of the episode (one run of them, padding before or after it), or (...,)
            integers: the length of each, padding after it.
        arrays: what the formula takes: None and scalars as they are; (..., T, ...) samples;
            (..., T - 1) intervals between them, also (T - 1,) for all. The first are samples.

    Returns:
        Without a mask the formula's (...,); with one (N,) in no particular order (the same for
        equal masks), NaN for an episode of fewer than `minimum` samples.

    Raises:
        ShapeError: mask and arrays do not match.
        ValueRangeError: a mask with a hole, or a length outside 0 to T.
    """
    inputs = [widened(array) for array in arrays]
    if mask is None:
        return formula(*inputs)
    kept = step_mask(mask, inputs[0])
    leading, samples = kept.shape[:-1], kept.shape[-1]
    starts, lengths = _runs(kept.reshape(-1, samples))
    rows = [_as_rows(array, leading, samples) for array in inputs]
    parts = []
    for length in sorted(set(lengths.tolist())):
        chosen = torch.nonzero(lengths == length)[:, 0]
        if length < minimum:
            parts.append(torch.full_like(chosen, torch.nan, dtype=torch.get_default_dtype()))
            continue
        cut = [_cut(array, chosen, starts[chosen], length, samples) for array in rows]
        parts.append(formula(*cut))
    return torch.cat(parts)


def step_mask(mask: Tensor, samples: Tensor) -> Tensor:
    """The mask as (..., T) booleans, from lengths too; errors as of `by_episode`."""
    if mask.dtype != torch.bool:
        if mask.is_floating_point() or mask.is_complex():
            raise ValueRangeError(
                f'mask has type {mask.dtype}; booleans, or integer lengths, are expected'
            )
        leading = mask.ndim
        if samples.ndim <= leading:
            raise _mismatch(mask, samples)
        count = samples.shape[leading]
        if bool(torch.any((mask < 0) | (mask > count))):
            raise ValueRangeError(f'lengths are {mask.tolist()}; 0 to {count} samples are expected')
        mask = torch.arange(count, device=mask.device) < mask[..., None]
    if mask.ndim < 1 or tuple(samples.shape[: mask.ndim]) != tuple(mask.shape):
        raise _mismatch(mask, samples)
    return mask.to(samples.device)


def widened(values: Any) -> Any:
    """Tensors of at least single precision: sums of half precision lose the metric."""
    if values is None or isinstance(values, bool | int | float):
        return values
    tensor = values if isinstance(values, Tensor) else torch.as_tensor(np.asarray(values))
    if tensor.is_floating_point() and tensor.element_size() < 4:
        return tensor.float()
    return tensor


def _runs(kept: Tensor) -> tuple[Tensor, Tensor]:
    """First sample and length of the run of each row, (B, T) -> (B,) twice."""
    edges = (kept[:, 1:] & ~kept[:, :-1]).sum(dim=-1) + kept[:, :1].sum(dim=-1)
    if bool(torch.any(edges > 1)):
        raise ValueRangeError(
            f'the mask of episode {int(torch.argmax(edges))} has a hole; '
            f'one run of True with padding before or after it is expected'
        )
    return kept.to(torch.int32).argmax(dim=-1), kept.sum(dim=-1)


def _as_rows(array: Any, leading: torch.Size, samples: int) -> Any:
    """Samples or intervals with one leading axis, (B, T or T - 1, ...)."""
    if not isinstance(array, Tensor) or array.ndim == 0:
        return array
    if array.ndim == 1 and len(leading):
        array = array.expand(*leading, *array.shape)
    axis = len(leading)
    fits = array.ndim > axis and array.shape[axis] in (samples, samples - 1)
    if not fits or array.shape[:axis] != leading:
        raise ShapeError(
            f'an array has shape {tuple(array.shape)}; with this mask '
            f'{(*leading, samples)} (intervals: {(*leading, samples - 1)}), and any axes after '
            f'it, is expected'
        )
    return array.reshape(-1, *array.shape[axis:])


def _cut(array: Any, rows: Tensor, starts: Tensor, length: int, samples: int) -> Any:
    """The chosen rows from their starts on, `length` samples of them or the intervals between."""
    if not isinstance(array, Tensor) or array.ndim == 0:
        return array
    count = length - (samples - array.shape[1])
    steps = starts[:, None] + torch.arange(count, device=starts.device)
    return array[rows[:, None], steps]


def _mismatch(mask: Tensor, samples: Tensor) -> ShapeError:
    return ShapeError(
        f'mask has shape {tuple(mask.shape)}, the samples {tuple(samples.shape)}; booleans '
        f'(..., T) or integer lengths (...,) for samples (..., T, ...) are expected'
    )
