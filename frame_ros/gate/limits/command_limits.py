# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Limits of joint commands: range, rates, and distance from the measured position."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import SetupError, ValueRangeError
from frame_ros.gate.causes import Cause
from frame_ros.robots.profile import Rates
from frame_ros.robots.robot import Robot

Array = NDArray[np.float64]

JOINT, VELOCITY, ACCELERATION = Cause.JOINT_LIMIT, Cause.VELOCITY_LIMIT, Cause.ACCELERATION_LIMIT
STEP, WORKSPACE = Cause.STEP_LIMIT, Cause.WORKSPACE
UNKNOWN = Rates(acceleration=math.inf)


@dataclass(frozen=True)
class Excess:
    """A limit that a command exceeds.

    Attributes:
        cause: one of the constants of this module.
        joint: the joint, or the axis of the workspace, that exceeds most.
        value: the requested value.
        limit: the allowed value, in `unit` like the other.
        is_catching_up: the command itself keeps to all limits, but an earlier one did not, and the
            arm still lags behind.
    """

    cause: str
    joint: str = ''
    value: float = math.nan
    limit: float = math.nan
    unit: str = ''
    is_catching_up: bool = False

    @property
    def text(self) -> str:
        """The excess in words."""
        name = self.cause.replace('_', ' ')
        if self.is_catching_up:
            return f'{name} earlier: {self.joint} is {self.value:.4g} {self.unit} behind'
        return f'{name}: {self.joint} {self.value:.4g} {self.unit}, allowed {self.limit:.4g}'


@dataclass(frozen=True)
class JointLimits:
    """Limits of D joints, each array (D,).

    Raises:
        ValueRangeError: an array has another length, lower is not below upper, or another limit is
        not above 0.
    """

    names: tuple[str, ...]
    lower: Array  # rad or m
    upper: Array  # rad or m
    velocity: Array  # per s
    acceleration: Array  # per s^2
    step: Array  # largest distance of a command from the measured position
    tick: Array  # largest change from one command to the next; both rad or m, infinite for none
    units: tuple[str, ...]  # 'rad' or 'm' of each joint
    fastest: Array  # per s, what the joint itself can do, whatever it is limited to
    ends: Array  # (2, D) rad or m, its range, not narrowed

    def __post_init__(self) -> None:
        for name in ('lower', 'upper', 'velocity', 'acceleration', 'step', 'tick'):
            values = getattr(self, name)
            if values.shape != (len(self.names),) or np.isnan(values).any():
                raise ValueRangeError(f'{name} is {values}; it must have {len(self.names)} numbers')
            if name not in ('lower', 'upper') and not (values > 0.0).all():
                i = int(np.argmin(values))
                raise ValueRangeError(
                    f'{name} of {self.names[i]} is {values[i]:.4g}; it must be above 0'
                )
        if not (self.lower < self.upper).all():
            i = int(np.argmin(self.lower < self.upper))
            raise ValueRangeError(
                f'{self.names[i]} may be from {self.lower[i]:.4g} to {self.upper[i]:.4g} '
                f'{self.units[i]}; the lower limit must be below the upper'
            )
        if not np.isfinite(self.acceleration).all() or not np.isfinite(self.velocity).all():
            raise ValueRangeError('every joint needs a finite velocity and acceleration limit')

    @property
    def is_endless(self) -> NDArray[np.bool_]:
        """(D,) whether each joint turns without end: its range has none."""
        found: NDArray[np.bool_] = np.isinf(self.ends).all(axis=0) & (np.array(self.units) == 'rad')
        return found

    def at_most(self, other: JointLimits) -> JointLimits:
        """Returns these rates and distances where they are lower, and else those of `other`."""
        names = ('velocity', 'acceleration', 'step', 'tick')
        return replace(
            other, **{name: np.minimum(getattr(self, name), getattr(other, name)) for name in names}
        )


def known_rates(robot: Robot, names: Sequence[str]) -> tuple[list[float], list[float]]:
    """Returns the largest velocity (per s) and acceleration (per s^2) of joints, by the URDF and
    the rates of the robot's profile; infinite where they are not known.
    """
    # A URDF that was exported without them has 0, which stands for not known.
    of_urdf = {joint.name: joint.velocity or math.inf for joint in robot.description.joints}
    rates = [robot.profile.rates.get(name, UNKNOWN) for name in names]
    fastest = [min(of_urdf[name], rate.velocity) for name, rate in zip(names, rates, strict=True)]
    return fastest, [rate.acceleration for rate in rates]


def limits_of(
    robot: Robot,
    velocity: Sequence[float] = (0.0,),
    acceleration: Sequence[float] = (0.0,),
    velocity_scale: float = 1.0,
    acceleration_scale: float = 1.0,
    position_margin: float = 0.0,
    step: float = math.inf,
    tick: float = math.inf,
) -> JointLimits:
    """Returns the limits of every joint of a robot that can be commanded, the gripper's last.

    Args:
        velocity, acceleration: one value for all joints, or one per joint; 0: the known one of the
            robot (the URDF's velocity, the rates of its profile).
        velocity_scale, acceleration_scale: factors of these, above 0 to 1.
        position_margin: rad or m by which the position limits are narrowed on either side.
        step, tick: of the joints that move the tip; a gripper, which squeezes, has none.

    Raises:
        SetupError: a list has the wrong length, or the rates of a joint are unknown.
        ValueRangeError: a limit is out of its range.
    """
    joints = [j for j in robot.description.joints if j.is_moving and not j.mimic]
    names = tuple(joint.name for joint in joints)
    fastest, strongest = known_rates(robot, names)
    is_arm = np.array([n in robot.joint_names and n not in robot.grippers for n in names])
    speeds = _chosen('limits.velocity', velocity, fastest, names)
    ends = np.array([[joint.lower for joint in joints], [joint.upper for joint in joints]])
    for scale in (velocity_scale, acceleration_scale):
        if not 0.0 < scale <= 1.0:
            raise ValueRangeError(f'a scale is {scale}; it must be above 0 and at most 1')
    return JointLimits(
        names=names,
        lower=ends[0] + position_margin,
        upper=ends[1] - position_margin,
        velocity=velocity_scale * speeds,
        acceleration=acceleration_scale
        * _chosen('limits.acceleration', acceleration, strongest, names),
        step=np.where(is_arm, step, math.inf),
        tick=np.where(is_arm, tick, math.inf),
        units=tuple('m' if joint.kind == 'prismatic' else 'rad' for joint in joints),
        fastest=np.maximum(speeds, np.where(np.isfinite(fastest), fastest, 0.0)),
        ends=ends,
    )


def _chosen(
    what: str, given: Sequence[float], known: Sequence[float], names: Sequence[str]
) -> Array:
    if len(given) not in (1, len(names)):
        raise SetupError(
            f'{what} has {len(given)} values; it must have one for all joints, or {len(names)}: '
            f'{", ".join(names)}'
        )
    wanted = np.resize(np.asarray(given, dtype=np.float64), len(names))
    chosen: Array = np.where(wanted == 0.0, known, wanted)
    if not np.isfinite(chosen).all():
        unknown = [n for n, v in zip(names, chosen, strict=True) if not math.isfinite(v)]
        raise SetupError(
            f'nothing is known of the {what} of {", ".join(unknown)}; give them, by this parameter '
            "or as `rates` in the robot's profile"
        )
    return chosen
