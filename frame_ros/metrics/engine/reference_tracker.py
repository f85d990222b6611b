# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Streaming ATE and RTE against several references, matched by time or by arc length."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable
from math import dist, sqrt
from struct import Struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.arrays import check_variant, checked_count
from frame_ros.metrics.constants import NAN
from frame_ros.metrics.engine.samples import positive_gap
from frame_ros.metrics.resampling import MATCHES

_Vector = tuple[float, float, float]
_INFINITY = float('inf')

# Its end and its origin (places); the point at the origin; its change per s or m.
_Segment = tuple[float, ...]
_SEGMENT = Struct('8d')
_unpack = _SEGMENT.unpack_from


class ReferenceTracker:
    """ATE and RTE so far against each of several references, m, and which of them is nearest.

    `ate`, `rte`: the least over the references; `ate_reference`, `rte_reference`: the index of the
    reference that gives it, -1 if there is none yet; `ates`, `rtes`: against each. NaN: no sample,
    no displacement yet. `gaps`: how often displacements began again. Work per sample and reference:
    a step along the reference, O(log N) when it enters another of its N - 1 segments.

    Batch form: `absolute_trajectory_error` and `relative_trajectory_error` against each reference
    brought to the samples, by `resample` ('time') or by `resample_at_arc_length` ('arc_length').
    Sources: FRAME eq. 9, 10.
    """

    def __init__(
        self,
        references: Iterable[tuple[Any, Any]],
        match: str = 'time',
        delta: int = 1,
        gap: float | None = None,
    ) -> None:
        """
        Args:
            references: of each, its stamps (N,), s from its own zero, strictly increasing, and its
                positions (N, 3), m, N >= 1.
            match: what gives a sample its place on a reference: 'time', its s since the start; or
                'arc_length', the m that the trajectory has come so far. A reference rests before
                its start and after its end.
            delta: samples over which RTE compares displacements.
            gap: s; after a longer step displacements begin again. None: only after
                `reset_differences`.

        Raises:
            ShapeError: no reference, or other shapes.
            ValueRangeError: a value is not finite, stamps do not increase, delta is below 1, gap
                is not positive, an unknown match, or a reference without length to match along.
        """
        check_variant(match, MATCHES, 'match')
        delta = checked_count(delta, 'delta', 1)
        self._is_by_time = match == 'time'
        self._gap = positive_gap(gap)
        self._delta = delta
        self._references = [_Reference(*_path(*each, match), delta) for each in references]
        if not self._references:
            raise ShapeError('references are empty; at least one trajectory is expected')
        self.reset()

    def reset(self) -> None:
        """Forgets everything: the next sample is the first."""
        self.ate = self.rte = NAN
        self.ate_reference = self.rte_reference = -1
        self.samples = self.gaps = self._run = self._displacements = 0
        self._time = self._length = -_INFINITY
        for reference in self._references:
            reference.reset()

    def reset_differences(self) -> None:
        """After a gap: no displacement spans it; the time may begin again."""
        self.gaps += self._run > 0
        self._run = 0
        self._time = self._length = -_INFINITY
        for reference in self._references:
            reference.rewind()

    @property
    def ates(self) -> list[float]:
        """ATE so far against each reference, m."""
        count = self.samples
        return [each.distance / count if count else NAN for each in self._references]

    @property
    def rtes(self) -> list[float]:
        """RTE so far against each reference, m."""
        count = self._displacements
        return [each.displacement / count if count else NAN for each in self._references]

    def update(self, time: float, length: float, x: float, y: float, z: float) -> None:
        """Takes one position, m, at `time` s since the start, after `length` m of path.

        `length` counts with match 'arc_length' only; NaN (no segment yet) is 0 then.

        Raises:
            ValueRangeError: a value is not finite, the time is not after the last one, or the
                length is less than the last one. Nothing has changed then.
        """
        total = time + x + y + z
        if total - total != 0.0:  # true for NaN and infinity
            raise ValueRangeError(f'position {(x, y, z)} or its time {time} s is not finite')
        if not time > self._time:
            raise ValueRangeError(f'time {time} s is not after the last one, {self._time} s')
        place = time if self._is_by_time else self._checked(length)
        if self._run and time - self._time > self._gap:
            self.reset_differences()
        self._time, self._length = time, place
        has_displacement = self._run >= self._delta
        least, nearest = _INFINITY, 0
        least_displacement, nearest_in_step = _INFINITY, -1
        for index, reference in enumerate(self._references):
            end, origin, u, v, w, du, dv, dw = reference.segment
            if place >= end:
                _, origin, u, v, w, du, dv, dw = reference.advance(place)
            along = place - origin
            ex = x - u - along * du
            ey = y - v - along * dv
            ez = z - w - along * dw
            reference.distance = distance = reference.distance + sqrt(ex * ex + ey * ey + ez * ez)
            if distance < least:
                least, nearest = distance, index
            error = (ex, ey, ez)
            errors = reference.errors
            if has_displacement:
                # (p - p') - (r - r') = (p - r) - (p' - r'), p' and r' being delta samples back.
                displacement = reference.displacement + dist(error, errors[0])
                reference.displacement = displacement
                if displacement < least_displacement:
                    least_displacement, nearest_in_step = displacement, index
            errors.append(error)
        self._run += 1
        self.samples = samples = self.samples + 1
        self.ate_reference = nearest
        self.ate = least / samples
        if has_displacement:
            self._displacements += 1
            self.rte_reference = nearest_in_step
            self.rte = least_displacement / self._displacements

    def _checked(self, length: float) -> float:
        place = 0.0 if length != length else length
        if not 0.0 <= place < _INFINITY or place < self._length:
            raise ValueRangeError(
                f'length is {length} m; not below 0 nor the last one, {self._length} m, is expected'
            )
        return place


