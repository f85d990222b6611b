# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Runs of samples between gaps: no difference, pair of curvatures or window spans a break."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import Array, array_api_compat, as_times, flattened, norm


def find_breaks(stamps: Any, gap: float) -> Array:
    """Finds where a step longer than `gap` begins a new run: the `breaks` of the other metrics.

    Args:
        stamps: (T,), strictly increasing; integers in ns, or floats in s.
        gap: the longest step that is none, in the unit of the stamps.

    Returns:
        (T,) booleans, True at the first sample after each gap: their sum is the number of gaps.
        False at the first sample, which begins a run anyway.

    Raises:
        ShapeError: stamps are not (T,).
        ValueRangeError: a stamp is not finite or not after the one before it (the first such index
            is named), or gap is not positive.
    """
    if not gap > 0:
        raise ValueRangeError(f'gap is {gap}; a positive time in the unit of stamps is expected')
    xp, times = as_times(stamps, 'stamps')
    device = array_api_compat.device(times)
    first = xp.zeros(min(times.shape[0], 1), dtype=xp.bool, device=device)
    return xp.concat([first, times[1:] - times[:-1] > gap])


@dataclass(frozen=True)
class Runs:
    """To which run each of T samples belongs, and what that leaves of values resting on several.

    numbers: (..., T) integers, one a run; None: all samples are one run, which costs nothing.
    Values are (..., T - n), each resting on n + 1 neighbouring samples.
    """

    numbers: Array | None = None

    def same(self, span: int) -> Array | None:
        """Returns whether samples t and t - span lie in one run, (..., T - span); None: all do."""
        if self.numbers is None:
            return None
        return self.numbers[..., span:] == self.numbers[..., : self.numbers.shape[-1] - span]

    def sum(self, xp: Any, values: Array) -> Array:
        """Sum of the values inside runs, (..., T - n) -> (...,); NaN where there are none."""
        kept = self._kept(values)
        if kept is None:
            return xp.sum(values, axis=-1)
        total = xp.sum(xp.where(kept, values, 0.0), axis=-1)
        return xp.where(xp.any(kept, axis=-1), total, xp.nan)[()]

    def mean(self, xp: Any, values: Array) -> Array:
        """Mean of the values inside runs, (..., T - n) -> (...,); NaN where there are none."""
        kept = self._kept(values)
        if kept is None:
            return xp.mean(values, axis=-1)
        count = xp.sum(xp.astype(kept, values.dtype), axis=-1)
        return self.sum(xp, values) / xp.where(count > 0, count, 1.0)

    def root_mean_square(self, xp: Any, vectors: Array) -> Array:
        """Root of the mean squared norm of the vectors inside runs, (..., T - n, D) -> (...,).

        NaN: there are none. As one norm, whose gradient is finite where all vectors are 0.
        """
        kept = self._kept(vectors[..., 0])
        if kept is None:
            return norm(xp, flattened(xp, vectors)) / vectors.shape[-2] ** 0.5
        count = xp.sum(xp.astype(kept, vectors.dtype), axis=-1)
        size = norm(xp, flattened(xp, xp.where(kept[..., None], vectors, 0.0)))
        root = size / xp.where(count > 0, count, 1.0) ** 0.5
        return xp.where(count > 0, root, xp.nan)[()]

    def masked(self, xp: Any, values: Array, stand_in: float = float('nan')) -> Array:
        """The values, (..., T - n), with `stand_in` for those that rest on two runs."""
        kept = self._kept(values)
        return values if kept is None else xp.where(kept, values, stand_in)

    def row(self, index: int) -> Runs:
        """The runs of one element of the leading batch."""
        return Runs(None if self.numbers is None else self.numbers[index, ...])

    def slices(self, xp: Any) -> list[slice]:
        """The runs of (T,) samples, in order."""
        if self.numbers is None:
            return [slice(None)]
        starts = xp.nonzero(self.numbers[1:] != self.numbers[:-1])[0]
        edges = [0, *(int(start) + 1 for start in starts), self.numbers.shape[0]]
        return [slice(*ends) for ends in zip(edges, edges[1:])]

    def _kept(self, values: Array) -> Array | None:
        if self.numbers is None:
            return None
        return self.same(self.numbers.shape[-1] - values.shape[-1])


def runs_of(breaks: Any, samples: Array, axis: int = -2) -> Runs:
    """The runs of `samples`, T of them along `axis`, with any batch before it.

    Args:
        breaks: None; or (T,) or (..., T) booleans, True where a sample begins a new run.

    Raises:
        ShapeError: breaks of another shape.
        ValueRangeError: breaks that are no booleans.
    """
    if breaks is None:
        return Runs()
    shape = tuple(samples.shape[: axis % samples.ndim + 1])
    xp = array_api_compat.array_namespace(samples)
    flags = _flags(samples, breaks)
    if tuple(flags.shape) not in (shape, shape[-1:]):
        wanted = ' or '.join(map(str, dict.fromkeys((shape, shape[-1:]))))
        raise ShapeError(f'breaks have shape {tuple(flags.shape)}; {wanted} is expected')
    flags = xp.broadcast_to(flags, shape)
    return Runs(xp.cumulative_sum(xp.astype(flags, xp.int64), axis=-1))


def _flags(samples: Array, breaks: Any) -> Array:
    """Booleans of the library and on the device of `samples`."""
    if array_api_compat.is_torch_array(breaks) and not array_api_compat.is_torch_array(samples):
        breaks = breaks.detach().cpu().numpy()
    elif not array_api_compat.is_array_api_obj(breaks):
        breaks = np.asarray(breaks)
    xp = array_api_compat.array_namespace(samples)
    flags = xp.asarray(breaks, device=array_api_compat.device(samples))
    if flags.dtype != xp.bool:
        raise ValueRangeError(f'breaks have type {flags.dtype}; booleans are expected')
    return flags
