# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of a force-torque sensor, and the thresholds of contact."""

from __future__ import annotations

from math import inf, isfinite

from frame_ros.core.options import option, options, rule
from frame_ros.sensing.contact.threshold import end_share, time_of

Vector = tuple[float, float, float]
ORIGIN = (0.0, 0.0, 0.0)
# Share of a threshold that is meant for errors of the tool's inertia, and widens nothing.
ROOM = 0.1
# Share of a threshold up to which a change may be drift, a cable or noise, and from which a push.
AMBIGUOUS = 0.3


@options
class WrenchOptions:
    """Contact by a force-torque sensor.

    Attributes:
        tip: (3,) m, the tip in the sensor's axes, to which the external wrench is moved.
        weight_point: (3,) m, likewise, about where the weight of what is held or hangs on the hand
            acts before it was measured; None: at the tip.
    """

    is_force_on_tool: bool = option(
        True, "at rest the sensor reads the tool's weight pointing down; false: up"
    )
    cutoff: float = option(
        40.0,
        'cutoff frequency of the causal low-pass, whose delay is 0.225 / cutoff',
        unit='Hz',
        above=0.0,
    )
    gap: float = option(
        0.1, 'time between wrenches from which the filter restarts', unit='s', above=0.0
    )
    force_on: float = option(
        1.0, 'norm of the force from which it is a contact', unit='N', above=0.0, live=True
    )
    torque_on: float = option(
        0.2, 'norm of the torque about the sensor, likewise', unit='N m', above=0.0, live=True
    )
    force_axes_on: tuple[float, ...] = option(
        ORIGIN,
        'threshold of single axes of the sensor; 0: not asked',
        unit='N',
        at_least=0.0,
        lengths=(3,),
        live=True,
    )
    torque_axes_on: tuple[float, ...] = option(
        ORIGIN,
        'threshold of single axes, likewise',
        unit='N m',
        at_least=0.0,
        lengths=(3,),
        live=True,
    )
    hysteresis: float = end_share(0.6)
    on_time: float = time_of(0.002, 'a contact')
    off_time: float = time_of(0.02, 'its end')
    inertial_gain: float = option(
        0.2,
        "share of the tool's compensated inertial force and torque that may be wrong; "
        'widens the thresholds in motion',
        at_least=0.0,
        live=True,
    )
    motion_bandwidth: float = option(
        3.0,
        'rate at which accelerations change; those that are late by some delay are wrong by'
        ' 2 pi times both',
        unit='Hz',
        at_least=0.0,
        live=True,
    )
    unknown_acceleration: float = option(
        2.0,
        'acceleration of the tool that counts where its motion is not known; joint states '
        'below about 200 Hz, or without velocities, show it late: the thresholds are wider '
        'by tool mass times the part of this that may have come meanwhile',
        unit='m/s^2',
        at_least=0.0,
        live=True,
    )
    peak_time: float = option(
        0.1,
        'time constant with which a widening decays',
        unit='s',
        at_least=0.001,
        besides=(0.0,),
        live=True,
    )
    tare_window: float = option(0.5, 'time of rest that a tare takes', unit='s', above=0.0)
    steady_force: float = option(
        0.3, 'largest standard deviation of an axis in that time', unit='N', above=0.0
    )
    steady_torque: float = option(
        0.03, 'largest standard deviation of an axis, likewise', unit='N m', above=0.0
    )
    tare_force: float = option(
        1.0,
        'difference of a tare from the one before; more is taken for a contact',
        unit='N',
        above=0.0,
    )
    tare_torque: float = option(0.15, 'difference of a tare, likewise', unit='N m', above=0.0)
    expected_bias: tuple[float, ...] = option(
        (0.0,),
        '6 values (N, N m) that the sensor reads beyond the tool, as force on it, as a tare'
        ' reports them; one value: nothing is expected',
        lengths=(1, 6),
    )
    drift_time: float = option(
        60.0,
        'time constant with which the bias follows the sensor in free space',
        unit='s',
        above=0.0,
    )
    drift_force_rate: float = option(
        0.002, 'largest rate at which it does; 0: it does not', unit='N/s', at_least=0.0
    )
    drift_torque_rate: float = option(0.0002, 'largest rate, likewise', unit='N m/s', at_least=0.0)
    drift_below: float = option(
        0.5,
        'share of the threshold above which the sensor counts as near contact, so that '
        'nothing is tracked',
        above=0.0,
        at_most=1.0,
    )
    drift_guard: float = option(
        0.5, 'time after contact, gap or holding before tracking goes on', unit='s', at_least=0.0
    )
    cable_rate: float = option(
        5.0,
        'largest change of force per way of the hand that cables and hoses make (turning by 1 rad '
        'counts as 0.3 m): the bias follows it in motion; 0: it does not',
        unit='N/m',
        at_least=0.0,
    )
    cable_force: float = option(
        2.0, 'largest change of force that is taken for theirs in all', unit='N', at_least=0.0
    )
    still_share: float = option(
        0.4,
        'share of the thresholds from which it is a contact while the arm stands, where noise and '
        'drift as measured allow it; 1: the same as in motion',
        above=0.0,
        at_most=1.0,
        live=True,
    )
    vibration_most: float = option(
        2.0,
        'largest share of the thresholds by which vibration widens them in motion; from 1 on a '
        'warning says what it hides',
        at_least=0.0,
        live=True,
    )
    hung_payload: float = option(
        0.05,
        'smallest mass that hangs on the hand unannounced and is recognised by its weight as the '
        'hand turns; 0: none is looked for',
        unit='kg',
        at_least=0.0,
    )
    hung_payload_most: float = option(
        0.3,
        'largest mass that is taken for a weight on the hand; of more there is a warning, and it '
        'stays a contact',
        unit='kg',
        above=0.0,
    )
    largest_payload: float = option(
        3.0,
        'largest mass of an object in the gripper; 0: no weight is compensated',
        unit='kg',
        at_least=0.0,
    )
    payload_window: float = option(
        0.3, 'time for which its weight must be steady', unit='s', above=0.0
    )
    least_payload: float = option(0.02, 'smallest mass that is compensated', unit='kg', above=0.0)
    payload_settling: float = option(
        1.0,
        'time after the first weighing in which it may be weighed again',
        unit='s',
        at_least=0.0,
    )
    tip: Vector = ORIGIN
    weight_point: Vector | None = None

    @rule('tip', '3 finite coordinates')
    def _is_place(self) -> bool:
        return len(self.tip) == 3 and all(map(isfinite, self.tip))

    @property
    def point_of_weights(self) -> Vector:
        """`weight_point`, or the tip."""
        return self.tip if self.weight_point is None else self.weight_point

    @property
    def axes_on(self) -> tuple[float, ...]:
        """Thresholds of the single axes, N and N m; infinite: not asked."""
        return tuple(value or inf for value in (*self.force_axes_on, *self.torque_axes_on))

    @property
    def known_bias(self) -> tuple[float, ...] | None:
        """The bias that is expected, N and N m; None: nothing is."""
        return self.expected_bias if len(self.expected_bias) == 6 else None
