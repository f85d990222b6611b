# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Where things stand at the start of a pick-and-place episode, drawn from a seed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from frame_ros.errors import ValueRangeError

CUBE_SIZE = 0.03  # m, edge of the cube to pick
BIN_INNER = 0.095  # m, inner length and width of the bin
BIN_HEIGHT = 0.04  # m, height of its walls above the table
BIN_WALL = 0.004  # m, thickness of walls and floor
TABLE_SIZE = (0.74, 0.9, 0.04)  # m; its top is the plane z = 0 of the robot's base
TABLE_CENTRE = (0.22, 0.0)  # m
PAN_AXIS = (0.0388353, 0.0)  # m, the vertical axis of shoulder_pan: distances are drawn from there

# Name and linear RGB of the colours that objects come in.
COLOURS: dict[str, tuple[float, float, float]] = {
    'red': (0.82, 0.16, 0.14),
    'orange': (0.95, 0.50, 0.08),
    'green': (0.16, 0.58, 0.28),
    'blue': (0.14, 0.36, 0.78),
    'purple': (0.50, 0.24, 0.66),
}
_DISTRACTOR_HALF_HEIGHTS = {'can': 0.03, 'block': 0.0175}  # m
_OBJECT_RADII, _OBJECT_AZIMUTHS = (0.185, 0.265), (-0.85, 0.05)  # m, rad
_BIN_RADIUS, _BIN_AZIMUTH = 0.235, 0.82  # m, rad
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


def draw_layout(seed: int) -> SceneLayout:
    """Draws a scene; the same seed gives the same scene.

    The cube and the distractors stand apart from each other and from the bin so far that the open
    gripper fits in between.

    Raises:
        ValueRangeError: the seed is negative.
    """
    if seed < 0:
        raise ValueRangeError(f'a scene is drawn from a seed of 0 or more, not {seed}')
    rng = np.random.default_rng(seed)
    bin_azimuth = _BIN_AZIMUTH + rng.uniform(-0.08, 0.08)
    bin_ = Placement('bin', (*_from_pan_axis(_BIN_RADIUS, bin_azimuth), 0.0), bin_azimuth)
    colours = [str(c) for c in rng.permutation(list(COLOURS))]
    x, y = _from_pan_axis(rng.uniform(*_OBJECT_RADII), rng.uniform(*_OBJECT_AZIMUTHS))
    target = Placement(
        'cube', (x, y, CUBE_SIZE / 2), float(rng.uniform(-math.pi / 4, math.pi / 4)), colours[0]
    )
    placed = [target]
    for name, colour in zip(_DISTRACTOR_HALF_HEIGHTS, colours[1:], strict=False):
        placed.append(_place_distractor(rng, name, colour, placed, bin_))
    return SceneLayout(seed, target, bin_, tuple(placed[1:]))


def _place_distractor(
    rng: np.random.Generator, name: str, colour: str, placed: list[Placement], bin_: Placement
) -> Placement:
    for _ in range(_ATTEMPTS):
        xy = _from_pan_axis(rng.uniform(0.2, 0.34), rng.uniform(-1.1, 0.45))
        is_free = all(math.dist(xy, p.position[:2]) > 0.095 for p in placed)
        if is_free and math.dist(xy, bin_.position[:2]) > 0.13:
            return Placement(
                name,
                (*xy, _DISTRACTOR_HALF_HEIGHTS[name]),
                float(rng.uniform(-math.pi, math.pi)),
                colour,
            )
    raise AssertionError('the sampling area is larger than what is placed in it')


def _from_pan_axis(radius: float, azimuth: float) -> tuple[float, float]:
    return PAN_AXIS[0] + radius * math.cos(azimuth), PAN_AXIS[1] + radius * math.sin(azimuth)
