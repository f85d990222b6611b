# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""External joint torques from momentum: no accelerations, no contact sensor.

The generalised-momentum observer of De Luca and Mattone, "Actuator failure detection and isolation
using generalized momenta" (ICRA 2003), and De Luca, Albu-Schaeffer, Haddadin and Hirzinger (IROS
2006); its properties: Haddadin, De Luca and Albu-Schaeffer, "Robot collisions: a survey" (T-RO
2017), section III-C.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.time import SECOND
from frame_ros.robots.dynamics import RobotDynamics

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ObserverOptions:
    """gain: 1/s per joint, or one for all: the residual follows the external torque like a
    first-order filter of time constant 1/gain. max_gap: s between two samples from which the
    observer starts again. velocity_time: s, time constant of the filter of velocities that are
    differences of positions.

    Raises:
        ValueRangeError: a value that is not positive (velocity_time: negative).
    """

    gain: float | tuple[float, ...] = 25.0
    max_gap: float = 0.1
    velocity_time: float = 0.02

    def __post_init__(self) -> None:
        gains = np.atleast_1d(np.asarray(self.gain, np.float64))
        if not (np.isfinite(gains).all() and (gains > 0.0).all()):
            raise ValueRangeError(f'gain is {self.gain} 1/s; it must be positive')
        if not 0.0 < self.max_gap < math.inf or not 0.0 <= self.velocity_time < math.inf:
            raise ValueRangeError(
                f'max_gap is {self.max_gap} s and velocity_time {self.velocity_time} s; the first '
                'must be positive, the second not negative'
            )


class MomentumObserver:
    """The residual r, which follows the external joint torques:

        r = K (p - integral of (tau + C^T dq - g + r) dt),   p = M(q) dq

    tau: the part of the motors' torque that reaches the links.
    In discrete time, exactly for whatever is constant between two samples: with d the mean external
    torque since the last sample,
    (p_k - p_k-1)/dt - mean(tau + C^T dq - g), and a = exp(-K dt),

        r_k = a r_k-1 + (1 - a) d

    which is stable at any rate and needs no regular one: dt is from stamps. The mean is that of
    the two samples.

    Attributes:
        residual: (N,) N m, the newest; NaN before the second sample. velocity: (N,) rad/s, used
        last. interval: s, between the last two samples; NaN where there were none. unfiltered: (N,)
        N m, d of that interval; decay: (N,) a of it.
    """

    __slots__ = (
        'dynamics', 'settings', 'residual', 'velocity', 'interval', 'since', 'unfiltered', 'decay',
        '_gain', '_max_gap', '_stamp', '_position', '_momentum', '_drive', '_decay',
    )  # fmt: skip

    def __init__(self, dynamics: RobotDynamics, settings: ObserverOptions | None = None) -> None:
        """Raises ValueRangeError unless there is one gain for all joints, or one per joint."""
        self.dynamics, self.settings = dynamics, settings or ObserverOptions()
        count = len(dynamics.joint_names)
        gains = np.atleast_1d(np.asarray(self.settings.gain, np.float64))
        if gains.shape not in ((1,), (count,)):
            raise ValueRangeError(f'{gains.size} gains for {count} joints')
        self._gain = np.broadcast_to(gains, (count,))
        self._max_gap = round(self.settings.max_gap * SECOND)
        self.reset()

    def reset(self) -> None:
        """Forgets everything: the next sample is the first."""
        count = len(self.dynamics.joint_names)
        self.residual: Array = np.full(count, math.nan)
        self.velocity: Array = np.full(count, math.nan)
        self.interval = math.nan
        self.unfiltered: Array = np.full(count, math.nan)
        self.decay: Array = np.zeros(count)
        self.since: int | None = None  # stamp of the first sample since the last beginning, ns
        self._stamp: int | None = None
        self._position: Array = np.zeros(count)
        self._momentum: Array = np.zeros(count)
        self._drive: Array = np.zeros(count)
        self._decay: tuple[int, Array] = (0, np.zeros(count))

    def velocity_at(self, stamp: int, q: Array, dq: Array | None) -> Array | None:
        """Returns (N,) rad/s: those given, or filtered differences; None without either."""
        if dq is not None and math.isfinite(np.add.reduce(dq)):
            return dq
        if self._stamp is None or not 0 < stamp - self._stamp <= self._max_gap:
            return None
        interval = (stamp - self._stamp) / SECOND
        share = interval / (interval + self.settings.velocity_time)
        rate = (q - self._position) / interval
        before = self.velocity
        filtered: Array = np.where(np.isnan(before), rate, before + share * (rate - before))
        return filtered

    def update(self, stamp: int, q: Array, dq: Array | None, torque: Array) -> bool:
        """Takes one sample and returns whether `residual` is of it.

        A sample that is not later than the one before changes nothing; after a gap the observer
        starts again.

        Args:
            stamp: ns.
            q: (N,) rad.
            dq: (N,) rad/s; None or not finite: differences of q.
            torque: (N,) N m that reach the links, without friction.
        """
        if self._stamp is not None and stamp <= self._stamp:
            return False
        velocity = self.velocity_at(stamp, q, dq)
        return self.advance(stamp, q, velocity, torque)

    def advance(self, stamp: int, q: Array, velocity: Array | None, torque: Array) -> bool:
        """Updates with the velocity of `velocity_at`, at a stamp later than the last."""
        gap = None if self._stamp is None else stamp - self._stamp
        if gap is None or gap > self._max_gap:
            self.reset()
            gap = None
        self._stamp, self._position = stamp, q
        if velocity is None:
            return False
        terms = self.dynamics.momentum_terms(q, velocity)
        drive = torque + terms.drift
        is_measured = gap is not None and self.since is not None
        if is_measured:
            self.interval = seconds = gap / SECOND  # type: ignore[operator]
            mean = terms.momentum - self._momentum
            mean /= seconds
            mean -= 0.5 * (drive + self._drive)
            self.decay = self._decay_of(gap or 0, seconds)
            residual = self.residual - mean
            residual *= self.decay
            residual += mean
            self.residual, self.unfiltered = residual, mean
        else:
            self.residual = np.zeros(len(q))
            self.since = stamp
        self.velocity, self._momentum, self._drive = velocity, terms.momentum, drive
        return is_measured

    def _decay_of(self, gap: int, seconds: float) -> Array:
        if gap != self._decay[0]:
            self._decay = (gap, np.exp(-self._gain * seconds))
        return self._decay[1]


def first_order(values: ArrayLike, intervals: ArrayLike, gain: float) -> Array:
    """Filters mean torques (T, ...) of intervals (T,) s as `MomentumObserver` does, from 0."""
    series = np.asarray(values, np.float64)
    filtered = np.empty_like(series)
    state = np.zeros(series.shape[1:])
    decays = np.exp(-gain * np.asarray(intervals, np.float64))
    for row, decay in enumerate(decays):
        state = decay * (state - series[row]) + series[row]
        filtered[row] = state
    return filtered
