# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Policies side by side on one scale: ratio to the best and its radar polygon (FRAME, section 4.4).

The polygon's area depends on the order of the axes, since it sums products of neighbours only:
`area_range` says by how much, and `Fingerprint.mean` is what does not depend on it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import Array, as_floats
from frame_ros.metrics.registry import metric

SMALLEST_POLYGON = 3

Values = Mapping[str, Mapping[str, 'float | None']]

_ALL_ZERO = 'every policy has 0: a ratio to it says nothing'
_NEGATIVE = 'a value is negative: a ratio to the best has no meaning'
_NO_VALUE = 'no value'
_INFINITE = 'the value is infinite'


def ratio_to_best(values: Any, higher_is_better: bool) -> Array:
    """Each policy's value as a share of the best one, in [0, 1]. FRAME eq. 16, 17.

    Args:
        values: (..., P), one metric of P policies, 0 or more; NaN where unavailable.
        higher_is_better: True: m / max m (eq. 16). False: min m / m (eq. 17).

    Returns:
        (..., P): the best is 1. 0 only where a higher-is-better value is 0, or where the least
        lower-is-better value is 0 and this one is not. NaN where unavailable, and throughout where
        the best of a higher-is-better metric is 0.

    Raises:
        ShapeError: no policy.
        ValueRangeError: a value is negative or infinite.
    """
    xp, array = as_floats(values, 'values', allow_nan=True)
    if array.ndim < 1 or array.shape[-1] < 1:
        raise ShapeError(
            f'values have shape {tuple(array.shape)}; (..., P), 1 policy or more, is expected'
        )
    known = ~xp.isnan(array)
    if bool(xp.any(known & (array < 0))):
        raise ValueRangeError('values hold negative ones; a ratio to the best needs 0 or more')
    if higher_is_better:
        best = xp.max(xp.where(known, array, 0.0), axis=-1, keepdims=True)
        return xp.where(best > 0, array / xp.where(best > 0, best, 1.0), xp.nan)
    best = xp.min(xp.where(known, array, xp.inf), axis=-1, keepdims=True)
    is_best = known & (array == best)
    # A value too small to divide by is the best one itself, or the best is 0 and the ratio too.
    safe = xp.where(known & (array > 0), array, 1.0)
    return xp.where(is_best, 1.0, xp.where(known, best / safe, xp.nan))


@dataclass(frozen=True)
class Fingerprint:
    """Result of `fingerprint`.

    axes: ids of the metrics, in the order given. normalised: policy -> id -> share of the best, in
    [0, 1], NaN where unavailable. reasons: policy -> id -> why it is NaN. excluded: id -> why no
    policy has it.
    """

    axes: tuple[str, ...]
    normalised: dict[str, dict[str, float]]
    reasons: dict[str, dict[str, str]]
    excluded: dict[str, str]

    @property
    def is_comparison(self) -> bool:
        """Returns whether there are two policies or more: of a single one every axis is 1."""
        return len(self.normalised) > 1

    @property
    def common_axes(self) -> tuple[str, ...]:
        """The axes that every policy has: only over these are areas and means comparable."""
        return tuple(
            axis
            for axis in self.axes
            if all(math.isfinite(shares[axis]) for shares in self.normalised.values())
        )

    def radii(self, policy: str) -> np.ndarray:
        """The policy's shares on `common_axes`: (n,)."""
        return np.array([self.normalised[policy][axis] for axis in self.common_axes])

    def area(self, policy: str) -> float:
        """`polygon_area` over `common_axes` in their order; NaN with fewer than three."""
        radii = self.radii(policy)
        return float(polygon_area(radii)) if len(radii) >= SMALLEST_POLYGON else math.nan

    def area_range(self, policy: str) -> tuple[float, float]:
        """`area_range` over `common_axes`; NaN with fewer than three."""
        radii = self.radii(policy)
        return area_range(radii) if len(radii) >= SMALLEST_POLYGON else (math.nan, math.nan)

    def mean(self, policy: str) -> float:
        """Mean of the shares on `common_axes`, whatever their order; NaN without any."""
        radii = self.radii(policy)
        return float(radii.mean()) if len(radii) else math.nan


