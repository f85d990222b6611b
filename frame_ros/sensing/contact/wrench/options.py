# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of a force-torque sensor, and the thresholds of contact."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import inf, isfinite

from frame_ros.core.errors import ValueRangeError

Vector = tuple[float, float, float]
_MAY_BE_ZERO = (
    'on_time', 'off_time', 'inertial_gain', 'motion_bandwidth', 'unknown_acceleration',
    'peak_time', 'drift_force_rate', 'drift_torque_rate', 'drift_guard', 'largest_payload',
    'payload_settling',
)  # fmt: skip
# Share of a threshold that is meant for errors of the tool's inertia, and widens nothing.
ROOM = 0.1
_SHARES = ('hysteresis', 'drift_below')


@dataclass(frozen=True)
class WrenchOptions:
    """Settings of WrenchContact.

    Convention. is_force_on_tool: whether the sensor reports what its surroundings do to the tool
    (at rest it then reads the tool's weight, pointing down); false: the reverse. tip: (3,) m, of
    the tip in the sensor's axes, to which the external wrench is moved.

    Filter. cutoff: Hz. gap: s between samples from which the filter starts again.

    Thresholds. force_on (N), torque_on (N m): of the norms at the sensor. force_axes_on,
    torque_axes_on: of single axes of the sensor; infinite: not asked. hysteresis: share of the
    threshold below which contact ends. on_time, off_time: s that it must last.

    What is not known of the motion widens the thresholds: inertial_gain: share of the compensated
    inertial force and torque that may be wrong; motion_bandwidth: Hz, how fast accelerations
    change, which makes accelerations that are late by some delay wrong by 2 pi times both;
    unknown_acceleration: m/s^2, counted where the tool moves, or may, and its accelerations are
    not known, and of which 2 pi times bandwidth and delay, at most all, may have come since the
    newest accelerations that are known: what joint states at 50 Hz cannot show; accelerations
    that scatter by more are not used; peak_time: s with which a widening decays.

    Tare. tare_window: s. steady_force (N), steady_torque (N m): largest standard deviation of an
    axis over the window. tare_force (N), tare_torque (N m): by how much the bias may differ from
    the one before, or from expected_bias (6 values, N and N m, as force on the tool; None: nothing
    is expected at the first tare, which then takes a steady push for bias).

    Drift. drift_time: s, time constant of the bias's tracking in free space. drift_force_rate
    (N/s), drift_torque_rate (N m/s): at most so fast does the bias move, so a contact that grows
    faster is not absorbed. drift_below: share of the threshold above which the sensor counts as
    near contact, and nothing is tracked; drift_guard: s after contact, gap or holding before
    tracking goes on.

    Payload. largest_payload: kg that an object held may weigh; 0: none is compensated.
    payload_window: s that its weight must be steady; least_payload: kg; payload_settling: s after
    the first weighing in which it may be weighed once more.

    Raises:
        ValueRangeError: a value that cannot be.
    """

    is_force_on_tool: bool = True
    tip: Vector = (0.0, 0.0, 0.0)
    cutoff: float = 40.0
    gap: float = 0.1
    force_on: float = 1.0
    torque_on: float = 0.2
    force_axes_on: Vector = (inf, inf, inf)
    torque_axes_on: Vector = (inf, inf, inf)
    hysteresis: float = 0.6
    on_time: float = 0.002
    off_time: float = 0.02
    inertial_gain: float = 0.2
    motion_bandwidth: float = 3.0
    unknown_acceleration: float = 2.0
    peak_time: float = 0.1
    tare_window: float = 0.5
    steady_force: float = 0.3
    steady_torque: float = 0.03
    tare_force: float = 1.0
    tare_torque: float = 0.15
    expected_bias: tuple[float, ...] | None = None
    drift_time: float = 60.0
    drift_force_rate: float = 0.002
    drift_torque_rate: float = 0.0002
    drift_below: float = 0.5
    drift_guard: float = 0.5
    largest_payload: float = 3.0
    payload_window: float = 0.3
    least_payload: float = 0.02
    payload_settling: float = 1.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, float | int) and not isinstance(value, bool):
                self._check(field.name, float(value))
        if 0 < self.peak_time < 0.001:
            raise ValueRangeError(f'peak_time is {self.peak_time} s; it is 0 or at least 0.001 s')
        self._check_vectors()

    def _check(self, name: str, value: float) -> None:
        if name in _SHARES and not 0 < value <= 1:
            raise ValueRangeError(f'{name} is {value}; it is a share, above 0 and at most 1')
        least = 'not negative' if name in _MAY_BE_ZERO else 'positive'
        if not isfinite(value) or value < 0 or (value == 0 and least == 'positive'):
            raise ValueRangeError(f'{name} is {value}; it must be {least} and finite')

    def _check_vectors(self) -> None:
        if len(self.tip) != 3 or not all(map(isfinite, self.tip)):
            raise ValueRangeError(f'tip is {self.tip}; 3 finite coordinates (m) are expected')
        for name in ('force_axes_on', 'torque_axes_on'):
            axes = getattr(self, name)
            if len(axes) != 3 or not all(value > 0 for value in axes):
                raise ValueRangeError(
                    f'{name} is {axes}; 3 positive thresholds are expected (infinite: not asked)'
                )
        bias = self.expected_bias
        if bias is not None and (len(bias) != 6 or not all(map(isfinite, bias))):
            raise ValueRangeError(f'expected_bias is {bias}; 6 finite values (N, N m) are expected')
