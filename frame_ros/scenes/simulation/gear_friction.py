# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Dry friction of servo gears in the physics: joints that stick, break away and lose what loads
them; measured sets of the STS3215.

The law of the torques is that of the fits (Rhoban's BAM, model M6), with less of it in `sage`; how
it acts below its limit is elastic bristles that do not creep while they stick: Dupont, Hayward,
Armstrong and Altpeter, "Single state elastoplastic friction models" (IEEE Transactions on Automatic
Control 47(5), 2002). The contact detector fits neither.
"""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.errors import ValueRangeError
from frame_ros.robots.simulated import JointServo

Array = NDArray[np.float64]
STIFFNESS = 800.0  # N m/rad of a gear that sticks: it gives less than a step of the encoder
STUCK = 0.7  # share of that up to which all of it is elastic
BRISTLE_DAMPING = 4.0  # N m s/rad of what moves within it
SPREAD = 0.15  # RMS by which the motors of one arm differ, an assumption
SUPPLY = 12.1  # V, of the fits' test bench
DUTY_PER_RAD = 0.165  # of the supply per rad of error and unit of the gain, measured likewise
LEROBOT_GAIN = 16  # P_Coefficient that LeRobot's SO-101 writes; it writes 0 for I, so errors stay


@attrs.frozen(kw_only=True)
class GearFriction:
    """A servo and its gear, seen at the output.

    Friction opposes motion by `viscous` |dq| and by

        base + load |motor| + load_external |external|
            + exp(-(|dq| / speed)^power) (rest + load_at_rest |motor|)

    Attributes:
        base: N m.
        load: N m per N m of the motor.
        rest: N m more of it near rest.
        load_at_rest: N m per N m of the motor, likewise.
        speed: rad/s.
        power: of the decay.
        viscous: N m s/rad.
        torque_constant: N m/A; with `resistance` what a voltage does.
        resistance: ohm.
        armature: kg m^2.
        load_external: N m per N m of what the arm exerts on the gear: weight and pushes, without
            the links' inertia.
        duty_per_rad: of the supply per rad of error and unit of the gain.
        stall_current: A of the supply at standstill with the bridge always on, where its current
            is what the servo reports; None: it reports the motor's own.
        free_speed: rad/s at which the back EMF is the supply; None: that of `torque_constant`.
        current_noise: sqrt(A), RMS of a reported current of the supply relative to its root.
    """

    base: float
    rest: float
    load: float
    load_at_rest: float
    speed: float
    power: float
    viscous: float
    torque_constant: float
    resistance: float
    armature: float
    load_external: float = 0.0
    duty_per_rad: float = DUTY_PER_RAD
    stall_current: float | None = None
    free_speed: float | None = None
    current_noise: float = 0.0

    def servo(self, gain: float = LEROBOT_GAIN) -> JointServo:
        """The position control with a proportional gain alone, as LeRobot sets it."""
        per_volt = self.torque_constant / self.resistance
        free_speed = self.free_speed or SUPPLY / self.torque_constant
        return JointServo(
            stiffness=gain * self.duty_per_rad * SUPPLY * per_volt,
            damping=SUPPLY * per_volt / free_speed,
            torque=SUPPLY * per_volt,
            armature=self.armature,
            joint_damping=0.0,
            friction=0.0,
        )


# Fits of kscalelabs/sysid to pendulums on STS3215 servos of 12 V, feetech/sts3215-12v/params, m6.
# Their shares of the external torque and of its square are below 0.01 and left out.
ID004 = GearFriction(
    base=0.0, rest=0.084, load=0.289, load_at_rest=0.299, speed=0.0748, power=1.295,
    viscous=0.0762, torque_constant=3.556, resistance=7.121, armature=0.0283,
)  # fmt: skip
ID008 = GearFriction(
    base=0.0379, rest=0.0684, load=0.198, load_at_rest=0.0374, speed=0.6995, power=0.5,
    viscous=0.0627, torque_constant=2.5, resistance=4.499, armature=0.0264,
)  # fmt: skip
# The same numbers as N m in place of shares of the load, with the load's share of the fits m4: more
# friction than any of the fits has, above all of joints that bear little.
DRY004 = attrs.evolve(ID004, base=0.289, rest=0.299, load=0.048, load_at_rest=0.0)
DRY008 = attrs.evolve(ID008, base=0.198, rest=0.037, load=0.065, load_at_rest=0.0)
# A real SO-101 with LeRobot's gains, of 72 minutes that SAGE recorded: benchmarks/recorded_servo.py
# prints these numbers; resistance and torque constant are its stall current and torque at SUPPLY.
# Less this friction the stall torque is 2.9 N m, that of the data sheet.
SAGE = GearFriction(
    base=0.0641, rest=0.0897, load=0.0, load_at_rest=0.0, load_external=0.572, speed=0.1, power=1.0,
    viscous=0.161, torque_constant=4.645 / 2.866, resistance=SUPPLY / 2.866, armature=0.0354,
    duty_per_rad=2.692 / LEROBOT_GAIN, stall_current=2.866, free_speed=5.02, current_noise=0.04,
)  # fmt: skip
FRICTION_SETS = {'id004': ID004, 'id008': ID008, 'dry004': DRY004, 'dry008': DRY008, 'sage': SAGE}


def friction_set(name: str) -> GearFriction:
    """Returns a set by name.

    Raises:
        ValueRangeError: there is none.
    """
    if name not in FRICTION_SETS:
        raise ValueRangeError(f'friction is {name!r}; known: {", ".join(FRICTION_SETS)}')
    return FRICTION_SETS[name]


def friction_scales(joints: int, seed: int) -> Array:
    """Returns (N,) by which the dry friction of an arm's gears differs from that of the set."""
    drawn = np.random.default_rng((seed, 0x9E)).standard_normal(joints)
    scales: Array = 1.0 + SPREAD * np.clip(drawn, -2.0, 2.0)
    return scales


class StickSlip:
    """The friction of N gears over time, from which joints break away as they are loaded.

    Attributes:
        gear: of all joints, but for `scales`.
        torque: (N,) N m on the joints, of the last step.
        bristles: (N,) N m of it that the bristles hold: what is left to break away from.
    """

    def __init__(self, gear: GearFriction, scales: ArrayLike) -> None:
        """scales: (N,) of each joint's dry friction."""
        self.gear, self._scales = gear, np.asarray(scales, np.float64)
        self.reset()

    def reset(self) -> None:
        """Relaxes all bristles."""
        self._bent = np.zeros_like(self._scales)
        self.torque: Array = np.zeros_like(self._scales)
        self.bristles: Array = np.zeros_like(self._scales)
        self._external = np.zeros_like(self._scales)

    def limit(self, velocity: Array, motor: Array) -> Array:
        """Returns (N,) N m of dry friction at speeds (N,) rad/s and motor torques (N,) N m; at a
        speed of 0 what a joint at rest can hold. What the arm exerts on the gears is that of the
        last step.
        """
        gear, load = self.gear, np.abs(motor)
        near_rest = np.exp(-((np.abs(velocity) / gear.speed) ** gear.power))
        dry = gear.base + gear.load * load + near_rest * (gear.rest + gear.load_at_rest * load)
        dry = dry + gear.load_external * np.abs(self._external)
        result: Array = self._scales * np.maximum(dry, 1e-4)
        return result

    def step(
        self, velocity: Array, motor: Array, seconds: float, external: Array | None = None
    ) -> Array:
        """Returns (N,) N m on the joints for the next `seconds`, of speeds rad/s, motor torques N m
        and what the arm exerts on the gears, N m; None: nothing.
        """
        self._external = np.zeros_like(self._scales) if external is None else external
        limit = self.limit(velocity, motor)
        furthest = limit / STIFFNESS
        # Friction that falls as a joint breaks away lets its bristles spring back.
        bent = np.clip(self._bent, -furthest, furthest)
        share = np.abs(bent) / furthest
        slides = np.clip((share - STUCK) / (1.0 - STUCK), 0.0, 1.0)
        slides = slides * slides * (3.0 - 2.0 * slides) * (velocity * bent > 0.0)
        rate = velocity * (1.0 - slides * share)
        self._bent = np.clip(bent + rate * seconds, -furthest, furthest)
        self.bristles = STIFFNESS * self._bent
        within = np.clip(self.bristles + BRISTLE_DAMPING * rate, -limit, limit)
        self.torque = -within - self.gear.viscous * velocity
        return self.torque
