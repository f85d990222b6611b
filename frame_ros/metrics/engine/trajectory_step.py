# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The fused per-step metrics of the live path: one object for the trajectory, one for the actions.

Attributes bear the field names of QualityMetrics.msg and hold what the batch formulas give for the
samples so far (`frame_ros.metrics.families`). Both run at every control step of a
live robot, hence plain floats, local names, no array, no object per metric. All running sums are of
terms that are not negative, so after n samples they are good to n * 1.1e-16 relative. A value that
its samples do not yet allow is NaN.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import asin, sqrt

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.core.time import NANOSECOND
from frame_ros.metrics.constants import NAN, SHORT_SEGMENT, STATIC_THRESHOLD, WINDOW
from frame_ros.metrics.engine.samples import gap_nanoseconds, normalisation_ranges

_Vector = tuple[float, float, float]


class TrajectoryStep:
    """Path length, smoothness, curvature change, RMS jerk and TCP instabilities over control steps.

    Values, NaN until their samples suffice: `pl` (m), `ps` (1), `cc` (1/m, from orientations),
    `ti` (m/s^3); `tcp_pi`, `tcp_vi`, `tcp_ai` (m, mean over the window of the last 8 samples), each
    with `_step` (this step) and `_mean` (all steps); `tcp_speed` (m/s), `tcp_acceleration` (m/s^2),
    `tcp_jerk` (m/s^3) of this step. `is_static`: the TCP has stayed within `static_threshold` (m)
    of its first position. `short_segments`: skipped in `cc`. `samples`: updates since `reset`.
    `gaps`: how often differences began again since.

    Sources: FRAME eq. 6-8; VLA-UQ eq. 17, 19, 21, 25.
    """

    __slots__ = (
        'pl', 'ps', 'cc', 'ti', 'tcp_pi', 'tcp_vi', 'tcp_ai', 'tcp_pi_step', 'tcp_vi_step',
        'tcp_ai_step', 'tcp_pi_mean', 'tcp_vi_mean', 'tcp_ai_mean', 'tcp_speed',
        'tcp_acceleration', 'tcp_jerk', 'is_static', 'short_segments', 'samples',
        'gaps', 'static_threshold', '_gap', '_run', '_stamp', '_dt', '_span', '_position',
        '_orientation', '_first', '_length', '_curvature', '_difference', '_second', '_velocity',
        '_acceleration', '_total', '_sum2', '_sum3', '_squares', '_turns', '_count1', '_count2',
        '_count3', '_turn_count',
        '_window1', '_window2', '_window3',
    )  # fmt: skip

    # Of the newest sample, or of the newest segment; bound by the first update, before any is read.
    _stamp: int
    _position: _Vector
    _orientation: tuple[float, float, float, float]
    _first: _Vector
    _length: float
    _dt: float
    _span: float
    _difference: _Vector
    _second: _Vector
    _velocity: _Vector
    _acceleration: _Vector

    def __init__(
        self, static_threshold: float = STATIC_THRESHOLD, gap: float | None = None
    ) -> None:
        """`static_threshold`, m. `gap`, s: a longer step resets the differences by itself; None:
        only `reset_differences` does.

        Raises:
            ValueRangeError: static_threshold is negative, or gap is not positive.
        """
        if not static_threshold >= 0.0:
            raise ValueRangeError(
                f'static_threshold is {static_threshold} m; a distance of 0 m or more is expected'
            )
        self.static_threshold = static_threshold
        self._gap = gap_nanoseconds(gap)
        self._window1: deque[float] = deque(maxlen=WINDOW - 1)
        self._window2: deque[float] = deque(maxlen=WINDOW - 2)
        self._window3: deque[float] = deque(maxlen=WINDOW - 3)
        self.reset()

    def reset(self) -> None:
        """Forgets everything: the next sample is the first of an episode."""
        self.pl = self.ps = self.cc = self.ti = NAN
        self.tcp_pi_mean = self.tcp_vi_mean = self.tcp_ai_mean = NAN
        self.is_static = True
        self.short_segments = self.samples = 0
        self._total = self._sum2 = self._sum3 = self._squares = self._turns = 0.0
        self._count1 = self._count2 = self._count3 = self._turn_count = 0
        self.gaps = 0
        self._begin()

    def reset_differences(self) -> None:
        """After a gap: the next sample is differenced with none before it, and starts a new window.

        What has been summed so far stays.
        """
        self.gaps += self._run > 0
        self._begin()

    def _begin(self) -> None:
        self._run = 0
        self._curvature = NAN
        self._window1.clear()
        self._window2.clear()
        self._window3.clear()
        self.tcp_pi = self.tcp_vi = self.tcp_ai = NAN
        self.tcp_pi_step = self.tcp_vi_step = self.tcp_ai_step = NAN
        self.tcp_speed = self.tcp_acceleration = self.tcp_jerk = NAN

    def update(
        self, stamp: int, x: float, y: float, z: float, qx: float, qy: float, qz: float, qw: float
    ) -> None:
        """Takes the pose of one step: stamp in ns, position in m, orientation xyzw of any length.

        Raises:
            ValueRangeError: a value is not finite, the quaternion is zero, or the stamp is not
                after the last one. Nothing has changed then.
        """
        norm = sqrt(qx * qx + qy * qy + qz * qz + qw * qw)
        total = x + y + z + norm
        if not (norm > 0.0 and total - total == 0.0):  # false for NaN and infinity too
            pose = (x, y, z, qx, qy, qz, qw)
            raise ValueRangeError(f'pose {pose} is not finite, or its quaternion is zero')
        run = self._run
        if run:
            step = stamp - self._stamp
            if not step > 0:
                raise ValueRangeError(
                    f'stamp {stamp} ns is not after the last one, {self._stamp} ns'
                )
            if step > self._gap:
                self.reset_differences()
                run = 0
        if run:
            px, py, pz = self._position
            self._add_segment(run, step * NANOSECOND, x - px, y - py, z - pz)
            self._add_curvature(qx / norm, qy / norm, qz / norm, qw / norm)
        else:
            self._orientation = (qx / norm, qy / norm, qz / norm, qw / norm)
            if not self.samples:
                self._first = (x, y, z)
        if self.is_static:
            fx, fy, fz = self._first
            moved = sqrt((x - fx) * (x - fx) + (y - fy) * (y - fy) + (z - fz) * (z - fz))
            self.is_static = moved < self.static_threshold
        self._stamp = stamp
        self._position = (x, y, z)
        self._run = run + 1
        self.samples += 1

    def _add_segment(self, run: int, dt: float, dx: float, dy: float, dz: float) -> None:
        """Adds the first difference, and the higher ones that `run` samples before it allow."""
        self._length = length = sqrt(dx * dx + dy * dy + dz * dz)
        self._total = self.pl = total = self._total + length
        self._count1 += 1
        window = self._window1
        window.append(length)
        self.tcp_pi_step = length
        self.tcp_pi = sum(window) / len(window)
        self.tcp_pi_mean = total / self._count1
        velocity = (dx / dt, dy / dt, dz / dt)
        self.tcp_speed = length / dt
        if run > 1:
            self._add_second(run, dt, dx, dy, dz, velocity)
        if self._count2 and total > 0.0:
            self.ps = self._sum2 / total
        self._dt = dt
        self._difference = (dx, dy, dz)
        self._velocity = velocity

    def _add_second(
        self, run: int, dt: float, dx: float, dy: float, dz: float, velocity: _Vector
    ) -> None:
        """Adds the second difference, and the third if `run` allows."""
        px, py, pz = self._difference
        ex = dx - px
        ey = dy - py
        ez = dz - pz
        size = sqrt(ex * ex + ey * ey + ez * ez)
        self._sum2 += size
        self._count2 += 1
        window = self._window2
        window.append(size)
        self.tcp_vi_step = size
        self.tcp_vi = sum(window) / len(window)
        self.tcp_vi_mean = self._sum2 / self._count2
        span = self._dt + dt
        vx, vy, vz = velocity
        ux, uy, uz = self._velocity
        half = 0.5 * span
        ax = (vx - ux) / half
        ay = (vy - uy) / half
        az = (vz - uz) / half
        self.tcp_acceleration = sqrt(ax * ax + ay * ay + az * az)
        if run > 2:
            px, py, pz = self._second
            gx = ex - px
            gy = ey - py
            gz = ez - pz
            size = sqrt(gx * gx + gy * gy + gz * gz)
            self._sum3 += size
            self._count3 += 1
            window = self._window3
            window.append(size)
            self.tcp_ai_step = size
            self.tcp_ai = sum(window) / len(window)
            self.tcp_ai_mean = self._sum3 / self._count3
            ux, uy, uz = self._acceleration
            gx = ax - ux
            gy = ay - uy
            gz = az - uz
            third = (self._span + dt) / 3.0
            self.tcp_jerk = jerk = sqrt(gx * gx + gy * gy + gz * gz) / third
            self._squares += jerk * jerk
            self.ti = sqrt(self._squares / self._count3)
        self._span = span
        self._second = (ex, ey, ez)
        self._acceleration = (ax, ay, az)

    def _add_curvature(self, qx: float, qy: float, qz: float, qw: float) -> None:
        """Curvature of the newest segment, which ends in the unit quaternion given."""
        px, py, pz, pw = self._orientation
        self._orientation = (qx, qy, qz, qw)
        length = self._length
        if length < SHORT_SEGMENT:
            self.short_segments += 1
            return
        if px * qx + py * qy + pz * qz + pw * qw < 0.0:  # q and -q are one rotation
            px, py, pz, pw = -px, -py, -pz, -pw
        px -= qx
        py -= qy
        pz -= qz
        pw -= qw
        curvature = 4.0 * asin(0.5 * sqrt(px * px + py * py + pz * pz + pw * pw)) / length
        before = self._curvature
        if before == before:
            self._turns += abs(curvature - before)
            self._turn_count += 1
            self.cc = self._turns / self._turn_count
        self._curvature = curvature


