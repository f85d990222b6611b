# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Several references: their mean trajectory, and the errors against the nearest (FRAME 3.2, 4.1).

A reference is a pair (stamps, positions), (N,) and (N, 2 or 3), with stamps in s (or any one unit)
from its own start, strictly increasing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from frame_ros.core.errors import ShapeError
from frame_ros.metrics.arrays import Array, as_times, check_variant, like, pair_of
from frame_ros.metrics.constants import NAN
from frame_ros.metrics.families.reference_errors import (
    absolute_trajectory_error,
    dtw_distance,
    relative_trajectory_error,
)
from frame_ros.metrics.orientations import as_orientations
from frame_ros.metrics.relative_pose import interpolated_orientations
from frame_ros.metrics.resampling import (
    MATCHES,
    index_of_least,
    interpolated,
    one_path,
    resample,
    resample_at_arc_length,
    signed,
    travelled_lengths,
    without_pauses,
)


@dataclass(frozen=True)
class ReferenceErrors:
    """Errors of one trajectory against several references.

    ate, rte: m, the least over the references; ate_reference, rte_reference: the index of the one
    that gives it. ates, rtes: m, against each. dtw: m, the least; NaN if it was not asked for.
    """

    ate: Array
    rte: Array
    ate_reference: int
    rte_reference: int
    ates: tuple[Array, ...]
    rtes: tuple[Array, ...]
    dtw: float = NAN


def reference_errors(
    positions: Any,
    stamps: Any,
    references: Sequence[tuple[Any, Any]],
    by: str = 'time',
    align: str = 'none',
    delta: int = 1,
    breaks: Any = None,
    with_dtw: bool = False,
    *,
    rte_variant: str = 'paper',
    orientations: Any = None,
    reference_orientations: Sequence[Any] | None = None,
) -> ReferenceErrors:
    """ATE and RTE against the nearest of several references. FRAME eq. 9, 10 and section 3.2.

    Args:
        positions: (T, 2 or 3), m, T > delta.
        stamps: (T,), from the trajectory's own start, strictly increasing.
        references: (stamps, positions) of each, in the same unit from its own start. A reference
            rests before its first and after its last sample.
        by: what brings a reference to the samples: 'time', their stamps; or 'arc_length', the m
            that the trajectory has come so far.
        align, delta: as of `relative_trajectory_error`.
        breaks: (T,) booleans, True where a sample begins a new run (`find_breaks`): no displacement
            spans two runs, and the way across is no way.
        with_dtw: also the least `dtw_distance` to a reference.
        rte_variant, orientations: variant and (T, 4) orientations of `relative_trajectory_error`.
        reference_orientations: (N, 4) of each reference, xyzw; brought to the samples along the
            shorter arc.

    Raises:
        ShapeError: no reference, shapes that do not match, or too few samples.
        ValueRangeError: a value is not finite, stamps do not increase, an unknown way or alignment,
            or a reference without length to go along.
        MissingExtraError: `with_dtw` without dtaidistance (extra 'dtw').
    """
    check_variant(by, MATCHES, 'by')
    xp, points, times = _trajectory(stamps, positions, 'positions', delta + 1)
    others = _references(references, 1)
    along = times if by == 'time' else travelled_lengths(points, breaks)
    if by == 'time':
        wanted = [like(points, resample(p, t, times), 'reference') for _, p, t in others]
    else:
        wanted = [like(points, resample_at_arc_length(p, along), 'reference') for _, p, _ in others]
    ates = tuple(absolute_trajectory_error(points, each, align) for each in wanted)
    turns = _turns(xp, points, others, reference_orientations, along, by)
    rtes = tuple(
        relative_trajectory_error(
            points, w, delta, align, breaks,
            variant=rte_variant, orientations=orientations, reference_orientations=turn,
        )
        for w, turn in zip(wanted, turns, strict=True)
    )  # fmt: skip
    nearest, nearest_in_step = index_of_least(ates), index_of_least(rtes)
    dtw = min(dtw_distance(points, p) for _, p, _ in others) if with_dtw else NAN
    return ReferenceErrors(
        ates[nearest], rtes[nearest_in_step], nearest, nearest_in_step, ates, rtes, dtw
    )


