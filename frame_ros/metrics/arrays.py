# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Checked arrays of any library that follows the array API standard: where every formula starts.

NumPy arrays stay NumPy, torch tensors stay torch (device and gradient included); sequences become
NumPy arrays. Integers and booleans become float64. torch is never imported from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from frame_ros.errors import MissingExtraError, ShapeError, ValueRangeError, install_hint

try:
    import array_api_compat
except ImportError as error:
    raise MissingExtraError(f'the metrics need array-api-compat: {install_hint()}') from error

# An array of any array API library: no type of Python's says so yet.
Array = Any


def as_floats(values: Any, name: str, allow_nan: bool = False) -> tuple[Any, Array]:
    """Returns the namespace of the array API and `values` as an array of real floating numbers.

    Raises:
        ValueRangeError: a value is not a real number, or not finite (NaN passes if `allow_nan`).
    """
    array = values if array_api_compat.is_array_api_obj(values) else np.asarray(values)
    xp = array_api_compat.array_namespace(array)
    if not xp.isdtype(array.dtype, 'real floating'):
        if not (isinstance(array.dtype, np.dtype) and array.dtype.kind not in 'biu') and xp.isdtype(
            array.dtype, ('bool', 'integral')
        ):
            array = xp.astype(array, xp.float64)
        else:
            raise ValueRangeError(f'{name} have type {array.dtype}; real numbers are expected')
    _check_finite(xp, array, name, allow_nan)
    return xp, array


def _check_finite(xp: Any, array: Array, name: str, allow_nan: bool) -> None:
    # One pass that allocates nothing decides nearly always; overflow of the sum is caught below.
    if bool(xp.isfinite(xp.sum(array))):
        return
    bad = xp.isinf(array) if allow_nan else ~xp.isfinite(array)
    count = int(xp.sum(xp.astype(bad, xp.int64)))
    if count:
        first = tuple(int(axis[0]) for axis in xp.nonzero(bad)) if array.ndim else ()
        what = 'infinite' if allow_nan else 'not finite'
        raise ValueRangeError(
            f'{name}: {count} of the values are {what}, the first at index {first}'
        )


def as_points(positions: Any, minimum: int, name: str = 'positions') -> tuple[Any, Array]:
    """Returns namespace and array of `positions`, (..., T, 2 or 3), T at least `minimum`.

    Raises:
        ShapeError: another shape, or too few samples.
        ValueRangeError: a value is not finite.
    """
    xp, points = as_floats(positions, name)
    if points.ndim < 2 or points.shape[-1] not in (2, 3) or points.shape[-2] < minimum:
        raise ShapeError(
            f'{name} have shape {tuple(points.shape)}; (..., T, 2) or (..., T, 3) with at least '
            f'{minimum} samples T is expected'
        )
    return xp, points


def as_sequences(values: Any, minimum: int, name: str) -> tuple[Any, Array]:
    """Returns namespace and array of `values`, (..., T, D), T at least `minimum`, D at least 1.

    Raises:
        ShapeError: another shape, or too few samples.
        ValueRangeError: a value is not finite.
    """
    xp, array = as_floats(values, name)
    if array.ndim < 2 or array.shape[-1] < 1 or array.shape[-2] < minimum:
        raise ShapeError(
            f'{name} have shape {tuple(array.shape)}; (..., T, D) with at least {minimum} '
            f'samples T is expected'
        )
    return xp, array


def like(reference: Array, values: Any, name: str, allow_nan: bool = False) -> Array:
    """Returns `values` as floats of the library, type and device of `reference`.

    Raises:
        ValueRangeError: a value is not a finite real number.
    """
    xp = array_api_compat.array_namespace(reference)
    device = array_api_compat.device(reference)
    if array_api_compat.is_torch_array(values) and not array_api_compat.is_torch_array(reference):
        values = values.detach().cpu().numpy()
    array = xp.asarray(values, dtype=reference.dtype, device=device)
    return as_floats(array, name, allow_nan)[1]


def check_same_shape(first: Array, second: Array, names: tuple[str, str]) -> None:
    """Raises ShapeError unless both arrays have one shape."""
    if tuple(first.shape) != tuple(second.shape):
        raise ShapeError(
            f'{names[0]} have shape {tuple(first.shape)}, {names[1]} {tuple(second.shape)}; '
            f'the same shape is expected'
        )


def check_variant(variant: str, known: Sequence[str]) -> None:
    """Raises ValueRangeError unless `variant` is one of `known`."""
    if variant not in known:
        raise ValueRangeError(f'variant is {variant!r}; one of {", ".join(known)} is expected')


def norm(xp: Any, vectors: Array) -> Array:
    """Euclidean norm over the last axis, (..., D) -> (...,). Its gradient at 0 is 0, not NaN."""
    if array_api_compat.is_torch_array(vectors):
        return xp.linalg.vector_norm(vectors, axis=-1)
    total = vectors[..., 0] * vectors[..., 0]
    for axis in range(1, vectors.shape[-1]):
        total = total + vectors[..., axis] * vectors[..., axis]
    return xp.sqrt(total)


def difference(values: Array, order: int = 1) -> Array:
    """n-th difference along the second last axis, (..., T, D) -> (..., T - order, D)."""
    for _ in range(order):
        values = values[..., 1:, :] - values[..., :-1, :]
    return values


def pad_nan(xp: Any, values: Array, count: int) -> Array:
    """Puts `count` NaN before the last axis: (..., T) -> (..., count + T)."""
    device = array_api_compat.device(values)
    shape = (*values.shape[:-1], count)
    head = xp.full(shape, xp.nan, dtype=values.dtype, device=device)
    return xp.concat([head, values], axis=-1)
