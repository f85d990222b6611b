# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The current that STS3215 servos report for the torque that they bring: gear friction, the motors'
own constants, the motor's own current or that of the supply, noise and steps; seeded and causal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.scenes.simulation.gear_friction import GearFriction

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CurrentNoiseOptions:
    """STS3215 servos of 12 V.

    torque_constant: N m/A at the output (data sheet: 30 kg cm and 2.7 A at standstill). step: A of
    the register (Feetech's memory table). noise: A, RMS of white noise per reading, an assumption.

    The gear's friction at the output, which the ideal actuator lacks: coulomb N m and viscous
    N m s/rad, together the 0.18 A without a load at 4.7 rad/s (data sheet); load: share of the
    torque through the gear, as four stages of spur gears lose about a tenth; stribeck: how much
    more friction, as a share, there is near standstill, and stribeck_speed rad/s over which that
    ends (both assumptions). presliding: rad over which friction turns round when the direction
    does: it stays as it was at standstill (Dahl, A Solid Friction Model, 1968), within the gear's
    measured play of 0.9 degrees.

    spread, friction_spread: RMS of the motors' relative deviation, of the constant and of friction.
    effort_per_ampere: what `joint_states.effort` has, see docs/so101.md.
    stall_current: A at standstill with the bridge always on, of servos that report the supply's
    current with the sign of the drive, see `_supply_current`; 0: they report the motor's own.
    free_speed: rad/s at which the back EMF is the supply. `noise` is then of a reading relative to
    the root of the current, sqrt(A).
    """

    torque_constant: float = 1.09
    step: float = 0.0065
    noise: float = 0.01
    coulomb: float = 0.1
    viscous: float = 0.02
    load: float = 0.1
    stribeck: float = 0.3
    stribeck_speed: float = 0.1
    presliding: float = 0.008
    spread: float = 0.05
    friction_spread: float = 0.2
    effort_per_ampere: float = 1.0
    stall_current: float = 0.0
    free_speed: float = 5.0


# Of servos whose gears rub in the physics.
NO_FRICTION = CurrentNoiseOptions(coulomb=0.0, viscous=0.0, load=0.0, stribeck=0.0)


def options_of(gear: GearFriction | None) -> CurrentNoiseOptions | None:
    """Returns the options of servos with gears that rub in the physics; None without."""
    if gear is None:
        return None
    if gear.stall_current is None:
        return NO_FRICTION
    return replace(
        NO_FRICTION, torque_constant=gear.torque_constant, stall_current=gear.stall_current,
        free_speed=gear.free_speed or NO_FRICTION.free_speed,
        noise=gear.current_noise,
    )  # fmt: skip


class CurrentNoise:
    """Makes `joint_states.effort` of an SO-101 out of the ideal actuators' torques.

    Attributes:
        torque_constants: (D,) N m/A of these motors.
        friction_scales: (D,) their share of the settings' friction.
        bristles: (D,) N m of friction in the newest reading.
    """

    def __init__(
        self,
        settings: CurrentNoiseOptions | None = None,
        joints: int = 6,
        seed: int = 0,
    ) -> None:
        """Draws the motors.

        Raises:
            ValueRangeError: the seed is negative.
        """
        if seed < 0:
            raise ValueRangeError(f'noise needs a seed of 0 or more, not {seed}')
        self._rng = np.random.default_rng((seed, 0xF3))
        self._settings = settings = settings or CurrentNoiseOptions()
        self._joints = joints
        spread = np.clip(self._rng.standard_normal((2, joints)), -2.5, 2.5)
        self.torque_constants: Array = settings.torque_constant * (1 + settings.spread * spread[0])
        self.friction_scales: Array = 1 + settings.friction_spread * spread[1]
        self._direction: Array = np.zeros(joints)
        self._position: Array | None = None
        self.bristles: Array = np.zeros(joints)

    def __call__(self, torques: ArrayLike, positions: ArrayLike, velocities: ArrayLike) -> Array:
        """Returns the servos' report, A times `effort_per_ampere`.

        Each argument is (D,), or (N, D) one after the other.

        Args:
            torques: N m, of the ideal actuators (`joint_state().efforts`).
            positions: rad.
            velocities: rad/s.

        Raises:
            ShapeError: these do not fit.
        """
        arrays = [np.asarray(a, np.float64) for a in (torques, positions, velocities)]
        shape = arrays[0].shape
        if {a.shape for a in arrays} != {shape} or shape[-1:] != (self._joints,) or len(shape) > 2:
            raise ShapeError(
                f'torques, positions, velocities of {[a.shape for a in arrays]}: needed are '
                f'({self._joints},) or (N, {self._joints}) of each'
            )
        torque, position, velocity = (a.reshape(-1, self._joints) for a in arrays)
        settings = self._settings
        current = (torque + self._friction(torque, position, velocity)) / self.torque_constants
        noise = settings.noise * self._rng.standard_normal(current.shape)
        current = self._supply_current(current, velocity, noise) if settings.stall_current else (
            current + noise
        )  # fmt: skip
        steps = np.rint(current / settings.step)
        return (steps * settings.step * settings.effort_per_ampere).reshape(shape)

    def _supply_current(self, current: Array, velocity: Array, noise: Array) -> Array:
        """Returns (N, D) A of the supply, of motors' currents I, A, and rad/s of the joints.

        The bridge is on for a share d of the time and draws d I then: with the current at
        standstill s and the speed without load w0, I = s (d - dq / w0), so d = I / s + dq / w0. The
        register has its size, at least 0, and here the sign of d.
        """
        settings = self._settings
        duty = current / settings.stall_current + velocity / settings.free_speed
        drawn = np.maximum(duty.clip(-1.0, 1.0) * current, 0.0)
        found: Array = np.sign(duty) * np.maximum(drawn + noise * np.sqrt(drawn), 0.0)
        return found

    def _friction(self, torque: Array, position: Array, velocity: Array) -> Array:
        """Returns (N, D) N m of friction that the motors must add to the torques."""
        settings = self._settings
        directions = np.empty_like(position)
        last = self._position
        for row, now in enumerate(position):
            moved = 0.0 if last is None else (now - last) / settings.presliding
            self._direction = np.clip(self._direction + moved, -1.0, 1.0)
            directions[row], last = self._direction, now
        self._position = last
        found: Array = directions * self.limit(velocity, torque)
        self.bristles = found[-1] if len(found) else self.bristles
        return found + self.friction_scales * settings.viscous * velocity

    def limit(self, velocity: Array, torque: Array) -> Array:
        """Returns (..., D) N m of dry friction at most, at rad/s and N m of the actuators."""
        settings = self._settings
        near_rest = np.exp(-((velocity / settings.stribeck_speed) ** 2))
        dry = (settings.coulomb + settings.load * np.abs(torque)) * (
            1.0 + settings.stribeck * near_rest
        )
        found: Array = self.friction_scales * dry
        return found
