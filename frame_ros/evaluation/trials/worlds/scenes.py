# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Seeded scenes of a depth world: a motion, and obstacles near it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import SetupError, ValueRangeError
from frame_ros.evaluation.trials.worlds.depth_world import DepthWorld
from frame_ros.evaluation.trials.worlds.drawn_world import DrawnWorld
from frame_ros.evaluation.trials.worlds.obstacles import BOX, CAPSULE, CYLINDER, SPHERE, Obstacle

Array = NDArray[np.float64]
AnyWorld = DepthWorld | DrawnWorld
EMPTY, CLUTTER, CABLE, HOLES, TRANSPARENT, NEAR, TOUCHING = (
    'empty', 'clutter', 'cable', 'holes', 'transparent', 'near', 'touching',
)  # fmt: skip
SCENES = (EMPTY, CLUTTER, CABLE, HOLES, TRANSPARENT, NEAR, TOUCHING)
STILL = (NEAR, TOUCHING)  # the arm stands, as it would pass through the obstacle
TRIES = 400
LEAST_DISTANCE = 0.01  # m, of clutter from any link in any frame
MOST_DISTANCE = 0.3  # m, of the nearest obstacle from the nearest link
CABLE_RADIUS = 0.0015  # m
HOLE_SHARE = 0.6
LOWEST = 0.01  # m above the table, of the arm's surface


@dataclass(frozen=True)
class DepthScene:
    """positions: (F, J) of the joints in each frame, rad or m. obstacles: that stand still."""

    positions: Array
    obstacles: tuple[Obstacle, ...]


def draw_scene(
    world: DepthWorld, kind: str, frames: int, seed: int, positions: Array | None = None
) -> DepthScene:
    """Draws a scene.

    Args:
        world: whose robot moves; it is left in any pose.
        kind: one of SCENES.
        frames: pictures, 0.1 s apart.
        seed: 0 or more.
        positions: (F, J) a motion of others; None: from one drawn posture to another.

    Raises:
        ValueRangeError: the kind is unknown.
        SetupError: no scene of that kind was found.
    """
    if kind not in SCENES:
        raise ValueRangeError(f'no scene {kind!r}; there are {", ".join(SCENES)}')
    rng = np.random.default_rng((seed, SCENES.index(kind), 0x5C))
    world.set_obstacles(())
    draw_front_camera(world, rng)
    path = positions
    for _ in range(20):
        if positions is None:
            path = _motion(world, rng, 1 if kind in STILL else frames)
        assert path is not None
        obstacles = _obstacles(world, kind, path, rng)
        if obstacles is not None:
            if positions is None and kind in STILL:
                path = np.repeat(path, frames, axis=0)
            return DepthScene(path, obstacles)
    raise SetupError(f'no scene {kind} of the seed {seed} was found in 20 motions')


def draw_front_camera(world: AnyWorld, rng: np.random.Generator) -> None:
    """Places the front camera on a part of a sphere before the robot."""
    robot = world.robot
    azimuth, elevation = rng.uniform(-1.2, 1.2), rng.uniform(0.2, 0.8)
    direction = np.array(
        [
            np.cos(elevation) * np.cos(azimuth),
            np.cos(elevation) * np.sin(azimuth),
            np.sin(elevation),
        ]
    )
    target = np.array(robot.front_target) + rng.uniform(-0.05, 0.05, 3)
    world.set_front_camera(target + rng.uniform(*robot.front_distance) * direction, target)


def draw_posture(world: AnyWorld, rng: np.random.Generator) -> Array:
    """Returns (J,) a posture in which the arm touches neither itself nor the table.

    Raises:
        SetupError: none was found.
    """
    limits, ready = world.limits, world.ready
    for _ in range(TRIES):
        posture = ready + rng.uniform(-1, 1, len(ready)) * world.robot.spread
        posture[-1] = rng.uniform(*limits[-1])  # the gripper
        posture = np.clip(posture, limits[:, 0] + 0.01, limits[:, 1] - 0.001)
        world.pose(posture)
        if world.is_possible(LOWEST):
            return np.asarray(posture)
    raise SetupError(f'no posture of {world.robot.name} is free of contact')


def clear_posture(world: AnyWorld, obstacles: Sequence[Obstacle], seed: int) -> Array:
    """Returns (J,) a posture as of `draw_posture`, clear of obstacles too, or as far from them as
    any that was found: one at the base is near in all. Raises alike.
    """
    rng = np.random.default_rng((seed, 0xC1))
    best, most = draw_posture(world, rng), -np.inf
    if not obstacles or isinstance(world, DrawnWorld):
        return best
    posture = best
    for _ in range(TRIES):
        distance = float(np.nanmin(world.distances(obstacles).distances[1:]))
        if distance > most:
            best, most = posture, distance
        if distance >= LEAST_DISTANCE:
            break
        posture = draw_posture(world, rng)
    return best


