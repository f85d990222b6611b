# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Pushes that a motor can feel at all: those that exceed the friction of a joint's gear."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from frame_ros.evaluation.trials.arm_run import seconds_of
from frame_ros.scenes.simulation.noise.servo_noise import CurrentNoiseOptions

Array = NDArray[np.float64]
STANDING_SPEED = 0.02  # rad/s below which a joint stands
BEFORE = 5  # samples before a push in which an arm that stands has not moved
LEAST = 2  # samples in which a push must exceed friction, one after the other


def reading_resolution(settings: CurrentNoiseOptions | None = None) -> float:
    """N m that one reading of a motor's current resolves: three deviations of noise and steps."""
    settings = settings or CurrentNoiseOptions()
    return (
        3.0 * settings.torque_constant * math.hypot(settings.noise, settings.step / math.sqrt(12.0))
    )


def reading_resolutions(motor: Array, settings: CurrentNoiseOptions) -> Array:
    """Returns (N,) N m that readings resolve at (N,) N m of the motors. A supply's current goes
    with the square of a standing motor's torque, so small torques hardly change it.
    """
    if not settings.stall_current:
        return np.full_like(motor, reading_resolution(settings))
    full = settings.torque_constant * settings.stall_current  # N m
    current = settings.stall_current * (motor / full) ** 2
    deviation = np.sqrt(settings.noise**2 * current + settings.step**2 / 12.0)
    clear = full * np.sqrt((current + 3.0 * deviation) / settings.stall_current)
    found: Array = clear - np.abs(motor)
    return found


def exceeds(
    push: Array, held: Array, limit: Array, at_rest: Array, moves: NDArray[np.bool_],
    resolved: Array | None = None,
) -> NDArray[np.bool_]:  # fmt: skip
    """Returns (N,) whether a push exceeds a joint's friction by what a reading resolves.

    A joint that moves must have more torque from it than its friction; one that stands breaks away
    when the push and what the gear held before are together more than it can hold.

    Args:
        push: (N,) N m of the push.
        held: (N,) N m that each gear held before it.
        limit: (N,) N m of friction at the present speed and load.
        at_rest: (N,) N m that it could hold with that load.
        moves: (N,) whether the joint moves.
        resolved: (N,) N m of what a reading resolves; None: as without options.
    """
    if resolved is None:
        resolved = np.full_like(push, reading_resolution())
    found: NDArray[np.bool_] = np.where(
        moves, np.abs(push) > limit + resolved, np.abs(push + held) > at_rest + resolved
    )
    return found


class Gears(Protocol):
    """Gears of N joints whose friction is known.

    bristles: (N,) N m, which they hold or rub with now.
    """

    bristles: Array

    def limit(self, velocity: Array, torque: Array, /) -> Array:
        """Returns (N,) N m of friction at most, at rad/s and N m of the motors."""
        ...


class _Row(NamedTuple):
    time: float
    push: Array
    held: Array
    limit: Array
    at_rest: Array
    moves: NDArray[np.bool_]
    resolved: Array


class FrictionCeiling:
    """Collects the truth of every sample; `judged` says of each push whether it can be felt."""

    def __init__(self, settings: CurrentNoiseOptions | None = None) -> None:
        """settings: of the readings."""
        self._settings = settings or CurrentNoiseOptions()
        self._rows: list[_Row] = []

    def add(self, stamp: int, velocity: Array, motor: Array, push: Array, gears: Gears) -> None:
        """Takes a sample: velocities rad/s, motors' and pushes' torques N m, each (N,)."""
        limit, at_rest = gears.limit(velocity, motor), gears.limit(np.zeros_like(velocity), motor)
        moves: NDArray[np.bool_] = np.abs(velocity) > STANDING_SPEED
        held = gears.bristles.copy()
        resolved = reading_resolutions(motor, self._settings)
        self._rows.append(_Row(seconds_of(stamp), push, held, limit, at_rest, moves, resolved))

    def judged(self, truth: Sequence[tuple[float, float, float, str]]) -> list[tuple[bool, bool]]:
        """Returns of each push whether it can be felt, and whether the arm stood before it."""
        times = np.array([row.time for row in self._rows])
        return [self._judge(times, begin, end) for begin, end, *_ in truth]

    def _judge(self, times: Array, begin: float, end: float) -> tuple[bool, bool]:
        first = int(np.searchsorted(times, begin + 1e-6, side='right'))
        last = int(np.searchsorted(times, end + 1e-6, side='right'))
        before = self._rows[max(first - BEFORE, 0) : first]
        stands = not any(bool(row.moves.any()) for row in before)
        held = before[-1].held if before else np.zeros_like(self._rows[0].held)
        run: NDArray[np.int64] = np.zeros(len(held), np.int64)
        longest = 0
        for row in self._rows[first:last]:
            over = exceeds(row.push, held, row.limit, row.at_rest, row.moves, row.resolved)
            run = np.where(over, run + 1, 0)
            longest = max(longest, int(run.max()))
        return longest >= LEAST, stands
