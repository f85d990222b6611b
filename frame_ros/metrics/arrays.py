# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Checked arrays of any library that follows the array API standard: where every formula starts.

NumPy arrays stay NumPy, torch tensors stay torch (device and gradient included); sequences become
NumPy arrays. Integers and booleans become float64. Masked arrays have to be without masked values.
torch is never imported from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import MissingExtraError, ShapeError, ValueRangeError, install_hint

try:
    import array_api_compat
except ImportError as error:
    raise MissingExtraError(f'the metrics need array-api-compat: {install_hint()}') from error

# Up to so many components NumPy sums products fastest by a product with a vector of ones.
_SHORT = 4
# Values that differ by so little, relatively, are equal but for rounding.
_ROUNDING = 1e-12

# An array of any array API library: no type of Python's says so yet.
Array = Any


def as_floats(
    values: Any, name: str, allow_nan: bool = False, check: bool = True
) -> tuple[Any, Array]:
    """Returns the namespace of the array API and `values` as an array of real floating numbers.

    Raises:
        ValueRangeError: a value is not a real number, or not finite (NaN passes if `allow_nan`,
            everything unless `check`).
    """
    xp, array = as_numbers(values, name)
    if is_floating(xp, array):
        if check:
            check_finite(xp, array, name, allow_nan)
    else:
        array = xp.astype(array, xp.float64)
    return xp, array


def as_numbers(values: Any, name: str) -> tuple[Any, Array]:
    """Returns the namespace and `values` as an array of real numbers: floats, integers or booleans.

    Raises:
        ShapeError: nested sequences of unequal lengths.
        ValueRangeError: a value is not a real number, or is masked.
    """
    array = values if array_api_compat.is_array_api_obj(values) else _from_sequence(values, name)
    if type(array) is not np.ndarray and isinstance(array, np.ndarray):
        array = _plain(array, name)
    xp = array_api_compat.array_namespace(array)
    # isdtype does not know numpy's types of strings and objects: their kind shows them.
    dtype = array.dtype
    is_real = (
        dtype.kind in 'fbiu'
        if isinstance(dtype, np.dtype)
        else xp.isdtype(dtype, ('bool', 'integral', 'real floating'))
    )
    if not is_real:
        raise ValueRangeError(f'{name} have type {dtype}; real numbers are expected')
    return xp, array


def is_floating(xp: Any, array: Array) -> bool:
    """Returns whether an array holds real floating numbers."""
    dtype = array.dtype
    # NumPy's own isdtype takes longer than many a metric of a short episode.
    return dtype.kind == 'f' if isinstance(dtype, np.dtype) else xp.isdtype(dtype, 'real floating')


def _from_sequence(values: Any, name: str) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ShapeError(
            f'{name} are nested sequences of unequal lengths; one shape is expected'
        ) from error