def _turns(
    xp: Any,
    points: Array,
    others: list[tuple[Any, Array, Array]],
    orientations: Sequence[Any] | None,
    along: Array,
    by: str,
) -> list[Array | None]:
    """The orientations (T, 4) of each reference at the samples; None without."""
    if orientations is None:
        return [None] * len(others)
    if len(orientations) != len(others):
        raise ShapeError(
            f'{len(orientations)} reference_orientations; one of each of {len(others)} is expected'
        )
    found = []
    for (_, path, stamps), given in zip(others, orientations):
        path = like(points, path, 'reference')
        rows = as_orientations(path, given, 'reference_orientations')
        if by == 'time':
            start = stamps[0].item()
            places = like(points, signed(stamps) - start, 'stamps')
            wanted = like(points, signed(along) - start, 'stamps')
        else:
            rows, places = without_pauses(xp, path, rows, 'reference')
            wanted = along
        found.append(interpolated_orientations(rows, places, wanted))
    return found


def mean_trajectory(
    references: Sequence[tuple[Any, Any]], samples: int | None = None, by: str = 'time'
) -> tuple[Array, Array]:
    """The mean of several trajectories, which FRAME section 4.1.2 takes as the reference.

    Each is brought to the same shares of its duration, or of its length; there the positions are
    averaged, and the stamps. By arc length a pause only delays the stamps that follow it.

    Args:
        references: (stamps, positions) of each, N >= 2 samples.
        samples: of the mean, 2 or more; None: as many as the reference with the most has.
        by: 'time' or 'arc_length'.

    Returns:
        Stamps (samples,), floats in the unit of the references' from their zero, and positions
        (samples, 2 or 3), m; of the library of the first reference's positions.

    Raises:
        ShapeError: no reference, shapes that do not match, or too few samples.
        ValueRangeError: a value is not finite, stamps do not increase, an unknown way, or a
            reference without length by arc length.
    """
    check_variant(by, MATCHES, 'by')
    paths = _references(references, 2)
    xp, first, _ = paths[0]
    if any(points.shape[1] != first.shape[1] for _, points, _ in paths):
        raise ShapeError(
            f'references have {", ".join(str(p.shape[1]) for _, p, _ in paths)} components; '
            f'the same number is expected'
        )
    count = max(p.shape[0] for _, p, _ in paths) if samples is None else samples
    if count < 2:
        raise ShapeError(f'samples is {count}; at least 2 are expected')
    shares = like(first, [i / (count - 1) for i in range(count)], 'shares')
    rows = [_at_shares(xp, like(first, p, 'positions'), t, shares, by) for _, p, t in paths]
    mean = sum(rows[1:], start=rows[0]) / len(rows)
    return mean[:, -1], mean[:, :-1]


def _at_shares(xp: Any, points: Array, times: Array, shares: Array, by: str) -> Array:
    """Rows (position, stamp) of a trajectory at shares of its duration or length."""
    stamps = like(points, times, 'stamps')
    rows = xp.concat([points, stamps[:, None]], axis=-1)
    if by == 'arc_length':
        rows, places = without_pauses(xp, points, rows, 'positions of a reference')
    else:
        places = stamps - stamps[0]
    return interpolated(xp, rows, places, shares * places[-1])


def _references(
    references: Sequence[tuple[Any, Any]], minimum: int
) -> list[tuple[Any, Array, Array]]:
    pairs = [pair_of(each, 'references', 'arrays (stamps, positions)') for each in references]
    if not pairs:
        raise ShapeError('references are empty; at least one trajectory is expected')
    return [_trajectory(*pair, f'reference {i}', minimum) for i, pair in enumerate(pairs)]


def _trajectory(stamps: Any, positions: Any, name: str, minimum: int) -> tuple[Any, Array, Array]:
    """Namespace, positions (T, 2 or 3) and stamps (T,) of one trajectory."""
    xp, points = one_path(positions, minimum, name)
    times = as_times(stamps, f'stamps of {name}')[1]
    if times.shape[0] != points.shape[0]:
        raise ShapeError(
            f'{name} have shape {tuple(points.shape)}, their stamps {tuple(times.shape)}; '
            f'as many of either are expected'
        )
    return xp, points, times
