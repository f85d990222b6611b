# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Trajectory instability: the RMS jerk of the TCP (VLA-UQ eq. 25)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import hypot, sqrt
from typing import Any

from frame_ros.core.errors import ValueRangeError
from frame_ros.metrics import record
from frame_ros.metrics.arrays import (
    Array,
    as_points,
    check_result,
    check_variant,
    norm,
    unavailable,
)
from frame_ros.metrics.constants import NAN
from frame_ros.metrics.contiguous_samples import Runs, runs_of
from frame_ros.metrics.engine.samples import finite, positive_gap
from frame_ros.metrics.motion import GAPS, RATES, STATIC, motion_metric
from frame_ros.metrics.record import RATE
from frame_ros.metrics.step_differences import VARIANTS, divided_differences

__all__ = ['RMSJerk', 'rms_jerk']


def rms_jerk(positions: Any, dt: Any, variant: str = 'paper', breaks: Any = None) -> Array:
    """TI: root of the mean squared jerk over its T - 3 values, m/s^3. VLA-UQ eq. 25.

    Args:
        positions: (..., T, 2 or 3), m, T >= 4.
        dt: s between samples, a scalar or (..., T - 1); 'authors' does not look at it.
        variant: 'paper'; or 'authors': three central-difference gradients with dt = 1, mean of
            the norms.
        breaks: (T,) or (..., T) booleans, True where a sample begins a new run (`find_breaks`): no
            derivative spans two runs, and runs of fewer than 4 samples do not count; the dt across
            a break does not either, and may be anything.

    Returns:
        (...,) m/s^3 ('authors': m per step^3); 0 where nothing moves, NaN where no run has 4
        samples.

    Raises:
        ShapeError: another shape, or fewer than 4 samples.
        ValueRangeError: a value is not finite, dt is missing or not positive, unknown variant.
    """
    check_variant(variant, VARIANTS)
    xp, points = as_points(positions, 4, check=breaks is not None)
    runs = runs_of(breaks, points)
    if variant == 'authors':
        jerk = _gradient_jerk(xp, points, runs)
    elif dt is None:
        raise ValueRangeError(
            'dt is None; s between samples, a scalar or (..., T - 1), is expected'
        )
    else:
        rates, unit = divided_differences(points, dt, 3, runs)
        jerk = runs.root_mean_square(xp, rates) / (1.0 if unit is None else unit)
    return check_result(xp, jerk, positions=points)


def _gradient_jerk(xp: Any, points: Array, runs: Runs) -> Array:
    """Mean norm of three gradients in a row, each run for itself; (..., T, D) -> (...,)."""
    if runs.numbers is None:
        return xp.mean(_third_gradients(xp, points), axis=-1)
    if points.ndim > 2:
        rows = range(points.shape[0])
        return xp.stack([_gradient_jerk(xp, points[i, ...], runs.row(i)) for i in rows])
    each = [points[part, :] for part in runs.slices(xp)]
    norms = [_third_gradients(xp, run) for run in each if run.shape[0] > 3]
    return xp.mean(xp.concat(norms)) if norms else unavailable(xp.sum(points))


def _third_gradients(xp: Any, points: Array) -> Array:
    """Norms of three central differences in a row with step 1, one-sided at both ends."""
    for _ in range(3):
        inner = (points[..., 2:, :] - points[..., :-2, :]) / 2.0
        start = points[..., 1:2, :] - points[..., :1, :]
        end = points[..., -1:, :] - points[..., -2:-1, :]
        points = xp.concat([start, inner, end], axis=-2)
    return norm(xp, points)


_MINIMUM = 4

# Three gradients reach 3 samples to either side: of 7 samples in a row the middle one's value rests
# on neither end of them.
_REACH = 3

_SAMPLES = 2 * _REACH + 1


class RMSJerk:
    """TI so far, m/s^3, from 4 samples on; `jerk`: the norm of the newest. Batch: `rms_jerk`.

    `gaps`: how often derivatives began again. With variant 'authors' the mean of the norms of three
    central-difference gradients with dt = 1, in m per step^3, needs no dt; the gradients at the
    newest 3 samples change with every sample, and they alone are computed again.
    """

    def __init__(
        self, dt: float | None = None, gap: float | None = None, variant: str = 'paper'
    ) -> None:
        """
        Args:
            dt: s between samples, where every update leaves it out.
            gap: s; a longer step is a gap by itself. None: only `reset_differences` makes one.
            variant: 'paper' or 'authors'.

        Raises:
            ValueRangeError: dt or gap is not positive, or an unknown variant.
        """
        check_variant(variant, ('paper', 'authors'))
        if dt is not None:
            _check_dt(dt)
        self._fixed_dt = dt
        self._gap = positive_gap(gap)
        self._is_authors = variant == 'authors'
        self._jerk = _GradientJerk() if self._is_authors else _DividedJerk()
        self._dimension = 0
        self.gaps = 0

    def reset(self) -> None:
        """Forgets everything."""
        self._jerk.reset()
        self._dimension = self.gaps = 0

    def reset_differences(self) -> None:
        """After a gap: no derivative spans it."""
        self.gaps += self._jerk.run > 0
        self._jerk.begin_run()

    @property
    def value(self) -> float:
        """TI so far; NaN: too few samples in a row."""
        return self._jerk.value

    @property
    def jerk(self) -> float:
        """Norm of the newest jerk; NaN: too few samples since the beginning or a gap."""
        return self._jerk.newest

    def update(self, position: Sequence[float], dt: float | None = None) -> None:
        """Takes one position, 2 or 3 values, m, and the s since the last one (at first unused).

        Raises:
            ShapeError: another number of values than 2 or 3, or than before.
            ValueRangeError: a value is not finite, or dt is not positive. Nothing has changed in
                either case.
        """
        point = finite(position, (self._dimension,) if self._dimension else (2, 3), 'position')
        spacing = self._fixed_dt if dt is None else dt
        if self._jerk.run and not (self._is_authors and spacing is None):
            _check_dt(spacing)
            if spacing > self._gap:  # type: ignore[operator]
                self.reset_differences()
        self._dimension = len(point)
        self._jerk.update(point, spacing or 1.0)


