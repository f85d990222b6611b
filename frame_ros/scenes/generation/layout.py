# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Where things stand at the start of a pick-and-place episode, drawn from a seed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from frame_ros.core.errors import ValueRangeError


@dataclass(frozen=True)
class Worktable:
    """The table of a robot, what stands on it, and where. In the robot's base frame, whose plane
    z = 0 is the table top; m, rad, kg.

    size, centre: of the table top, and its thickness. floor_depth: of the floor below the top.
    room: from the base to each wall. cube_size: edge of the cube to pick. bin_inner: inner length
    and width of the bin; bin_wall: thickness of its walls and floor. can: radius, half height;
    block: half edges. axis: x, y from where distances and azimuths are drawn. clearance: between
    the middles of two objects; bin_clearance: of an object and the bin.
    """

    size: tuple[float, float, float]
    centre: tuple[float, float]
    floor_depth: float
    room: float
    cube_size: float
    cube_mass: float
    bin_inner: float
    bin_height: float
    bin_wall: float
    can: tuple[float, float]
    can_mass: float
    block: tuple[float, float, float]
    block_mass: float
    axis: tuple[float, float]
    object_radii: tuple[float, float]
    object_azimuths: tuple[float, float]
    bin_radius: float
    bin_azimuth: float
    distractor_radii: tuple[float, float]
    distractor_azimuths: tuple[float, float]
    clearance: float
    bin_clearance: float


SO101_TABLE = Worktable(
    size=(0.74, 0.9, 0.04),
    centre=(0.22, 0.0),
    floor_depth=0.42,
    room=1.8,
    cube_size=0.03,
    cube_mass=0.025,
    bin_inner=0.095,
    bin_height=0.04,
    bin_wall=0.004,
    can=(0.017, 0.03),
    can_mass=0.09,
    block=(0.02, 0.0125, 0.0175),
    block_mass=0.05,
    axis=(0.0388353, 0.0),  # the vertical axis of shoulder_pan
    object_radii=(0.185, 0.265),
    object_azimuths=(-0.85, 0.05),
    bin_radius=0.235,
    bin_azimuth=0.82,
    distractor_radii=(0.2, 0.34),
    distractor_azimuths=(-1.1, 0.45),
    clearance=0.095,
    bin_clearance=0.13,
)
# The hand is 0.204 m wide and its lower side is 45 mm above the finger tips' middle: what stands
# higher must be further from the cube than half of that, whichever way the hand is turned.
FR3_TABLE = Worktable(
    size=(1.3, 1.5, 0.05),
    centre=(0.35, 0.0),
    floor_depth=0.75,
    room=2.4,
    cube_size=0.045,
    cube_mass=0.08,
    bin_inner=0.17,
    bin_height=0.06,
    bin_wall=0.006,
    can=(0.033, 0.055),
    can_mass=0.3,
    block=(0.04, 0.02, 0.03),
    block_mass=0.15,
    axis=(0.0, 0.0),
    object_radii=(0.40, 0.58),
    object_azimuths=(-0.75, 0.05),
    bin_radius=0.5,
    bin_azimuth=0.72,
    distractor_radii=(0.38, 0.68),
    distractor_azimuths=(-0.95, 0.35),
    clearance=0.17,
    bin_clearance=0.22,
)

# The SO-101's, by their own names.
CUBE_SIZE = SO101_TABLE.cube_size
BIN_INNER, BIN_HEIGHT, BIN_WALL = (
    SO101_TABLE.bin_inner,
    SO101_TABLE.bin_height,
    SO101_TABLE.bin_wall,
)
TABLE_SIZE, TABLE_CENTRE = SO101_TABLE.size, SO101_TABLE.centre
PAN_AXIS = SO101_TABLE.axis

# Name and linear RGB of the colours that objects come in.
COLOURS: dict[str, tuple[float, float, float]] = {
    'red': (0.82, 0.16, 0.14),
    'orange': (0.95, 0.50, 0.08),
    'green': (0.16, 0.58, 0.28),
    'blue': (0.14, 0.36, 0.78),
    'purple': (0.50, 0.24, 0.66),
}
_ATTEMPTS = 1000


@dataclass(frozen=True)
class Placement:
    """One thing on the table.

    position: m, its centre, in the robot's base frame. yaw: rad about the vertical.
    """

    name: str
    position: tuple[float, float, float]
    yaw: float
    colour: str = ''


@dataclass(frozen=True)
class SceneLayout:
    """The start of an episode: what to pick, where to put it, and what stands in the way."""

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
    bin_azimuth = table.bin_azimuth + rng.uniform(-0.08, 0.08)
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
