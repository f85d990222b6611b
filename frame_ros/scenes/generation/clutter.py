# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Obstacles in addition to those of the task: standing and hanging, drawn from a seed."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ValueRangeError
from frame_ros.robots import load_robot
from frame_ros.scenes.generation.layout import COLOURS
from frame_ros.scenes.simulation.scene_robot import SO101, SceneRobot

Array = NDArray[np.float64]
Triple = tuple[float, float, float]
KINDS = ('box', 'cylinder', 'sphere')
MARGIN = 0.02  # m, between two obstacles, and to the robot at home
_ATTEMPTS = 2000
_GREYS = ((0.75, 0.74, 0.70), (0.45, 0.47, 0.50), (0.62, 0.52, 0.40), (0.12, 0.12, 0.13))


@dataclass(frozen=True)
class Obstacle:
    """An obstacle by its name; position (m) and yaw (rad) in the base frame.

    Attributes:
        size: a box's edges; a cylinder's radius and length (upright); a sphere's radius; m.
        colour: linear RGB.
    """

    name: str
    kind: str
    size: tuple[float, ...]
    position: Triple
    yaw: float = 0.0
    colour: Triple = (0.6, 0.6, 0.6)

    def __post_init__(self) -> None:
        """Raises ValueRangeError for an impossible shape."""
        count = {'box': 3, 'cylinder': 2, 'sphere': 1}.get(self.kind)
        if count is None:
            raise ValueRangeError(f'an obstacle is one of {", ".join(KINDS)}, not {self.kind!r}')
        if len(self.size) != count or not min(self.size) > 0:
            raise ValueRangeError(
                f'the {self.kind} {self.name!r} has the size {self.size}: needed are {count} '
                'positive lengths in m'
            )

    @property
    def half_sizes(self) -> tuple[float, float, float]:
        """As MuJoCo has them: a box's half edges; radius and half length; radius."""
        if self.kind == 'box':
            x, y, z = self.size
            return x / 2, y / 2, z / 2
        length = self.size[1] / 2 if self.kind == 'cylinder' else 0.0
        return self.size[0], length, 0.0

    @property
    def quaternion_wxyz(self) -> tuple[float, float, float, float]:
        """Of the yaw."""
        return math.cos(self.yaw / 2), 0.0, 0.0, math.sin(self.yaw / 2)

    @property
    def half_height(self) -> float:
        """m from its middle to its highest point."""
        return {'box': self.size[-1] / 2, 'cylinder': self.size[-1] / 2}.get(
            self.kind, self.size[0]
        )

    @property
    def radius(self) -> float:
        """m, of the sphere about its middle that holds it."""
        if self.kind == 'cylinder':
            return math.hypot(self.size[0], self.size[1] / 2)
        return math.hypot(*self.half_sizes)


def draw_clutter(seed: int, robot: SceneRobot = SO101, count: int = 6) -> tuple[Obstacle, ...]:
    """Draws obstacles near the robot's work space: boxes, cylinders, spheres, every third hanging.

    They are named clutter_0 and so on. Those that stand leave the part of the table free where
    cube, distractors and bin are drawn, whatever the scene's seed; all are clear of each other and
    of the robot at home. The same seed gives the same obstacles.

    Raises:
        ValueRangeError: seed or count is negative, or so many do not fit.
    """
    if seed < 0 or count < 0:
        raise ValueRangeError(f'clutter needs a seed and a count of 0 or more, not {seed}, {count}')
    rng = np.random.default_rng((seed, 0xC1))
    home = home_capsules(robot)
    placed: list[Obstacle] = []
    for index in range(count):
        for _ in range(_ATTEMPTS):
            found = _draw(rng, robot, f'clutter_{index}', is_hanging=index % 3 == 2)
            if found and _is_clear(found, placed, home):
                placed.append(found)
                break
        else:
            raise ValueRangeError(f'{count} obstacles do not fit about the {robot.name}')
    return tuple(placed)