def fingerprint(values: Values, higher_is_better: Mapping[str, bool] | None = None) -> Fingerprint:
    """Normalises metrics of several policies by the ratio to the best. FRAME eq. 16, 17.

    A value that is missing, None or NaN makes the axis unavailable for that policy, not 0. An axis
    on which a value is negative, or all higher-is-better values are 0, is excluded for all.

    Args:
        values: policy -> metric id -> value, all of one metric in one unit.
        higher_is_better: id -> direction; those not in it have the registry's.

    Raises:
        ValueRangeError: no policy, no metric, or a metric that has no direction or is not known.
    """
    axes = tuple(dict.fromkeys(axis for metrics in values.values() for axis in metrics))
    if not axes:
        raise ValueRangeError('no policy with a metric is given; at least one is expected')
    normalised: dict[str, dict[str, float]] = {policy: {} for policy in values}
    reasons: dict[str, dict[str, str]] = {policy: {} for policy in values}
    excluded: dict[str, str] = {}
    for axis in axes:
        found = [_number(metrics.get(axis)) for metrics in values.values()]
        shares, why = _axis(found, _direction(axis, higher_is_better or {}))
        if why:
            excluded[axis] = why
        for policy, share, value in zip(values, shares, found, strict=True):
            normalised[policy][axis] = share
            if math.isnan(share):
                reasons[policy][axis] = why or (_INFINITE if math.isinf(value) else _NO_VALUE)
    return Fingerprint(axes, normalised, reasons, excluded)


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _direction(axis: str, given: Mapping[str, bool]) -> bool:
    is_higher_better = given[axis] if axis in given else metric(axis).higher_is_better
    if is_higher_better is None:
        raise ValueRangeError(f'{axis} has no better direction; it cannot be an axis')
    return is_higher_better


def _axis(found: Sequence[float], higher_is_better: bool) -> tuple[list[float], str]:
    """The shares of one axis, and why it is excluded ('' if it is not)."""
    nothing = [math.nan] * len(found)
    if any(value < 0 for value in found):
        return nothing, _NEGATIVE
    finite = [value if math.isfinite(value) else math.nan for value in found]
    if all(math.isnan(value) for value in finite):
        return nothing, 'no policy has a value'
    shares = [float(share) for share in ratio_to_best(np.array(finite), higher_is_better)]
    return shares, _ALL_ZERO if all(math.isnan(share) for share in shares) else ''


def polygon_area(radii: Any) -> Array:
    """Area of the radar polygon as a share of the polygon whose radii are all 1.

    The sum of the products of neighbouring radii over their number. It depends on the order of the
    axes: state `area_range` with it.

    Args:
        radii: (..., n), n >= 3, in [0, 1], in the order of the axes.

    Returns:
        (...,) in [0, 1].

    Raises:
        ShapeError: fewer than three axes.
        ValueRangeError: a radius is not finite or outside [0, 1].
    """
    xp, array = _checked_radii(radii)
    following = xp.concat([array[..., 1:], array[..., :1]], axis=-1)
    return xp.mean(array * following, axis=-1)


def area_range(radii: Any) -> tuple[float, float]:
    """Least and greatest `polygon_area` over all orders of the axes; exact.

    Neighbours' products add up to most where the radii rise to the largest and fall again, and to
    least where large ones stand between small ones.

    Args:
        radii: (n,), n >= 3, in [0, 1].

    Raises:
        ShapeError: another shape, or fewer than three axes.
        ValueRangeError: a radius is not finite or outside [0, 1].
    """
    _, array = _checked_radii(radii)
    if array.ndim != 1:
        raise ShapeError(f'radii have shape {tuple(array.shape)}; (n,) is expected')
    ordered = sorted(float(radius) for radius in array)
    rising_and_falling = ordered[::2] + ordered[1::2][::-1]
    areas = (float(polygon_area(order)) for order in (_alternating(ordered), rising_and_falling))
    least, greatest = areas
    return least, greatest


def _alternating(ordered: Sequence[float]) -> list[float]:
    """The circular order of sorted numbers whose neighbours' products add up to least.

    The largest first; then in turns the smallest two and the largest two of the rest are put at
    the ends, the more extreme one next to the less extreme end.
    """
    rest = list(ordered)
    left: list[float] = [rest.pop()]
    right: list[float] = []
    is_small = True
    while rest:
        taken = [rest.pop(0 if is_small else -1) for _ in range(min(2, len(rest)))]
        ends = (left[-1], right[-1] if right else left[0])
        # Small ones: the smallest next to the larger end. Large ones: the largest next to the
        # smaller end.
        to_left = ends[0] >= ends[1] if is_small else ends[0] <= ends[1]
        first, second = (left, right) if to_left else (right, left)
        first.append(taken[0])
        if len(taken) > 1:
            second.append(taken[1])
        is_small = not is_small
    return left + right[::-1]


def _checked_radii(radii: Any) -> tuple[Any, Array]:
    xp, array = as_floats(radii, 'radii')
    if array.ndim < 1 or array.shape[-1] < SMALLEST_POLYGON:
        raise ShapeError(
            f'radii have shape {tuple(array.shape)}; (..., n) with at least 3 axes is expected'
        )
    if bool(xp.any((array < 0) | (array > 1))):
        raise ValueRangeError('radii hold values outside [0, 1]; normalise them: ratio_to_best')
    return xp, array