class _Reference:
    """One reference: where it is at a place (s or m), and the sums of the errors against it."""

    __slots__ = ('distance', 'displacement', '_places', '_rows', 'segment', '_index',
                 'errors')  # fmt: skip

    def __init__(
        self, places: NDArray[np.float64], points: NDArray[np.float64], delta: int
    ) -> None:
        self._places = places.tolist()
        rows = np.zeros((len(points) + 1, 8))
        rows[:, 0] = np.append(places, _INFINITY)
        rows[1:-1, 1] = places[:-1]
        rows[:, 2:5] = np.insert(points, 0, points[0], axis=0)
        rows[1:-1, 5:] = np.diff(points, axis=0) / np.diff(places)[:, None]
        # Packed: a quarter of the memory that objects would take.
        self._rows = rows.tobytes()
        self.errors: deque[_Vector] = deque(maxlen=delta)
        self.reset()

    def reset(self) -> None:
        self.distance = self.displacement = 0.0
        self.rewind()

    def rewind(self) -> None:
        """No displacement spans what follows, and the next place may lie before the last one."""
        self.errors.clear()
        self._index = 0
        self.segment = _unpack(self._rows)

    def advance(self, place: float) -> _Segment:
        """Makes the segment that holds `place` the current one: the next, mostly."""
        self._index = index = self._index + 1
        segment = _unpack(self._rows, index * _SEGMENT.size)
        if place >= segment[0]:
            self._index = index = bisect_right(self._places, place, index)
            segment = _unpack(self._rows, index * _SEGMENT.size)
        self.segment = segment
        return segment


def _path(
    stamps: Any, positions: Any, match: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Places (s or m), strictly increasing, and the points there."""
    times = np.asarray(stamps, dtype=np.float64)
    points = np.asarray(positions, dtype=np.float64)
    if (
        points.ndim != 2
        or points.shape[1] != 3
        or times.shape != points.shape[:1]
        or not len(times)
    ):
        raise ShapeError(
            f'reference has stamps {times.shape} and positions {points.shape}; '
            f'(N,) and (N, 3), N >= 1, are expected'
        )
    if not (np.isfinite(times).all() and np.isfinite(points).all()):
        raise ValueRangeError('reference holds values that are not finite')
    if not np.all(np.diff(times) > 0.0):
        raise ValueRangeError('stamps do not increase strictly; sort them and drop the doubles')
    if match == 'arc_length':
        lengths = np.sqrt((np.diff(points, axis=0) ** 2).sum(axis=1))
        moved = lengths > 0.0
        if not moved.any():
            raise ValueRangeError('reference has no length; match it by time')
        points = np.concatenate([points[:1], points[1:][moved]])
        times = np.concatenate([[0.0], np.cumsum(lengths[moved])])
    return times, points
