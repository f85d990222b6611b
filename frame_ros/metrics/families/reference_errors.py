# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Errors against a reference trajectory: ATE, RTE (FRAME eq. 9, 10) and DTW."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import partial
from math import dist, hypot
from typing import Any

import numpy as np

from frame_ros.core.errors import MissingExtraError, ShapeError, ValueRangeError, install_hint
from frame_ros.metrics import record
from frame_ros.metrics.arrays import (
    Array,
    array_api_compat,
    check_result,
    check_variant,
    checked_count,
    difference,
    norm,
)
from frame_ros.metrics.contiguous_samples import runs_of
from frame_ros.metrics.engine.samples import RunningMean, finite
from frame_ros.metrics.record import RATE
from frame_ros.metrics.relative_pose import (
    RTE_VARIANTS,
    check_orientations_are_used,
    local_displacements,
)
from frame_ros.metrics.resampling import ALIGNMENTS, _fit, _pair, one_path

__all__ = [
    'AbsoluteTrajectoryError', 'RelativeTrajectoryError', 'absolute_trajectory_error',
    'dtw_distance', 'relative_trajectory_error',
]  # fmt: skip


def absolute_trajectory_error(positions: Any, reference: Any, align: str = 'none') -> Array:
    """Mean distance to the reference, sample by sample, m. FRAME eq. 9.

    Args:
        positions: (..., T, 2 or 3), m, T >= 1.
        reference: the same shape; `resample` brings a reference to the trajectory's stamps.
        align: 'none'; or 'se3' or 'sim3': `positions` are first aligned to the reference as a
            whole (`align`).

    Returns:
        (...,) m.

    Raises:
        ShapeError: shapes differ, or no samples.
        ValueRangeError: a value is not finite, or an unknown alignment.
    """
    xp, points, wanted = _pair(positions, reference, 1, align, check=False)
    error = xp.mean(norm(xp, points - wanted, overwrite=True), axis=-1)
    return check_result(xp, error, positions=points, reference=wanted)


def relative_trajectory_error(
    positions: Any,
    reference: Any,
    delta: int = 1,
    align: str = 'none',
    breaks: Any = None,
    *,
    variant: str = 'paper',
    orientations: Any = None,
    reference_orientations: Any = None,
) -> Array:
    """Mean difference of the displacements over `delta` samples, m. FRAME eq. 10.

    The paper compares displacements in the common frame. Variant 'evo' compares each in the frame
    of the pose that it begins at, as `evo_rpe --all_pairs` does (translation part): the same where
    trajectory and reference have equal orientations, else often much more or less.

    Args:
        positions: (..., T, 2 or 3), m, T > delta.
        reference: the same shape; `resample` brings a reference to the trajectory's stamps.
        delta: samples from the beginning to the end of a displacement, 1 or more.
        align: as for `absolute_trajectory_error`.
        breaks: (T,) or (..., T) booleans, True where a sample begins a new run (`find_breaks`): no
            displacement spans two runs.
        variant: 'paper' or 'evo'.
        orientations, reference_orientations: (..., T, 4), xyzw, of variant 'evo', 3D alone. An
            alignment turns them with the positions, so that there only the scale of 'sim3' counts.

    Returns:
        (...,) m; NaN where no run has more than `delta` samples.

    Raises:
        ShapeError: shapes differ, too few samples, or 'evo' without orientations.
        ValueRangeError: a value is not finite, delta is below 1, an unknown alignment or variant,
            a zero quaternion, or orientations for the variant 'paper'.
    """
    delta = checked_count(delta, 'delta', 1)
    check_variant(variant, RTE_VARIANTS)
    check_orientations_are_used(variant, orientations, reference_orientations)
    is_evo = variant == 'evo'
    # What turns both positions and orientations leaves displacements seen from a pose as they are.
    moved = 'none' if is_evo else align
    check_variant(align, ALIGNMENTS, 'align')
    xp, points, wanted = _pair(positions, reference, delta + 1, moved, breaks is not None)
    if is_evo:
        scale = _fit(xp, points, wanted, with_scale=True)[1] if align == 'sim3' else 1.0
        own = local_displacements(points, orientations, delta, 'orientations')
        other = local_displacements(wanted, reference_orientations, delta, 'reference_orientations')
        changes = norm(xp, scale * own - other, overwrite=True)
    else:
        # (p' - p) - (r' - r) = (p' - r') - (p - r): one difference along the samples, not two.
        changes = norm(xp, difference(points - wanted, span=delta), overwrite=True)
    error = runs_of(breaks, points).mean(xp, changes)
    return check_result(xp, error, positions=points, reference=wanted)


