# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Things that a check of a camera might take for an offset of it: what is on the arm and not in its
description, joint states that are late or whose zeros are wrong, a camera that is knocked.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ValueRangeError
from frame_ros.evaluation.trials.worlds.depth_world import DepthWorld
from frame_ros.evaluation.trials.worlds.obstacles import BOX, CAPSULE, SPHERE, Obstacle

Array = NDArray[np.float64]
Triple = tuple[float, float, float]
# link, place in its frame and half edges (m) of boxes; of a capsule radius and half length.
Part = tuple[str, str, Triple, Triple]
NONE, HELD, CABLE, CLOTH, GRIPPER, TOUCHING, LATE, ZEROS, KNOCKED = (
    'none', 'held', 'cable', 'cloth', 'gripper', 'touching', 'late', 'zeros', 'knocked',
)  # fmt: skip
FAULTS = {
    NONE: 'none',
    HELD: 'an object that is held and not known of',
    CABLE: 'a cable of 16 mm along the arm',
    CLOTH: 'a cover around the forearm',
    GRIPPER: 'a gripper larger than its description',
    TOUCHING: 'two obstacles that touch the arm',
    LATE: 'joint states 30 ms late at up to 0.6 rad/s',
    ZEROS: 'zeros of two joints 1 degree off',
    KNOCKED: 'knocked by 10 mm and 1 degree after the third posture',
}
DELAY, SPEED = 0.03, 0.6  # s, rad/s
ZERO = float(np.radians(1.0))
KNOCK = 0.01, float(np.radians(1.0))  # m, rad
KNOCKED_AFTER = 3  # postures
PARTS: Mapping[str, Mapping[str, tuple[Part, ...]]] = {
    'fr3': {
        HELD: ((BOX, 'fr3_hand', (0.0, 0.0, 0.18), (0.04, 0.04, 0.08)),),
        GRIPPER: ((BOX, 'fr3_hand', (0.0, 0.0, 0.06), (0.045, 0.12, 0.075)),),
        CLOTH: ((BOX, 'fr3_link5', (0.0, 0.04, -0.1), (0.075, 0.075, 0.1)),),
        CABLE: (
            (CAPSULE, 'fr3_link5', (0.06, 0.04, -0.1), (0.008, 0.12, 0.0)),
            (CAPSULE, 'fr3_link4', (-0.02, 0.05, 0.0), (0.008, 0.12, 0.0)),
            (CAPSULE, 'fr3_hand', (0.06, 0.0, 0.1), (0.008, 0.12, 0.0)),
        ),
    },
    'so101': {
        HELD: ((BOX, 'gripper_link', (0.0, 0.0, -0.12), (0.025, 0.025, 0.05)),),
        GRIPPER: ((BOX, 'gripper_link', (0.0, 0.0, -0.036), (0.05, 0.05, 0.065)),),
        CLOTH: ((BOX, 'lower_arm_link', (-0.06, 0.0, 0.0), (0.03, 0.04, 0.05)),),
        CABLE: (
            (CAPSULE, 'lower_arm_link', (-0.04, 0.02, 0.0), (0.008, 0.05, 0.0)),
            (CAPSULE, 'upper_arm_link', (-0.04, 0.0, 0.0), (0.008, 0.05, 0.0)),
            (CAPSULE, 'gripper_link', (0.02, 0.02, -0.06), (0.008, 0.05, 0.0)),
        ),
    },
}  # fmt: skip


def checked_fault(name: str) -> str:
    """Returns the name.

    Raises:
        ValueRangeError: it is none of FAULTS.
    """
    if name not in FAULTS:
        raise ValueRangeError(f'no fault {name!r}; there are {", ".join(FAULTS)}')
    return name


def things_on(world: DepthWorld, fault: str, rng: np.random.Generator) -> list[Obstacle]:
    """Returns what a fault puts on the arm in the world's present pose; it moves with the arm, and
    nothing knows of it.
    """
    if fault == TOUCHING:
        return _touching(world, rng)
    rotations, translations = world.link_poses()
    things = []
    for kind, link, place, size in PARTS[world.robot.name].get(fault, ()):
        row = world.links.index(link)
        position = translations[row] + rotations[row] @ np.array(place)
        things.append(Obstacle(kind, size, position, rotations[row]))
    return things


def read_positions(positions: Array, fault: str, rng: np.random.Generator) -> Array:
    """Returns (J,) where joint states have an arm that is at positions (J,), the last of the
    gripper.
    """
    read = positions.copy()
    if fault == LATE:
        speeds = rng.uniform(-1.0, 1.0, len(positions) - 1)
        read[:-1] -= DELAY * SPEED * speeds / np.abs(speeds).max()
    elif fault == ZEROS:
        read[1:3] += (ZERO, -ZERO)
    return read


def _touching(world: DepthWorld, rng: np.random.Generator) -> list[Obstacle]:
    """Balls that touch the arm at random places."""
    things = []
    for _ in range(2):
        radius = float(rng.uniform(0.02, 0.06))
        ball = Obstacle(SPHERE, (radius,) * 3, world.surface_point(rng))
        away = rng.standard_normal(3)
        away /= np.linalg.norm(away)
        for _ in range(12):
            reading = world.nearest([ball])
            if 0.0 < reading.distance < 5e-4:
                break
            ball = ball.moved(-away * (reading.distance - 2e-4) if reading.distance > 0.0
                              else away * radius)  # fmt: skip
        things.append(ball)
    return things
