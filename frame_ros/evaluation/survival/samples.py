# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of times, events and tau; samples of two policies by object."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.evaluation.survival.cell import Cell
from frame_ros.metrics.arrays import as_floats, on_cpu

First = TypeVar('First')
Second = TypeVar('Second')
# The integration cap of PhAIL, section 5.
TAU = 240.0
RESAMPLES = 1000
SEED = 0


def as_cell(sample: Any, name: str = 'the sample') -> Cell:
    """Returns a Cell, or (times, events) with each operation as an episode of its own, checked.

    Args:
        sample: a Cell, or times (n,) in s and events (n,): True (1) done, False (0) censored. A
            hard failure is an event at infinity. The episodes of a Cell: see there.
        name: of the sample, for errors.

    Raises:
        ShapeError: not two or three arrays of one length, or nothing in them.
        ValueRangeError: a time is negative or NaN, an infinite one is no event, an event is neither
            0 nor 1, or the episodes are not numbered from 0 without gaps, in their order.
    """
    if not isinstance(sample, (tuple, list)) or len(sample) not in (2, 3):
        raise ShapeError(f'{name} is {type(sample).__name__}; (times, events) is expected')
    times, events = _floats(sample[0], f'times of {name}'), _floats(sample[1], f'events of {name}')
    if times.ndim != 1 or times.shape != events.shape or not len(times):
        raise ShapeError(
            f'{name} has times of shape {times.shape} and events of shape {events.shape}; (n,) '
            'each with n of at least 1 is expected'
        )
    if (wrong := times[~(times >= 0.0)]).size:
        raise ValueRangeError(f'{name} has a time of {wrong[0]:g} s; 0 or more is expected')
    if (wrong := events[(events != 0.0) & (events != 1.0)]).size:
        raise ValueRangeError(f'{name} has an event of {wrong[0]:g}; 0 or 1 is expected')
    if (np.isinf(times) & (events == 0.0)).any():
        raise ValueRangeError(
            f'{name} has an infinite time that is censored; a hard failure is an event (1) at '
            'infinity, and an operation is censored at the finite time until it was observed'
        )
    if len(sample) == 2:
        return Cell(times, events == 1.0, np.arange(len(times)))
    return Cell(times, events == 1.0, _episodes(sample[2], len(times), name))


def _floats(values: Any, name: str) -> Any:
    return np.asarray(on_cpu(as_floats(values, name, check=False)[1]), dtype=np.float64)


def _episodes(values: Any, count: int, name: str) -> Any:
    episodes = np.asarray(values)
    if episodes.shape != (count,) or episodes.dtype.kind not in 'iu':
        raise ShapeError(
            f'{name} has episodes of shape {episodes.shape} and type {episodes.dtype}; ({count},) '
            'whole numbers are expected'
        )
    steps = np.diff(episodes, prepend=episodes.dtype.type(0))
    if episodes[0] != 0 or not ((steps == 0) | (steps == 1)).all():
        raise ValueRangeError(
            f'the episodes of {name} are not numbered from 0 without gaps in their order'
        )
    return episodes.astype(np.intp)


def checked_tau(tau: float, may_be_infinite: bool = False) -> float:
    """Returns tau in s.

    Raises:
        ValueRangeError: it is no number, not positive, NaN, or infinite where that is not allowed.
    """
    is_number = isinstance(tau, (int, float, np.number)) and not isinstance(tau, bool)
    if not is_number or not tau > 0.0 or (math.isinf(tau) and not may_be_infinite):
        raise ValueRangeError(f'tau is {tau!r} s; a positive, finite time is expected')
    return float(tau)


class Objects(NamedTuple):
    """Objects of two policies.

    Attributes:
        shared: of both, in the order of the first; only these are compared.
        only_first, only_second: of one of them.
    """

    shared: tuple[str, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]


def objects_of(first: Mapping[str, First], second: Mapping[str, Second]) -> Objects:
    """Returns the objects that two policies share, and those of one only.

    Raises:
        ShapeError: they are not mappings object -> sample.
    """
    for each in (first, second):
        if not isinstance(each, Mapping):
            raise ShapeError(f'{type(each).__name__} given; object -> (times, events) is expected')
    return Objects(
        tuple(name for name in first if name in second),
        tuple(name for name in first if name not in second),
        tuple(name for name in second if name not in first),
    )
