# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Disturbances of a wrist force-torque sensor and its stream on a real arm, as physics of its own.

None of it knows the detector: a cable, ripple of the gears, a weight that nobody announced, late
stamps, jitter, loss.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.robots.motion import rotation_of
from frame_ros.robots.robot import Robot
from frame_ros.scenes.simulation.noise.sensor_noise import WrenchNoiseOptions
from frame_ros.scenes.simulation.simulation import PickPlaceSimulation

Array = NDArray[np.float64]
Stamps = NDArray[np.int64]
PAYLOAD, LATER = 0.1, 30.0  # kg; s after which it is hung onto the hand


class OnArm(NamedTuple):
    """The arm that something disturbs.

    Attributes:
        robot, link: that carry the sensor.
        joint_names: columns of positions and velocities.
        arm: of these columns, without the fingers.
        period: s between two samples.
        per_block: samples of a block.
        seed: of what is drawn.
    """

    robot: Robot
    link: str
    joint_names: tuple[str, ...]
    arm: slice
    period: float
    per_block: int
    seed: int


# Returns (S, 6) N and N m on the tool of positions and velocities (S, N).
Disturbance = Callable[[Array, Array], Array]


def noise_of(fault: str) -> WrenchNoiseOptions:
    """The sensor's own noise, with the drift of the fault."""
    usual, factor = WrenchNoiseOptions(), fault_of(fault).drift
    if factor == 1.0:
        return usual
    force, torque = usual.drift
    return WrenchNoiseOptions(usual.noise, usual.bias, (factor * force, factor * torque))


@dataclass(frozen=True)
class CableOptions:
    """A cable from an overhead boom to the hand.

    Attributes:
        boom: (3,) m in the base frame.
        clamp: (3,) m in the axes of the sensor.
        weight: N of the part that the hand carries.
        tension: N that it pulls with at most, beyond `slack` m of length; stiffness: N/m.
        friction: N, of its strands on each other; it needs `reversal` m to turn round. Dahl, "A
            solid friction model" (1968), the usual form for stranded cables in bending.
    """

    boom: tuple[float, float, float] = (0.2, 0.35, 0.6)
    clamp: tuple[float, float, float] = (0.0, 0.06, 0.04)
    weight: float = 0.2
    tension: float = 1.0
    slack: float = 0.35
    stiffness: float = 4.0
    friction: float = 0.25
    reversal: float = 0.01


class Cable:
    """The wrench of a cable on the tool, in the axes of the sensor."""

    def __init__(self, robot: Robot, link: str, options: CableOptions | None = None) -> None:
        self._options = options or CableOptions()
        self._robot = Robot(robot.urdf, link, robot.profile)
        self.joint_names = self._robot.joint_names
        self._length: float | None = None
        self._rubbed = 0.0  # share of the friction, -1 to 1
        self._last: Array = np.zeros(6)

    def wrenches(self, q: Array) -> Array:
        """Returns (S, 6) N and N m of positions q (S, N), straight from the last block's end to
        this one's.
        """
        now = self._at(q[-1])
        share = np.arange(1, len(q) + 1)[:, None] / len(q)
        found: Array = self._last + share * (now - self._last)
        self._last = now
        return found

    def _at(self, q: Array) -> Array:
        options = self._options
        place, quaternion = self._robot.forward(q)
        rotation = rotation_of(quaternion)
        clamp = np.array(options.clamp)
        way = np.array(options.boom) - place - rotation @ clamp
        length = float(np.linalg.norm(way))
        moved = 0.0 if self._length is None else length - self._length
        self._length = length
        self._rubbed += moved / options.reversal * (1.0 - np.sign(moved) * self._rubbed)
        self._rubbed = float(np.clip(self._rubbed, -1.0, 1.0))
        stretch = options.stiffness * max(length - options.slack, 0.0) / options.tension
        pull = options.tension * (1.0 - np.exp(-stretch)) + options.friction * self._rubbed
        force = rotation.T @ (pull * way / length - np.array([0.0, 0.0, options.weight]))
        return np.concatenate((force, np.cross(clamp, force)))


class GearVibration:
    """Force ripple of strain-wave gears at the sensor: two and four cycles per turn of each wave
    generator (Tuttle and Seering, "A nonlinear model of a harmonic drive gear transmission", 1996),
    strongest where that meets the arm's resonance, as a real arm shakes its hand.
    """

    RATIO = 100.0  # turns of the wave generator per turn of the joint
    RESONANCE, DAMPING = 18.0, 0.15  # Hz and share of the critical one
    FORCE, LEVER = 0.4, 0.1  # N of one joint's ripple at 1 rad/s off resonance; m

    def __init__(self, joints: int, period: float, seed: int) -> None:
        """period: s between two samples."""
        rng = np.random.default_rng((seed, 0x77))
        drawn = rng.standard_normal((joints, 3))
        self._directions = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
        self._axes = rng.standard_normal((joints, 3))
        self._phases = rng.uniform(0.0, 2.0 * np.pi, joints)
        self._period = period

    def wrenches(self, velocities: Array) -> Array:
        """Returns (S, 6) of joint velocities (S, N), rad/s."""
        turned = np.cumsum(velocities, axis=0) * self._period * self.RATIO
        phases = self._phases + turned
        self._phases = phases[-1]
        found = np.zeros((len(velocities), 6))
        for cycles, share in ((2.0, 1.0), (4.0, 0.3)):
            rate = np.abs(velocities) * self.RATIO * cycles / (2.0 * np.pi * self.RESONANCE)
            # Of a mass on a spring that is shaken by its base.
            grown = 1.0 / np.hypot(1.0 - rate**2, 2.0 * self.DAMPING * rate)
            size = share * self.FORCE * np.minimum(np.abs(velocities), 1.0) * np.minimum(grown, 4.0)
            waves = size * np.cos(cycles * phases)
            found[:, :3] += waves @ self._directions
            found[:, 3:] += self.LEVER * 0.5 * waves @ self._axes
        return found