def empty_motion(world: AnyWorld, frames: int, seed: int) -> Array:
    """Places the front camera, and returns (F, J) a motion in an empty scene; see `draw_scene`."""
    rng = np.random.default_rng((seed, SCENES.index(EMPTY), 0x5C))
    draw_front_camera(world, rng)
    return _motion(world, rng, frames)


def _motion(world: AnyWorld, rng: np.random.Generator, frames: int) -> Array:
    """Returns (F, J) a smooth motion of 0.6 rad at most between two postures."""
    for _ in range(TRIES):
        start = draw_posture(world, rng)
        if frames == 1:
            return start[None]
        step = draw_posture(world, rng) - start
        step *= min(1.0, 0.06 * frames / np.abs(step[:-1]).max())
        share = np.linspace(0.0, 1.0, frames)[:, None]
        path = start + step * (3 * share**2 - 2 * share**3)
        if all(_is_possible(world, row) for row in path[:: max(1, frames // 4)]):
            return np.asarray(path)
    raise SetupError(f'no motion of {world.robot.name} is free of contact')


def _is_possible(world: AnyWorld, posture: Array) -> bool:
    world.pose(posture)
    return world.is_possible(LOWEST)


def _obstacles(
    world: DepthWorld, kind: str, path: Array, rng: np.random.Generator
) -> tuple[Obstacle, ...] | None:
    """Obstacles that fit a motion; None: none were found."""
    if kind == EMPTY:
        return ()
    for _ in range(30):
        world.pose(path[rng.integers(len(path))])
        if kind in STILL:
            least = (0.003, 0.01) if kind == NEAR else (0.0, 0.0005)
            found = [_placed(world, _primitive(rng, (SPHERE, BOX, CYLINDER)), least, rng)]
        elif kind == CLUTTER:
            count = int(rng.integers(1, 4))
            found = [_placed(world, _primitive(rng), (0.01, 0.28), rng) for _ in range(count)]
        elif kind == CABLE:
            cable = Obstacle(CAPSULE, (CABLE_RADIUS, rng.uniform(0.1, 0.3), 0.0), np.zeros(3))
            found = [_placed(world, _turned(cable, rng), (0.02, 0.15), rng)]
        else:
            ball = Obstacle(SPHERE, (rng.uniform(0.03, 0.06),) * 3, np.zeros(3))
            ball = replace(
                ball,
                holes=HOLE_SHARE if kind == HOLES else 0.0,
                is_transparent=kind == TRANSPARENT,
            )
            found = [_placed(world, ball, (0.02, 0.15), rng)]
        obstacles = [each for each in found if each is not None]
        if obstacles and _fits(world, obstacles, path, kind):
            return tuple(obstacles)
    return None


def _primitive(
    rng: np.random.Generator, kinds: Sequence[str] = (SPHERE, BOX, CYLINDER, CAPSULE)
) -> Obstacle:
    kind = str(rng.choice(kinds))
    first, second, third = (float(value) for value in rng.uniform(0.015, 0.07, 3))
    return _turned(Obstacle(kind, (first, second, third), np.zeros(3)), rng)


def _turned(obstacle: Obstacle, rng: np.random.Generator) -> Obstacle:
    return replace(obstacle, rotation=Rotation.random(random_state=rng).as_matrix())


def _placed(
    world: DepthWorld, obstacle: Obstacle, within: tuple[float, float], rng: np.random.Generator
) -> Obstacle | None:
    """Places an obstacle near a random place of a random link, so that its least distance from
    the robot lies within a range, m; None if that did not work out.
    """
    wanted = float(rng.uniform(*within))
    place = world.surface_point(rng)
    direction = rng.standard_normal(3)
    direction /= np.linalg.norm(direction)
    obstacle = obstacle.moved(place + direction * (obstacle.reach + wanted + 0.05))
    for _ in range(12):
        reading = world.nearest([obstacle])
        row = reading.nearest
        if row is None:
            return None
        if within[0] <= reading.distance <= within[1] and abs(reading.distance - wanted) < 1e-3:
            break
        away = reading.points_on_obstacle[row] - reading.points_on_robot[row]
        length = float(np.linalg.norm(away))
        if reading.distance <= 0 or length < 1e-6:
            away, length = direction, 1.0
        obstacle = obstacle.moved(away / length * (wanted - reading.distance))
    is_there = within[0] <= world.nearest([obstacle]).distance <= within[1]
    return obstacle if is_there and obstacle.position[2] - obstacle.reach > 0.02 else None


def _fits(world: DepthWorld, obstacles: Sequence[Obstacle], path: Array, kind: str) -> bool:
    """Returns whether the arm keeps clear of all obstacles and one is within reach of it."""
    for row in path[:: max(1, len(path) // 5)]:
        world.pose(row)
        reading = world.nearest(obstacles)
        if kind not in STILL and not LEAST_DISTANCE <= reading.distance <= MOST_DISTANCE:
            return False
    return True
