# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Varied motion of the simulated arm that touches nothing, drawn from a seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.engine import load_mujoco
from frame_ros.core.errors import ValueRangeError
from frame_ros.gate.limits.command_limits import limits_of
from frame_ros.robots import load_robot
from frame_ros.scenes.simulation.simulation import PickPlaceSimulation

Array = NDArray[np.float64]
_ATTEMPTS = 500
_WIDEST_SWAY = 0.3  # rad or m
_LOOKS = 25  # postures of a motion that are tried
# Of a minimum-jerk profile (Flash and Hogan 1985): largest velocity and acceleration, in lengths
# per duration and per duration squared.
_PEAK_VELOCITY, _PEAK_ACCELERATION = 1.875, 10.0 / 3.0**0.5


@dataclass(frozen=True)
class MotionStyle:
    """The style of the arm's motion.

    Attributes:
        reach: share of each joint's range around home that is used.
        speed: shares of the joints' velocity limits that the fastest joint of a motion reaches,
            from and to.
        pause: s of rest between motions, from and to.
        sway: share of the motions that are sums of sines around a posture, like those of a
            hesitating policy.
        clearance: m that the links keep from anything but each other on the way.
    """

    reach: float = 0.45
    speed: tuple[float, float] = (0.08, 0.6)
    pause: tuple[float, float] = (0.0, 1.0)
    sway: float = 0.3
    clearance: float = 0.03


class FreeMotion:
    """An endless sequence of commands for the arm's joints and gripper. Postures are drawn around
    home; a motion is kept if the links stay clear of objects and each other at 25 postures of it.
    It changes nothing in the simulation.
    """

    def __init__(
        self, simulation: PickPlaceSimulation, seed: int, rate: float, style: MotionStyle
    ) -> None:
        """Commands come at `rate` Hz.

        Raises:
            ValueRangeError: the rate is not positive.
        """
        if not rate > 0:
            raise ValueRangeError(f'commands at {rate} Hz; a positive rate is expected')
        self._style, self._rate = style, rate
        self._rng = np.random.default_rng(seed)
        robot = simulation.robot
        self._home = np.array(robot.home)
        lower, upper = simulation.lower, simulation.upper
        self._lower = self._home - style.reach * (self._home - lower)
        self._upper = self._home + style.reach * (upper - self._home)
        limits = limits_of(load_robot(robot.name))
        order = [limits.names.index(name) for name in robot.joint_names]
        self._velocity, self._acceleration = limits.velocity[order], limits.acceleration[order]
        self._rehearsal = _Rehearsal(simulation, style.clearance)

    def commands(self, start: Array | None = None) -> Iterator[Array]:
        """Yields targets (D,) rad (m) at the rate. start: (D,), where the arm is; None: home."""
        here = self._home.copy() if start is None else np.array(start, float)
        while True:
            rows = self._sway(here) if self._rng.random() < self._style.sway else self._move(here)
            yield from rows
            here = rows[-1]
            for _ in range(int(self._rate * self._rng.uniform(*self._style.pause))):
                yield here

    def _move(self, here: Array) -> Array:
        """Returns a minimum-jerk motion (N, D) to a new random posture."""
        for _ in range(_ATTEMPTS):
            goal = self._rng.uniform(self._lower, self._upper)
            rows = self._profile(here, goal)
            if self._rehearsal.is_clear(rows):
                return rows
        return self._profile(here, self._home)

    def _profile(self, here: Array, goal: Array) -> Array:
        share = self._rng.uniform(*self._style.speed)
        way = np.abs(goal - here)
        by_velocity = _PEAK_VELOCITY * float((way / self._velocity).max()) / share
        by_acceleration = float(np.sqrt((_PEAK_ACCELERATION * way / self._acceleration).max()))
        count = max(2, int(max(by_velocity, by_acceleration) * self._rate))
        s = np.linspace(0.0, 1.0, count)[:, None]
        return np.asarray(here + (goal - here) * s**3 * (10.0 - 15.0 * s + 6.0 * s**2))

    def _sway(self, here: Array) -> Array:
        """Returns (N, D) sines about this posture that begin and end at rest there."""
        count = int(self._rate * self._rng.uniform(3.0, 8.0))
        time = np.arange(count)[:, None] / self._rate
        window = np.sin(np.pi * np.linspace(0.0, 1.0, count))[:, None] ** 2
        for _ in range(_ATTEMPTS):
            frequency = self._rng.uniform(0.1, 0.8, len(here))
            speed = (
                self._velocity * self._rng.uniform(*self._style.speed) * self._rng.random(len(here))
            )
            amplitude = np.minimum(speed / (2.0 * np.pi * frequency), _WIDEST_SWAY)
            phase = self._rng.uniform(0.0, 2.0 * np.pi, len(here))
            waves = np.sin(2.0 * np.pi * frequency * time + phase)
            rows = np.clip(here + window * amplitude * waves, self._lower, self._upper)
            rows = here + window * (rows - here)
            if self._rehearsal.is_clear(rows):
                return np.asarray(rows)
        return np.repeat(here[None], count, axis=0)


class _Rehearsal:
    """Checks the arm's clearance in postures, on a twin of the scene."""

    def __init__(self, simulation: PickPlaceSimulation, clearance: float) -> None:
        self._mj = load_mujoco()
        self._twin = twin = PickPlaceSimulation(
            simulation.layout.seed, simulation.timestep, robot=simulation.robot.name,
            obstacles=simulation.obstacles,
        )  # fmt: skip
        self._clearance = clearance
        names = twin.joint_names
        self._qpos = [int(twin.model.joint(name).qposadr[0]) for name in names]
        mimics = load_robot(simulation.robot.name).mimics
        self._followers = [
            (int(twin.model.joint(name).qposadr[0]), names.index(leader), factor, offset)
            for name, (leader, factor, offset) in mimics.items()
            if leader in names
        ]

    def is_clear(self, rows: Array) -> bool:
        """Returns whether the links are clear at 25 of the postures (N, D)."""
        chosen = np.unique(np.linspace(0, len(rows) - 1, _LOOKS).astype(int))
        return all(self._is_clear_at(rows[index]) for index in chosen)

    def _is_clear_at(self, posture: Array) -> bool:
        twin = self._twin
        twin.data.qpos[self._qpos] = posture
        for address, leader, factor, offset in self._followers:
            twin.data.qpos[address] = factor * posture[leader] + offset
        self._mj.mj_forward(twin.model, twin.data)
        touches = [contact for contact in twin.contacts() if contact.link != contact.other]
        return not touches and twin.distance().distance >= self._clearance