def dtw_distance(
    positions: Any, reference: Any, window: int | None = None, normalised: bool = False
) -> float:
    """The least sum of distances over all ways to match two paths in order, m.

    A matching begins at both first samples, ends at both last ones, and moves on by one sample of
    either or of both; a pair costs its Euclidean distance. The sum is not squared anywhere, as in
    the textbooks and in the published library of FRAME (dtaidistance's own default is the root of
    the sum of squares). Not differentiable: computed in NumPy, also for torch tensors.

    Args:
        positions: (T, 2 or 3), m, T >= 1.
        reference: (S, the same 2 or 3), m, S >= 1.
        window: samples by which a matching may leave the diagonal, beyond |T - S|. None: any.
        normalised: divide by the larger of T and S: for T = S never above ATE.

    Raises:
        ShapeError: other shapes.
        ValueRangeError: a value is not finite, or a negative window.
        MissingExtraError: dtaidistance is not installed (extra 'dtw').
    """
    points, wanted = _path(positions, 'positions'), _path(reference, 'reference')
    if points.shape[1] != wanted.shape[1]:
        raise ShapeError(
            f'positions have shape {points.shape}, reference {wanted.shape}; '
            f'(T, D) and (S, D) with one D are expected'
        )
    if window is not None and window < 0:
        raise ValueRangeError(f'window is {window}; 0 samples or more, or None, is expected')
    try:
        from dtaidistance import dtw, dtw_ndim
    except ImportError as error:
        raise MissingExtraError(
            f'DTW needs the package dtaidistance: {install_hint("dtw")}'
        ) from error
    distance = dtw_ndim.distance(
        points,
        wanted,
        window=None if window is None else window + 1,
        use_c=dtw.dtw_cc is not None,
        inner_dist='euclidean',
    )
    return float(distance) / (max(len(points), len(wanted)) if normalised else 1)