def _check_dt(dt: float | None) -> None:
    if dt is None or not 0.0 < dt < float('inf'):
        raise ValueRangeError(f'dt is {dt} s; a positive time is expected')


class _DividedJerk:
    """Root of the mean squared third divided difference."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.value = NAN
        self._squares = 0.0
        self._count = 0
        self.begin_run()

    def begin_run(self) -> None:
        """Closes the run of points without a gap; the next point is the first of another."""
        self.newest = NAN
        self.run = 0
        self._derivatives: list[list[float]] = []
        self._spacings: deque[float] = deque(maxlen=_MINIMUM - 1)

    def update(self, point: list[float], dt: float) -> None:
        """Takes a point, `dt` s after the last one of this run."""
        if self.run:
            self._spacings.append(dt)
        spacings = list(self._spacings)
        derivatives = [point]
        for order, before in enumerate(self._derivatives[: _MINIMUM - 1], start=1):
            span = sum(spacings[-order:]) / order
            change = zip(derivatives[-1], before, strict=True)
            derivatives.append([(new - old) / span for new, old in change])
        self._derivatives = derivatives
        self.run += 1
        if len(derivatives) == _MINIMUM:
            self.newest = hypot(*derivatives[-1])
            self._squares += self.newest * self.newest
            self._count += 1
            self.value = sqrt(self._squares / self._count)


class _GradientJerk:
    """Mean norm of three gradients in a row, central inside a run and one-sided at its ends.

    A run counts from its 4th sample on.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.value = NAN
        self._closed = self._settled = self._open = 0.0
        self._closed_count = self.run = 0
        self.begin_run()

    def begin_run(self) -> None:
        """Closes the run of points without a gap: what it came to stays."""
        if self.run >= _MINIMUM:
            self._closed += self._open
            self._closed_count += self.run
        self.newest = NAN
        self.run = 0
        self._settled = 0.0
        self._points: deque[list[float]] = deque(maxlen=_SAMPLES)

    def update(self, point: list[float], dt: float) -> None:
        """Takes a point of this run; `dt` does not count."""
        self._points.append(point)
        self.run += 1
        if self.run < _MINIMUM:
            return
        jerks = list(self._points)
        for _ in range(3):
            jerks = _gradient(jerks)
        norms = [hypot(*jerk) for jerk in jerks]
        self.newest = norms[-1]
        if self.run < _SAMPLES:
            self._open = sum(norms)
        else:
            is_first = self.run == _SAMPLES
            self._settled += sum(norms[: _REACH + 1]) if is_first else norms[_REACH]
            self._open = self._settled + sum(norms[_REACH + 1 :])
        self.value = (self._closed + self._open) / (self._closed_count + self.run)


def _gradient(points: list[list[float]]) -> list[list[float]]:
    """Central differences with step 1, one-sided at both ends."""
    inner = [
        [(after - before) / 2.0 for after, before in zip(c, a, strict=True)]
        for a, c in zip(points, points[2:])
    ]
    first, last = points[:2], points[-2:]
    ends = [[b - a for a, b in zip(*pair, strict=True)] for pair in (first, last)]
    return [ends[0], *inner, ends[1]]


TRAJECTORY_INSTABILITY = motion_metric(
    id='ti', name='trajectory instability (RMS jerk)', unit='m/s^3', minimum_samples=4,
    source='VLA-UQ eq. 25', batch=rms_jerk, streaming=RMSJerk,
    live=record.Live('pose', lambda metric, pose: metric.update(pose.position, pose.dt)),
    torch='RMSJerk',
    formula='TI = √( 1/(T−3) Σₜ ‖jₜ‖² )\n'
        'jₜ = (aₜ − aₜ₋₁) / ⅓(tₜ − tₜ₋₃)     aₜ = (vₜ − vₜ₋₁) / ½(tₜ − tₜ₋₂)\n'
        'vₜ = (pₜ − pₜ₋₁) / (tₜ − tₜ₋₁)\n'
        'at a constant dt: jₜ is the third difference of p over dt³',
    shows='RMS jerk: how shaky the motion of the end effector was over the episode. People take '
        'low jerk for skill, and gears wear less.',
    misleads=f'{RATES}up to about 20 m/s³ of jerk. {RATE}One jolt dominates a mean of squares. A '
        'low-pass filter lowers it: reports state the cut-off. Slow motion has little jerk. '
        f'{STATIC} {GAPS}',
    variants="`paper`: dt from the stamps, differences without smoothing. `authors`: the paper's "
        'code: three central-difference gradients with dt = 1, mean of the norms.',
)  # fmt: skip
