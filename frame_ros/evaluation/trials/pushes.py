# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Pushes against the links of a simulated arm, drawn from a seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots import Robot
from frame_ros.scenes.simulation.simulation import PickPlaceSimulation

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Push:
    """A constant force (3,) N, base frame, at a point (3,) m of a link, from `begin` to `end`,
    s.
    """

    begin: float
    end: float
    link: str
    point: Array
    force: Array

    @property
    def strength(self) -> float:
        """N."""
        return float(np.linalg.norm(self.force))

    def apply(self, simulation: PickPlaceSimulation) -> None:
        """Begins to push."""
        body = simulation.data.body(self.link)
        place = body.xpos + body.xmat.reshape(3, 3) @ self.point
        simulation.apply_force(self.link, place, self.force)


@dataclass(frozen=True)
class PushStyle:
    """Ranges of pushes, each from and to.

    Attributes:
        strength: N.
        duration: s.
        rest: s after the previous push.
        links: that are pushed, equally often.
    """

    strength: tuple[float, float]  # N
    duration: tuple[float, float]
    rest: tuple[float, float]
    links: tuple[str, ...]  # that are pushed, equally often


def draw_pushes(
    rng: np.random.Generator, robot: Robot, style: PushStyle, begin: float, seconds: float
) -> list[Push]:
    """Returns random pushes in [begin, begin + seconds] on the links' collision shapes."""
    pushes = []
    time = begin + rng.uniform(*style.rest)
    while (end := time + rng.uniform(*style.duration)) < begin + seconds:
        link = str(rng.choice(np.array(style.links)))
        direction = rng.standard_normal(3)
        force = rng.uniform(*style.strength) * direction / np.linalg.norm(direction)
        pushes.append(Push(time, end, link, _point(rng, robot, link), force))
        time = end + rng.uniform(*style.rest)
    return pushes


def _point(rng: np.random.Generator, robot: Robot, link: str) -> Array:
    """(3,) m in the link's frame, within one of its shapes."""
    capsules: Sequence = robot.link_capsules[link]
    capsule = capsules[int(rng.integers(len(capsules)))]
    return np.asarray(capsule.start + rng.random() * (capsule.end - capsule.start))