def _shape(rng: np.random.Generator, name: str, scale: float) -> Obstacle:
    """A shape at the origin; scale: m, about ten times its thickness."""
    kind = KINDS[int(rng.integers(3))]
    colour = (*_GREYS, *COLOURS.values())[int(rng.integers(len(_GREYS) + len(COLOURS)))]
    if kind == 'box':
        size = tuple((scale * rng.uniform(0.08, 0.32, 3)).tolist())
    elif kind == 'cylinder':
        size = (scale * rng.uniform(0.03, 0.09), scale * rng.uniform(0.15, 0.6))
    else:
        size = (scale * rng.uniform(0.05, 0.13),)
    yaw = float(rng.uniform(-math.pi, math.pi))
    return Obstacle(name, kind, size, (0.0, 0.0, 0.0), yaw, colour)


def _draw(
    rng: np.random.Generator, robot: SceneRobot, name: str, is_hanging: bool
) -> Obstacle | None:
    """Returns an obstacle somewhere, if outside the task's part of the table and on it."""
    table = robot.table
    reach = table.distractor_radii[1]
    obstacle = _shape(rng, name, reach)
    radius, azimuth = reach * rng.uniform(0.55, 1.35), rng.uniform(-2.6, 2.6)
    x, y = _polar(robot, radius, azimuth)
    if is_hanging:
        z = obstacle.half_height + reach * rng.uniform(0.75, 1.2)
        return replace(obstacle, position=(x, y, z))
    spread = math.hypot(*obstacle.half_sizes[:2]) if obstacle.kind == 'box' else obstacle.size[0]
    margin = math.asin(min(1.0, (spread + 0.1 * reach) / radius))
    first, last = table.distractor_azimuths[0], table.bin_azimuth + 0.35
    is_beside = not first - margin < azimuth < last + margin
    is_behind = radius - spread > reach + 0.1 * reach
    offset = np.abs(np.array((x, y)) - table.centre) + spread
    if not (is_beside or is_behind) or (offset > np.array(table.size[:2]) / 2).any():
        return None
    return replace(obstacle, position=(x, y, obstacle.half_height + 1e-4))


def _polar(robot: SceneRobot, radius: float, azimuth: float) -> tuple[float, float]:
    axis = robot.table.axis
    return axis[0] + radius * math.cos(azimuth), axis[1] + radius * math.sin(azimuth)


def _is_clear(obstacle: Obstacle, placed: list[Obstacle], home: Array) -> bool:
    """Returns whether it is apart from the others and the robot, by bounding spheres."""
    for other in placed:
        if math.dist(obstacle.position, other.position) < obstacle.radius + other.radius + MARGIN:
            return False
    return distance_to_capsules(obstacle.position, home) > obstacle.radius + MARGIN


def distance_to_capsules(point: Triple, capsules: Array) -> float:
    """Returns the distance, m, of a point to the nearest of capsules (K, 7): start, end, radius."""
    starts, ends, radii = capsules[:, :3], capsules[:, 3:6], capsules[:, 6]
    along = ends - starts
    share = np.einsum('ij,ij->i', np.array(point) - starts, along)
    share = np.clip(share / np.maximum(np.einsum('ij,ij->i', along, along), 1e-12), 0.0, 1.0)
    gaps = np.linalg.norm(starts + share[:, None] * along - point, axis=1) - radii
    return float(gaps.min())


def home_capsules(robot: SceneRobot) -> Array:
    """Returns (K, 7) start, end, radius of the capsules of the robot at home, in the base frame."""
    from scipy.spatial.transform import Rotation

    model = load_robot(robot.name)
    local = model.link_poses(dict(zip(robot.joint_names, robot.home, strict=True)))
    placed: dict[str, tuple[Array, Array]] = {model.base_link: (np.zeros(3), np.eye(3))}

    def place(link: str) -> tuple[Array, Array]:
        """Translation and rotation of a link in the base frame."""
        if link not in placed:
            translation, rotation = place(str(model.parent_of(link)))
            offset, quaternion = local[link]
            turned = rotation @ Rotation.from_quat(quaternion).as_matrix()
            placed[link] = translation + rotation @ offset, turned
        return placed[link]

    rows = []
    for link, capsules in model.link_capsules.items():
        translation, rotation = place(link)
        for capsule in capsules:
            ends = [translation + rotation @ end for end in (capsule.start, capsule.end)]
            rows.append(np.concatenate((*ends, [capsule.radius])))
    return np.array(rows)
