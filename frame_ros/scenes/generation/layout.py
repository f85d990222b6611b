# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The objects at the start of a pick-and-place episode, drawn from a seed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from frame_ros.core.errors import ValueRangeError
from frame_ros.robots.simulated import Worktable
from frame_ros.scenes.simulation.scene_robot import SO101

SO101_TABLE = SO101.table
# Name and linear RGB of the colours that objects come in.
COLOURS: dict[str, tuple[float, float, float]] = {
    'red': (0.82, 0.16, 0.14),
    'orange': (0.95, 0.50, 0.08),
    'green': (0.16, 0.58, 0.28),
    'blue': (0.14, 0.36, 0.78),
    'purple': (0.50, 0.24, 0.66),
}
BIN_SWING = 0.08  # rad, the bin's azimuth either way
_ATTEMPTS = 1000


@dataclass(frozen=True)
class Placement:
    """One object on the table."""

    name: str
    position: tuple[float, float, float]  # m, its centre, in the robot's base frame
    yaw: float  # rad about the vertical
    colour: str = ''


@dataclass(frozen=True)
class SceneLayout:
    """The start of an episode: the object to pick, its destination, and the objects in the way."""

    seed: int
    target: Placement
    bin: Placement
    distractors: tuple[Placement, ...]


def draw_layout(seed: int, table: Worktable = SO101_TABLE) -> SceneLayout:
    """Draws a scene; the same seed gives the same scene.

    The cube and the distractors stand apart from each other and from the bin so far that the open
    gripper fits in between.

    Raises:
        ValueRangeError: the seed is negative.
    """
    if seed < 0:
        raise ValueRangeError(f'a scene is drawn from a seed of 0 or more, not {seed}')
    rng = np.random.default_rng(seed)
    bin_azimuth = table.bin_azimuth + rng.uniform(-BIN_SWING, BIN_SWING)
    bin_ = Placement('bin', (*_from_axis(table, table.bin_radius, bin_azimuth), 0.0), bin_azimuth)
    colours = [str(c) for c in rng.permutation(list(COLOURS))]
    x, y = _from_axis(table, rng.uniform(*table.object_radii), rng.uniform(*table.object_azimuths))
    target = Placement(
        'cube',
        (x, y, table.cube_size / 2),
        float(rng.uniform(-math.pi / 4, math.pi / 4)),
        colours[0],
    )
    placed = [target]
    for name, colour in zip(('can', 'block'), colours[1:], strict=False):
        placed.append(_place_distractor(rng, table, name, colour, placed, bin_))
    return SceneLayout(seed, target, bin_, tuple(placed[1:]))


def _place_distractor(
    rng: np.random.Generator,
    table: Worktable,
    name: str,
    colour: str,
    placed: list[Placement],
    bin_: Placement,
) -> Placement:
    half_height = table.can[1] if name == 'can' else table.block[2]
    for _ in range(_ATTEMPTS):
        xy = _from_axis(
            table, rng.uniform(*table.distractor_radii), rng.uniform(*table.distractor_azimuths)
        )
        is_free = all(math.dist(xy, p.position[:2]) > table.clearance for p in placed)
        if is_free and math.dist(xy, bin_.position[:2]) > table.bin_clearance:
            yaw = float(rng.uniform(-math.pi, math.pi))
            return Placement(name, (*xy, half_height), yaw, colour)
    raise AssertionError('the sampling area is larger than what is placed in it')


def _from_axis(table: Worktable, radius: float, azimuth: float) -> tuple[float, float]:
    return table.axis[0] + radius * math.cos(azimuth), table.axis[1] + radius * math.sin(azimuth)