def _path(positions: Any, name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    if array_api_compat.is_torch_array(positions):
        positions = positions.detach().cpu().numpy()
    return np.ascontiguousarray(one_path(positions, 1, name)[1], dtype=np.float64)


_Turns = tuple[list[float], list[float]] | None


def _finite_pair(
    position: Sequence[float], reference: Sequence[float]
) -> tuple[list[float], list[float]]:
    point = finite(position, (2, 3), 'position')
    return point, finite(reference, (len(point),), 'reference')


def _unit(orientation: Sequence[float], name: str) -> list[float]:
    values = finite(orientation, (4,), name)
    length = hypot(*values)
    if not length > 0.0:
        raise ValueRangeError(f'{name} is a zero quaternion; a rotation is expected')
    return [value / length for value in values]


def _vector_turned_back(unit: list[float], vector: list[float]) -> list[float]:
    """A vector in the frame whose orientation is the unit quaternion."""
    x, y, z, w = unit
    a, b, c = vector
    # Twice the vector product of the vector and the quaternion's axis.
    p, q, r = 2.0 * (b * z - c * y), 2.0 * (c * x - a * z), 2.0 * (a * y - b * x)
    return [a + w * p + (q * z - r * y), b + w * q + (r * x - p * z), c + w * r + (p * y - q * x)]


class AbsoluteTrajectoryError:
    """ATE so far, m. Batch form: `absolute_trajectory_error`."""

    def __init__(self) -> None:
        self._mean = RunningMean()

    def reset(self) -> None:
        """Forgets everything."""
        self._mean.reset()

    def update(self, position: Sequence[float], reference: Sequence[float]) -> None:
        """Takes one position and the reference's at the same stamp, 2 or 3 values each, m.

        Raises:
            ShapeError: not 2 or 3 values each.
            ValueRangeError: a value is not finite. Nothing has changed in either case.
        """
        self._mean.update(dist(*_finite_pair(position, reference)))

    @property
    def value(self) -> float:
        """Mean distance."""
        return self._mean.value


class RelativeTrajectoryError:
    """RTE so far over `delta` samples, m. Batch form: `relative_trajectory_error`.

    `gaps`: how often displacements began again.
    """

    def __init__(self, delta: int = 1, variant: str = 'paper') -> None:
        """`variant`: 'paper' or 'evo'. Raises ValueRangeError: delta is below 1, or an unknown
        variant.
        """
        delta = checked_count(delta, 'delta', 1)
        check_variant(variant, RTE_VARIANTS)
        self._is_evo = variant == 'evo'
        self._pairs: deque[tuple[list[float], list[float], _Turns]] = deque(maxlen=delta)
        self._mean = RunningMean()
        self.gaps = 0

    def reset(self) -> None:
        """Forgets everything."""
        self._mean.reset()
        self._pairs.clear()
        self.gaps = 0

    def reset_differences(self) -> None:
        """After a gap: no displacement spans it."""
        self.gaps += bool(self._pairs)
        self._pairs.clear()

    def update(
        self,
        position: Sequence[float],
        reference: Sequence[float],
        orientation: Sequence[float] | None = None,
        reference_orientation: Sequence[float] | None = None,
    ) -> None:
        """Takes one position and the reference's at the same stamp, 2 or 3 values each, m; variant
        'evo' also both orientations, xyzw, and 3 values.

        Raises:
            ShapeError: not 2 or 3 values each, not as many as before, or missing orientations.
            ValueRangeError: a value is not finite, a zero quaternion, or orientations for the
                variant 'paper'. Nothing has changed in either case.
        """
        point, wanted = _finite_pair(position, reference)
        turns = self._turns(len(point), orientation, reference_orientation)
        if self._pairs and len(point) != len(self._pairs[0][0]):
            raise ShapeError(
                f'position has {len(point)} values; {len(self._pairs[0][0])} are expected'
            )
        if len(self._pairs) == self._pairs.maxlen:
            before, wanted_before, turns_before = self._pairs[0]
            moved = [p - q for p, q in zip(point, before)]
            wanted_moved = [w - v for w, v in zip(wanted, wanted_before)]
            if turns_before is not None:
                moved = _vector_turned_back(turns_before[0], moved)
                wanted_moved = _vector_turned_back(turns_before[1], wanted_moved)
            self._mean.update(hypot(*(p - w for p, w in zip(moved, wanted_moved))))
        self._pairs.append((point, wanted, turns))

    def _turns(
        self, size: int, own: Sequence[float] | None, reference: Sequence[float] | None
    ) -> _Turns:
        """Both orientations of the variant 'evo', of length 1."""
        check_orientations_are_used('evo' if self._is_evo else 'paper', own, reference)
        if not self._is_evo:
            return None
        if size != 3 or own is None or reference is None:
            raise ShapeError(
                "variant 'evo' compares poses; 3 values of position and 4 of orientation each are "
                'expected'
            )
        return _unit(own, 'orientation'), _unit(reference, 'reference_orientation')

    @property
    def value(self) -> float:
        """Mean difference of the displacements."""
        return self._mean.value


_CHART = record.Chart('Error against the reference')

_reference_error = partial(record.quality_metric, unit='m', higher_is_better=False)

ABSOLUTE_ERROR = _reference_error(
    id='ate', name='absolute trajectory error', source='FRAME eq. 9',
    reasons=(record.NO_REFERENCE, record.NO_POSES),
    batch=absolute_trajectory_error, streaming=AbsoluteTrajectoryError,
    torch='AbsoluteTrajectoryError',
    torch_form=record.TorchForm(
        ('positions', 'reference'), ('align',), minimum=lambda o: 1 if o['align'] == 'none' else 2,
    ),
    options=('references', 'reference_match', 'max_pose_age'), axis=5,
    line=record.Line(_CHART, 'ATE so far'),
    formula='ATE = 1/L Σᵢ ‖pᵢ − pᵢ*‖         '
        'p*: the reference at the same time or after as much path',
    shows='How far the end effector is from where a demonstration was, on average.',
    misleads='A demonstration is one way among several: of a task with more than one good '
        'solution a single demonstration calls the others wrong. Give several (the nearest '
        'counts) and do not take their mean where they split. Objects at other places than in the '
        'demonstration move the right path. Matched by time, a good path at another speed is an '
        'error: match by arc length to judge shape alone. It is a mean, not the root mean square '
        'that SLAM tools print.',
    variants='Without alignment (default: where the arm is matters), `se3` or `sim3` as SLAM '
        'tools align.',
)  # fmt: skip

RELATIVE_ERROR = _reference_error(
    id='rte', name='relative trajectory error', minimum_samples=2, source='FRAME eq. 10',
    reasons=(
        record.NO_REFERENCE, record.NO_POSES, record.Reason('too few poses of the TCP in a row'),
    ),
    batch=relative_trajectory_error, streaming=RelativeTrajectoryError,
    torch='RelativeTrajectoryError', sampled_at=record.CONTROL_STEPS,
    options=('references', 'reference_match', 'rte_delta', 'max_pose_age', 'gap'), axis=6,
    line=record.Line(_CHART, 'RTE'),
    formula='RTE = 1/(L−Δ) Σᵢ ‖(pᵢ₊Δ − pᵢ) − (p*ᵢ₊Δ − p*ᵢ)‖     Δ = 1 sample',
    shows='How far the motion from sample to sample differs from that of the reference, wherever '
        'the path lies.',
    misleads=f'{RATE}With Δ = 1 it measures mostly noise and speed: a robot that stands still has '
        'a small one. Drift that adds up slowly does not show: ATE sees that. Otherwise as ATE.',
    variants='`delta`: samples between the compared positions. Alignment as for ATE. `evo`: each '
        'displacement in the frame of the pose that it begins at, as evo compares relative poses; '
        'equal to the default where the orientations are those of the reference. Functions, '
        'classes and `frame-ros report --rte evo` offer it; live `rte` is the default.',
)  # fmt: skip

DTW_DISTANCE = record.Metric(
    id='dtw', name='DTW distance to the nearest reference', unit='m', higher_is_better=False,
    category='trajectory',
    reasons=(
        record.NO_REFERENCE, record.NO_POSES, record.Reason('dtaidistance is not installed'),
    ),
    batch=dtw_distance, torch='DTWDistance',
    formula='DTW = min over warpings w of Σ_(i,j)∈w ‖pᵢ − pⱼ*‖',
    shows='How far the shape of the path is from the reference when time may be stretched: pauses '
        'and other speeds cost little.',
    misleads='It is a sum along the warping, so it grows with the number of samples: compare at '
        'one rate and length only. Warping forgives hesitation altogether. Otherwise as ATE.',
    variants='`normalised`: divided by the number of samples of the longer path. Other libraries '
        'take the root of the sum of squares.',
)  # fmt: skip