def pull_of_cable(on: OnArm) -> Disturbance:
    """Returns the disturbance by a cable, straight from block to block."""
    cable = Cable(on.robot, on.link)
    columns = [on.joint_names.index(name) for name in cable.joint_names]

    def pull(positions: Array, _: Array) -> Array:
        starts = range(0, len(positions), on.per_block)
        blocks = (positions[first : first + on.per_block, columns] for first in starts)
        return np.concatenate([cable.wrenches(block) for block in blocks])

    return pull


def ripple_of_gears(on: OnArm) -> Disturbance:
    """Returns the disturbance by the gears of the arm."""
    gears = GearVibration(on.arm.stop, on.period, on.seed)
    return lambda _, velocities: gears.wrenches(velocities[:, on.arm])


@dataclass(frozen=True)
class WrenchFault:
    """All that distinguishes a fault: of what acts on the tool, of the sensor, and of its stream.

    Attributes:
        disturbances: make what acts on the tool besides its weight; (): nothing does.
        hung_after: s after which a weight is hung onto the hand, which changes the arm's motion;
            None: none is.
        drift: factor of the sensor's drift.
        offset: s by which its stamps are after the samples.
        jitter: s, standard deviation of the delay before stamping.
        loss: share of the samples.
        is_hard: it is one of the hard set, for which the bars are.
    """

    disturbances: tuple[Callable[[OnArm], Disturbance], ...] = ()
    hung_after: float | None = None
    drift: float = 1.0
    offset: float = 0.0
    jitter: float = 0.0
    loss: float = 0.0
    is_hard: bool = True


NO_FAULT = WrenchFault(is_hard=False)
ALL_AT_ONCE = 'all at once'  # of those that do not change the motion
FAULTS = {
    'none': NO_FAULT,
    'cable 1 N': WrenchFault((pull_of_cable,)),
    'vibration': WrenchFault((ripple_of_gears,)),
    'stamps 20 ms late': WrenchFault(offset=0.02),
    'stamps 20 ms early': WrenchFault(offset=-0.02),
    'stamps 50 ms late': WrenchFault(offset=0.05, is_hard=False),
    '100 g unannounced': WrenchFault(hung_after=0.0),
    '100 g later': WrenchFault(hung_after=LATER),
    'jitter 5 ms': WrenchFault(jitter=0.005),
    'loss 20 %': WrenchFault(loss=0.2, is_hard=False),
    'drift times ten': WrenchFault(drift=10.0),
    ALL_AT_ONCE: WrenchFault(
        (pull_of_cable, ripple_of_gears),
        drift=10.0,
        offset=0.02,
        jitter=0.005,
        loss=0.2,
        is_hard=False,
    ),
}
HARD = tuple(name for name, fault in FAULTS.items() if fault.is_hard)
WEIGHTS = tuple(name for name, fault in FAULTS.items() if fault.hung_after is not None)


def fault_of(name: str) -> WrenchFault:
    """Returns the fault of this name; of any other, such as a push alone, none."""
    return FAULTS.get(name, NO_FAULT)


class Transport:
    """The stamps of a stream, and what of it arrives."""

    def __init__(self, fault: str, seed: int) -> None:
        self._fault = fault_of(fault)
        self._rng = np.random.default_rng((seed, 0x78))
        self._last = 0

    def of(self, stamps: Stamps) -> tuple[Stamps, NDArray[np.bool_]]:
        """Returns the stamps (S,) as sent, and which samples come.

        Jitter: stamped when read, a random time after it was measured, in order.
        """
        found = stamps + round(self._fault.offset * SECOND)
        if jitter := self._fault.jitter:
            # Gamma of shape 1.
            found = found + (self._rng.exponential(jitter, len(stamps)) * SECOND).astype(np.int64)
            for row, stamp in enumerate(found.tolist()):
                self._last = max(stamp, self._last + 1000)
                found[row] = self._last
        comes = self._rng.random(len(stamps)) >= self._fault.loss
        return found, comes


def hang_weight(simulation: PickPlaceSimulation, mass: float = PAYLOAD) -> None:
    """Makes the finger heavier, by kg: something hangs on the hand that nobody announced."""
    finger = simulation.robot.finger_links[0]
    simulation.model.body(finger).mass[0] += mass