class ActionStep:
    """Action instabilities over the executed actions of control steps.

    Values, NaN until their samples suffice: `a_pi`, `a_vi`, `a_ai` (mean over the window of the
    last 8 samples), each with `_step` (this step) and `_mean` (all steps). With `bounds` = (lower,
    upper), D values each, actions are normalised to [0, 1] by them; without, the values have the
    action's unit. `samples`: updates, `gaps`: fresh starts of differences, since `reset`.

    Source: VLA-UQ eq. 2, 4, 6.
    """

    __slots__ = (
        'a_pi', 'a_vi', 'a_ai', 'a_pi_step', 'a_vi_step', 'a_ai_step', 'a_pi_mean', 'a_vi_mean',
        'a_ai_mean', 'samples', 'gaps', 'dimension', '_ranges', '_run', '_action', '_firsts',
        '_seconds', '_sum1', '_sum2', '_sum3', '_count1', '_count2', '_count3',
        '_window1', '_window2', '_window3',
    )  # fmt: skip

    _action: Sequence[float]

    def __init__(
        self, dimension: int, bounds: tuple[Sequence[float], Sequence[float]] | None = None
    ) -> None:
        """Raises ShapeError, ValueRangeError: bounds that are not D finite pairs, lower < upper."""
        if dimension < 1:
            raise ShapeError(f'dimension is {dimension}; an action has at least one value')
        self.dimension = dimension
        self._ranges = [1.0] * dimension
        if bounds is not None:
            self._ranges = normalisation_ranges(bounds, dimension)
        self._window1: deque[float] = deque(maxlen=WINDOW - 1)
        self._window2: deque[float] = deque(maxlen=WINDOW - 2)
        self._window3: deque[float] = deque(maxlen=WINDOW - 3)
        self.reset()

    def reset(self) -> None:
        """Forgets everything: the next sample is the first of an episode."""
        self.a_pi_mean = self.a_vi_mean = self.a_ai_mean = NAN
        self.samples = 0
        self._sum1 = self._sum2 = self._sum3 = 0.0
        self._count1 = self._count2 = self._count3 = 0
        self.gaps = 0
        self._begin()

    def reset_differences(self) -> None:
        """After a gap: the next sample is differenced with none before it, and starts a new window.

        What has been summed so far stays.
        """
        self.gaps += self._run > 0
        self._begin()

    def _begin(self) -> None:
        self._run = 0
        self._action = self._firsts = self._seconds = [0.0] * self.dimension
        self._window1.clear()
        self._window2.clear()
        self._window3.clear()
        self.a_pi = self.a_vi = self.a_ai = NAN
        self.a_pi_step = self.a_vi_step = self.a_ai_step = NAN

    def update(self, values: Sequence[float]) -> None:
        """Takes the executed action of one step: D plain floats, kept, so they must not change.

        Raises:
            ShapeError: not D values.
            ValueRangeError: a value is not finite. Nothing has changed in either case.
        """
        if len(values) != self.dimension:
            raise ShapeError(f'action has {len(values)} values; {self.dimension} are expected')
        firsts: list[float] = []
        seconds: list[float] = []
        size1 = size2 = size3 = 0.0
        # Differences with a sample that is not there are computed too, and then not used.
        for value, before, width, first_before, second_before in zip(
            values, self._action, self._ranges, self._firsts, self._seconds
        ):
            first = (value - before) / width
            second = first - first_before
            third = second - second_before
            size1 += first if first > 0.0 else -first
            size2 += second if second > 0.0 else -second
            size3 += third if third > 0.0 else -third
            firsts.append(first)
            seconds.append(second)
        if size1 - size1 != 0.0:  # true for NaN and infinity
            raise ValueRangeError(f'action {list(values)} is not finite')
        run = self._run
        if run > 0:
            self._add(run, size1, size2, size3)
        self._action = values
        self._firsts = firsts
        self._seconds = seconds
        self._run = run + 1
        self.samples += 1

    def _add(self, run: int, size1: float, size2: float, size3: float) -> None:
        """Adds the sums of absolute differences that `run` samples before this one allow."""
        dimension = self.dimension
        self.a_pi_step = size1 = size1 / dimension
        self._sum1 += size1
        self._count1 += 1
        window = self._window1
        window.append(size1)
        self.a_pi = sum(window) / len(window)
        self.a_pi_mean = self._sum1 / self._count1
        if run > 1:
            self.a_vi_step = size2 = size2 / dimension
            self._sum2 += size2
            self._count2 += 1
            window = self._window2
            window.append(size2)
            self.a_vi = sum(window) / len(window)
            self.a_vi_mean = self._sum2 / self._count2
        if run > 2:
            self.a_ai_step = size3 = size3 / dimension
            self._sum3 += size3
            self._count3 += 1
            window = self._window3
            window.append(size3)
            self.a_ai = sum(window) / len(window)
            self.a_ai_mean = self._sum3 / self._count3
