# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A causal low-pass filter of poses. Batch forms: `low_pass`, `low_pass_orientations`."""

from __future__ import annotations

from math import exp, pi, sqrt

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.time import NANOSECOND
from frame_ros.metrics.constants import NAN
from frame_ros.metrics.engine.samples import gap_nanoseconds
from frame_ros.metrics.filtering import stage_frequency

_Pose = tuple[float, float, float, float, float, float, float]


class PoseLowPass:
    """A causal low-pass of poses: `order` exponential stages in a row, exact for irregular steps.

    The quaternion is filtered component by component, each sample with the sign nearest to the one
    before it, and brought back to length 1: an approximation of a filter on the sphere. While the
    orientation turns less than 0.5 rad within 1 / (4 cutoff) s about an axis, the result is within
    0.003 rad of the filtered angle. `value`: the newest filtered pose, NaN before the first.
    `cutoff`: Hz, where the whole filter is at -3 dB. `gaps`: how often it began again.
    """

    __slots__ = (
        'cutoff', 'order', 'gaps', 'value', '_rate', '_gap', '_stages', '_stamp', '_orientation',
        '_sign',
    )  # fmt: skip

    _stamp: int
    _orientation: tuple[float, float, float, float]
    _sign: float

    def __init__(self, cutoff: float, order: int = 2, gap: float | None = None) -> None:
        """`gap`: a step longer than this (s) restarts the filter; None: none does.

        Raises:
            ValueRangeError: cutoff or gap is not positive, or order is not a whole number from 1.
        """
        self._rate = -2.0 * pi * stage_frequency(cutoff, order) * NANOSECOND
        self._gap = gap_nanoseconds(gap)
        self.cutoff = float(cutoff)
        self.order = order
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self.gaps = 0
        self._stages: list[_Pose] = []
        self.value: _Pose = (NAN,) * 7

    def reset_differences(self) -> None:
        """After a gap: the filter restarts at the next sample, which passes as it is."""
        if self._stages:
            self.gaps += 1
            self._stages = []

    def update(
        self, stamp: int, x: float, y: float, z: float, qx: float, qy: float, qz: float, qw: float
    ) -> _Pose:
        """Takes one pose: stamp in ns, position in m, orientation xyzw of any length; filters it.

        Returns:
            Position and unit quaternion. The first pose comes back as it is, its quaternion unit.

        Raises:
            ValueRangeError: a value is not finite, the quaternion is zero, or the stamp is not
                after the last one. Nothing has changed then.
        """
        size = sqrt(qx * qx + qy * qy + qz * qz + qw * qw)
        total = x + y + z + size
        if not (size > 0.0 and total - total == 0.0):  # false for NaN and infinity too
            pose = (x, y, z, qx, qy, qz, qw)
            raise ValueRangeError(f'pose {pose} is not finite, or its quaternion is zero')
        qx /= size
        qy /= size
        qz /= size
        qw /= size
        stages = self._stages
        sign = 1.0
        if stages:
            step = stamp - self._stamp
            if step <= 0:
                raise ValueRangeError(
                    f'stamp {stamp} ns is not after the last one, {self._stamp} ns'
                )
            if step > self._gap:
                self.reset_differences()
                stages = self._stages
            else:
                ax, ay, az, aw = self._orientation
                sign = self._sign
                if ax * qx + ay * qy + az * qz + aw * qw < 0.0:  # q and -q are one rotation
                    sign = -sign
        self._stamp = stamp
        self._orientation = (qx, qy, qz, qw)
        self._sign = sign
        if sign < 0.0:
            qx, qy, qz, qw = -qx, -qy, -qz, -qw
        if stages:
            return self._filter(1.0 - exp(self._rate * step), (x, y, z, qx, qy, qz, qw))
        self.value = pose = (x, y, z, qx, qy, qz, qw)
        self._stages = [pose] * self.order
        return pose

    def _filter(self, share: float, newest: _Pose) -> _Pose:
        """The newest pose through all stages, each of which goes this share of the way to it."""
        x, y, z, qx, qy, qz, qw = newest
        stages = self._stages
        for i, (sx, sy, sz, ax, ay, az, aw) in enumerate(stages):
            x = sx + share * (x - sx)
            y = sy + share * (y - sy)
            z = sz + share * (z - sz)
            qx = ax + share * (qx - ax)
            qy = ay + share * (qy - ay)
            qz = az + share * (qz - az)
            qw = aw + share * (qw - aw)
            stages[i] = (x, y, z, qx, qy, qz, qw)
        size = sqrt(qx * qx + qy * qy + qz * qz + qw * qw)
        if size == 0.0:  # opposite rotations that cancel out: the newest stands
            qx, qy, qz, qw = newest[3:]
            size = 1.0
        self.value = pose = (x, y, z, qx / size, qy / size, qz / size, qw / size)
        return pose