def _plain(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Returns what a subclass of NumPy's array holds: a matrix or a memory map, say."""
    count = int(np.ma.getmaskarray(array).sum())
    if count:
        raise ValueRangeError(
            f'{name}: {count} of the values are masked; leave them out, or give NaN where that is '
            f'allowed'
        )
    return np.asarray(array)


def as_flags(values: Any, name: str) -> tuple[Any, Array]:
    """Returns the namespace and `values` as booleans; numbers are True unless 0.

    Raises:
        ValueRangeError: a value is not a finite real number.
    """
    xp, array = as_numbers(values, name)
    if array.dtype == xp.bool:
        return xp, array
    return xp, as_floats(array, name)[1] != 0


def as_times(stamps: Any, name: str) -> tuple[Any, Array]:
    """Returns the namespace and `stamps`, (T,), strictly increasing; integers stay integers.

    Raises:
        ShapeError: another shape.
        ValueRangeError: a stamp is not finite, or not after the one before it: the first such index
            is named.
    """
    xp, times = as_numbers(stamps, name)
    if times.ndim != 1:
        raise ShapeError(f'{name} have shape {tuple(times.shape)}; (T,) is expected')
    if times.dtype == xp.bool:
        raise ValueRangeError(f'{name} are booleans; times are expected')
    if xp.isdtype(times.dtype, 'real floating'):
        check_finite(xp, times, name)
    late = times[1:] <= times[:-1]
    if bool(xp.any(late)):
        index = int(xp.nonzero(late)[0][0]) + 1
        raise ValueRangeError(
            f'{name} do not increase strictly: {times[index]} at index {index} is not after '
            f'{times[index - 1]}; sort them and drop the doubles'
        )
    return xp, times


def check_result(xp: Any, result: Array, **inputs: Array) -> Array:
    """Returns the result, through which values that are not finite would show in it.

    So the inputs are searched only if it is not finite, and need no pass of their own.

    Raises:
        ValueRangeError: a value of an input is not finite.
    """
    if not bool(xp.all(xp.isfinite(result))):
        for name, array in inputs.items():
            check_finite(xp, array, name)
    return result


def check_finite(xp: Any, array: Array, name: str, allow_nan: bool = False) -> None:
    """Raises ValueRangeError unless all values are finite; NaN passes if `allow_nan`."""
    if squares_are_finite(xp, array):
        return
    bad = xp.isinf(array) if allow_nan else ~xp.isfinite(array)
    if not bool(xp.any(bad)):
        return
    count = int(xp.sum(xp.astype(bad, xp.int64)))
    first = tuple(int(axis[0]) for axis in xp.nonzero(bad)) if array.ndim else ()
    what = 'infinite' if allow_nan else 'not finite'
    raise ValueRangeError(f'{name}: {count} of the values are {what}, the first at index {first}')


def squares_are_finite(xp: Any, array: Array) -> bool:
    """Returns whether all values are finite, in one pass that allocates nothing; False: or
    they are so large that their squares overflow.
    """
    if isinstance(array, np.ndarray) and array.flags.c_contiguous:
        flat = array.reshape(-1)
        return isfinite(flat @ flat)
    return bool(xp.isfinite(xp.sum(array)))


def as_points(
    positions: Any, minimum: int, name: str = 'positions', check: bool = True
) -> tuple[Any, Array]:
    """Returns namespace and array of `positions`, (..., T, 2 or 3), T at least `minimum`.

    Raises:
        ShapeError: another shape, or too few samples.
        ValueRangeError: a value is not finite (unless `check` is left to `check_result`).
    """
    xp, points = as_floats(positions, name, check=check)
    if points.ndim < 2 or points.shape[-1] not in (2, 3) or points.shape[-2] < minimum:
        raise ShapeError(
            f'{name} have shape {tuple(points.shape)}; (..., T, 2) or (..., T, 3) with at least '
            f'{_samples(minimum)} T is expected'
        )
    return xp, points


def as_sequences(
    values: Any, minimum: int, name: str, check: bool = True, axis: str = 'T'
) -> tuple[Any, Array]:
    """Returns namespace and array of `values`, (..., T, D), T at least `minimum`, D at least 1.

    axis: what errors call T.

    Raises:
        ShapeError: another shape, or too few samples.
        ValueRangeError: a value is not finite (unless `check` is left to `check_result`).
    """
    xp, array = as_floats(values, name, check=check)
    if array.ndim < 2 or array.shape[-1] < 1 or array.shape[-2] < minimum:
        raise ShapeError(
            f'{name} have shape {tuple(array.shape)}; (..., {axis}, D) with at least '
            f'{_samples(minimum)} {axis} is expected'
        )
    return xp, array


def _samples(count: int) -> str:
    return '1 sample' if count == 1 else f'{count} samples'


def like(
    reference: Array, values: Any, name: str, allow_nan: bool = False, check: bool = True
) -> Array:
    """Returns `values` as floats of the library, type and device of `reference`.

    Raises:
        ValueRangeError: a value is not a real number, or not finite (as of `as_floats`).
    """
    xp = array_api_compat.array_namespace(reference)
    device = array_api_compat.device(reference)
    if array_api_compat.is_torch_array(values):
        if array_api_compat.is_torch_array(reference):
            array = values.to(device=device, dtype=reference.dtype)
            return as_floats(array, name, allow_nan, check)[1]
        values = values.detach().cpu().numpy()
    array = xp.asarray(as_numbers(values, name)[1], dtype=reference.dtype, device=device)
    return as_floats(array, name, allow_nan, check)[1]


def check_same_shape(first: Array, second: Array, names: tuple[str, str]) -> None:
    """Raises ShapeError unless both arrays have one shape."""
    if tuple(first.shape) != tuple(second.shape):
        raise ShapeError(
            f'{names[0]} have shape {tuple(first.shape)}, {names[1]} {tuple(second.shape)}; '
            f'the same shape is expected'
        )


def check_scalar_or_same(first: Array, second: Array, names: tuple[str, str]) -> None:
    """Raises ShapeError unless both arrays have one shape or one of them is a scalar."""
    if first.ndim and second.ndim:
        check_same_shape(first, second, names)


def pair_of(item: Any, name: str, what: str) -> tuple[Any, Any]:
    """Returns one item of `name`, a pair.

    Raises:
        ShapeError: it is none.
    """
    try:
        first, second = item
    except (TypeError, ValueError) as error:
        raise ShapeError(f'{name} hold what is no pair; two {what} each are expected') from error
    return first, second


def check_variant(variant: str, known: Sequence[str], name: str = 'variant') -> None:
    """Raises ValueRangeError unless `variant`, the argument `name`, is one of `known`."""
    if variant not in known:
        raise ValueRangeError(f'{name} is {variant!r}; one of {", ".join(known)} is expected')


def checked_count(value: Any, name: str, least: int) -> int:
    """Returns a whole number.

    Raises:
        ValueRangeError: it is no whole number, or less than the least.
    """
    try:
        count = None if isinstance(value, bool) else index(value)
    except TypeError:
        count = None
    if count is None or count < least:
        raise ValueRangeError(f'{name} is {value!r}; a whole number of {least} or more is expected')
    return count


def weighted_sum(xp: Any, values: Array, weights: Any = 1.0) -> Array:
    """Sum over the last axis of values times weights, (..., D) and (D,) or a scalar -> (...,)."""
    if not isinstance(values, np.ndarray):
        return xp.sum(values * weights, axis=-1)
    # The same by a product with a vector: many times faster than NumPy's sum over a short axis.
    column = np.empty(values.shape[-1], dtype=values.dtype)
    column[...] = weights
    return values @ column


def inner(xp: Any, first: Array, second: Array) -> Array:
    """Inner product over the last axis, (..., D) twice -> (...,)."""
    if isinstance(first, np.ndarray) and first.shape[-1] > _SHORT:
        return np.einsum('...i,...i->...', first, second)[()]
    return weighted_sum(xp, first * second)


def norm(xp: Any, vectors: Array, overwrite: bool = False) -> Array:
    """Euclidean norm over the last axis, (..., D) -> (...,). Its gradient at 0 is 0, not NaN.

    overwrite: the vectors are not needed any more, their memory may be used.
    """
    if not isinstance(vectors, np.ndarray):
        return xp.linalg.vector_norm(vectors, axis=-1)
    if overwrite and vectors.shape[-1] <= _SHORT:
        squares = weighted_sum(xp, np.square(vectors, out=vectors))
    else:
        squares = inner(xp, vectors, vectors)
    return np.sqrt(squares, out=squares) if squares.ndim else np.sqrt(squares)


def mean_magnitude(
    xp: Any, vectors: Array, scale: Array | None = None, overwrite: bool = False
) -> Array:
    """Mean over the last axis of the absolute values, each over its `scale`: (..., D) -> (...,).

    overwrite: as of `norm`.
    """
    weight = 1.0 / vectors.shape[-1]
    if overwrite and isinstance(vectors, np.ndarray):
        sizes = np.abs(vectors, out=vectors)
    else:
        sizes = xp.abs(vectors)
    return weighted_sum(xp, sizes, weight if scale is None else weight / scale)


def difference(values: Array, order: int = 1, span: int = 1) -> Array:
    """n-th difference over `span` samples: (..., T, D) -> (..., T - order * span, D)."""
    for _ in range(order):
        values = values[..., span:, :] - values[..., :-span, :]
    return values


def flattened(xp: Any, rows: Array) -> Array:
    """The last two axes as one, (..., T, D) -> (..., T D)."""
    return xp.reshape(rows, (*rows.shape[:-2], rows.shape[-2] * rows.shape[-1]))


def count_true(xp: Any, flags: Array) -> Array:
    """Number of True over the last axis, (..., T) -> (...,) integers."""
    # NumPy counts without an axis ten times faster.
    return xp.asarray(xp.count_nonzero(flags, axis=-1 if flags.ndim > 1 else None))[()]


def pad_nan(xp: Any, values: Array, count: int) -> Array:
    """Puts `count` NaN before the last axis: (..., T) -> (..., count + T)."""
    device = array_api_compat.device(values)
    shape = (*values.shape[:-1], count)
    head = xp.full(shape, xp.nan, dtype=values.dtype, device=device)
    return xp.concat([head, values], axis=-1)


def unavailable(values: Array) -> Array:
    """NaN in the shape of `values`, whose gradient is 0: it spoils no sum of losses' gradient."""
    return values * 0.0 + float('nan')


def on_cpu(array: Array) -> NDArray[Any]:
    """The array in NumPy, cut off from gradients."""
    return array.detach().cpu().numpy() if array_api_compat.is_torch_array(array) else array


def are_equal(values: NDArray[np.float64]) -> bool:
    """Returns whether all values, at least one, are the same but for rounding: resamples that are
    say nothing of how far their common value may be off.
    """
    least, most = float(values.min()), float(values.max())
    largest = max(abs(least), abs(most))
    return least == most or (isfinite(largest) and most - least <= _ROUNDING * largest)
