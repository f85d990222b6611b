# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A motion that identifies a robot's motors: periodic, within limits, above the table.

Finite Fourier series after Swevers, Ganseman, Tukel, de Schutter and van Brussel, "Optimal robot
excitation and identification" (IEEE Transactions on Robotics and Automation 13(5), 1997), here with
coefficients such that each period begins and ends at rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import RobotError, ValueRangeError
from frame_ros.core.plain_text import counted
from frame_ros.core.turns import nearest_turn
from frame_ros.gate.limits.command_limits import known_rates
from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.robots.shapes.clearance import ClearanceCheck, Clearances
from frame_ros.sensing.contact.identification_options import ExcitationOptions

Array = NDArray[np.float64]
CHECKED = 60  # postures of a period that are looked at
FINELY = 5  # times as many are, before a motion is chosen
STEP = 0.05  # rad or m between two postures looked at on a straight way
SHRINKING = (1.0, 0.75, 0.5, 0.35, 0.2)
SLOW = 0.25  # speed of the second pass: friction at low speed
POSES, POSE_PAUSE = 6, 1.0  # point-to-point motions behind the series, and s at rest after each
APART = 0.3  # rad between poses at which a sensor is read
COARSE = 15.0  # Hz of the steps of the last way round: policies may command no faster


@dataclass(frozen=True)
class FourierSeries:
    """A periodic motion of N joints with H harmonics."""

    centre: Array  # (N,) rad
    sines: Array  # (N, H) rad of the harmonics 1 to H
    cosines: Array  # (N, H) rad of the harmonics 1 to H
    period: float  # s

    def at(self, phase: Array) -> tuple[Array, Array, Array]:
        """Returns positions, velocities, accelerations (T, N) at phases (T,), 0 to 1."""
        rate = 2.0 * math.pi * np.arange(1, self.sines.shape[1] + 1)
        sine, cosine = np.sin(np.outer(phase, rate)), np.cos(np.outer(phase, rate))
        omega = rate / self.period
        q = self.centre + sine @ self.sines.T + cosine @ self.cosines.T
        dq = (cosine * omega) @ self.sines.T - (sine * omega) @ self.cosines.T
        ddq = -(sine * omega**2) @ self.sines.T - (cosine * omega**2) @ self.cosines.T
        return q, dq, ddq


class _Rates(NamedTuple):
    """The largest speed and acceleration of each joint in the motion, (N,)."""

    speed: Array
    acceleration: Array


@dataclass(frozen=True)
class Excitation:
    """A motion from the start to the start.

    Attributes:
        series: its periodic part.
        poses: (K, N) rad, visited one by one.
        condition: of the regressor of the worst joint, lower is better.
        rates: of each joint.
    """

    start: Array
    series: FourierSeries
    poses: Array
    condition: float
    settings: ExcitationOptions
    rates: _Rates

    def positions(self, rate: float, scale: float = 1.0) -> Array:
        """Returns (T, N) rad at `rate` Hz, at a speed scaled by `scale`, above 0 to 1.

        The motion goes to the series' start, through one period, one at a quarter of the speed,
        then from pose to pose with pauses and back to the start, twice: smoothly, and in steps,
        like a slow policy.

        Raises:
            ValueRangeError: the scale is out of its range, or the rate not positive.
        """
        if not 0.0 < scale <= 1.0 or not 0.0 < rate < math.inf:
            raise ValueRangeError(f'scale is {scale} and rate {rate} Hz; above 0, scale at most 1')
        return np.concatenate(list(self._parts(rate, scale)))

    def _parts(self, rate: float, scale: float) -> Iterator[Array]:
        begin = self.series.at(np.zeros(1))[0][0]
        yield _straight(self.start, begin, self.rates, rate, scale)
        for share in (1.0, SLOW):
            count = math.ceil(self.series.period / (scale * share) * rate)
            yield self.series.at(np.arange(1, count + 1) / count)[0]
        here = begin
        for held in (1, max(1, round(rate / COARSE))):
            for pose in (*self.poses, self.start):
                way = _straight(here, pose, self.rates, rate, scale)
                steps = np.minimum(np.arange(len(way)) // held * held + held - 1, len(way) - 1)
                yield way[steps]
                yield np.repeat(pose[None], math.ceil(POSE_PAUSE * rate), axis=0)
                here = pose


def _straight(start: Array, end: Array, rates: _Rates, rate: float, scale: float) -> Array:
    """Returns a straight way in joint space with minimum jerk (Flash and Hogan 1985)."""
    distances = np.abs(end - start)
    # Its largest speed is 15/8 of the mean, its largest acceleration 10/sqrt(3) d/T^2.
    seconds = max(
        0.5,
        float((1.875 * distances / rates.speed).max(initial=0.0)),
        math.sqrt(float((5.774 * distances / rates.acceleration).max(initial=0.0))),
    )
    count = math.ceil(seconds / scale * rate)
    s = np.arange(1, count + 1)[:, None] / count
    return start + (10.0 * s**3 - 15.0 * s**4 + 6.0 * s**5) * (end - start)


def plan_excitation(
    dynamics: RobotDynamics,
    start: Array,
    settings: ExcitationOptions | None = None,
    report: Callable[[int, float], None] | None = None,
) -> Excitation:
    """Returns the best of random motions from a start posture, (N,) rad in the order of the
    dynamics.

    Args:
        report: called with the number of the candidate and the least condition so far.

    Raises:
        RobotError: the start is outside of the joints' limits, or no motion keeps clear.
    """
    settings = settings or ExcitationOptions()
    planner = _Planner(dynamics, np.asarray(start, np.float64), settings)
    best: tuple[float, FourierSeries] | None = None
    for number in range(settings.candidates):
        series = planner.candidate()
        if series is not None:
            condition = planner.condition(series)
            if (best is None or condition < best[0]) and planner.is_finely_clear(series):
                best = condition, series
        if report is not None:
            report(number + 1, math.inf if best is None else best[0])
    if best is None:
        raise RobotError(
            f'none of {settings.candidates} motions keeps {settings.clearance} m above the table '
            f'and {settings.self_clearance} m from itself on its way from here: move the arm up '
            'and into the open, or allow less'
        )
    condition, series = best
    return Excitation(
        planner.start, series, planner.poses(series), condition, settings, planner.rates
    )


@dataclass(frozen=True)
class PoseTour:
    """From the start through `poses`, (K, N) rad, and back."""

    start: Array
    poses: Array
    rates: _Rates

    def positions(self, rate: float, scale: float, pause: float) -> Array:
        """Returns (T, N) rad at `rate` Hz, `pause` s at each pose; scale: of the speed."""
        parts, here = [], self.start
        for pose in (*self.poses, self.start):
            parts.append(_straight(here, pose, self.rates, rate, scale))
            parts.append(np.repeat(pose[None], math.ceil(pause * rate), axis=0))
            here = pose
        return np.concatenate(parts)


def plan_poses(
    dynamics: RobotDynamics, start: Array, settings: ExcitationOptions, count: int
) -> PoseTour:
    """Returns distinct random postures, each reached from the one before on a clear straight line.

    Raises:
        RobotError: too few keep clear.
    """
    planner = _Planner(dynamics, np.asarray(start, np.float64), settings)
    chosen: list[Array] = []
    for _ in range(settings.candidates):
        series = planner.candidate()
        if series is not None and len(chosen) < count:
            chosen += list(planner.poses(series, count - len(chosen), [start, *chosen], APART))
    if len(chosen) < min(count, 4):
        raise RobotError(
            f'{counted(len(chosen), "posture")} found that keep clear of the table, of {count}: '
            'move the arm up and into the open, or allow less'
        )
    return PoseTour(planner.start, np.array(chosen), planner.rates)


def _phases(count: int) -> Array:
    """Returns (count,) from 0 to 1, the end left out."""
    return np.arange(count, dtype=np.float64) / count


class _Planner:
    def __init__(self, dynamics: RobotDynamics, start: Array, settings: ExcitationOptions):
        self._dynamics, self.start, self._settings = dynamics, start, settings
        self._random = np.random.default_rng(settings.seed)
        limits = np.array([dynamics.robot.joint_limits[n] for n in dynamics.joint_names])
        fastest, strongest = known_rates(dynamics.robot, dynamics.joint_names)
        self.rates = _Rates(
            np.minimum(fastest, settings.fastest), np.minimum(strongest, settings.acceleration)
        )
        # A slower arm takes longer: it goes as far.
        slower = settings.fastest / self.rates.speed.min()
        softer = math.sqrt(settings.acceleration / self.rates.acceleration.min())
        self._period = settings.period * max(slower, softer)
        if start.shape != limits.shape[:1] or not np.isfinite(start).all():
            raise RobotError(f'the start is {start}; needed is one position of each joint')
        # One that can go further than a turn is used over half a turn either way, of the turn that
        # it is in.
        is_wide = limits[:, 1] - limits[:, 0] > 2.0 * math.pi
        turns = start - nearest_turn(start, 0.0, is_wide)
        of_turn = np.stack((turns - math.pi, turns + math.pi), axis=1)
        within = np.clip(of_turn, limits[:, :1], limits[:, 1:])
        limits = np.where(is_wide[:, None], within, limits)
        middle, half = limits.mean(axis=1), 0.5 * (limits[:, 1] - limits[:, 0])
        self._lower = middle - settings.range_share * half
        self._upper = middle + settings.range_share * half
        outside = np.abs(start - middle) > half + 0.1
        if outside.any():
            rows = zip(dynamics.joint_names, start, limits, outside, strict=True)
            said = [f'{n} at {at:.2f}, {a:.2f} to {b:.2f}' for n, at, (a, b), far in rows if far]
            raise RobotError(f'the start is outside of the limits (rad): {"; ".join(said)}')
        self._lower, self._upper = np.minimum(self._lower, start), np.maximum(self._upper, start)
        check = ClearanceCheck(dynamics.robot, dynamics.joint_names, settings.floor)
        self._check = check
        here = check.at(start)
        self._least = Clearances(
            np.minimum(settings.clearance, here.floor - 1e-3),
            np.minimum(settings.self_clearance, here.selves - 1e-3),
        )

    def candidate(self) -> FourierSeries | None:
        """Returns a random series that keeps to all limits, as large as possible, if any."""
        settings, count = self._settings, len(self.start)
        sines = self._random.standard_normal((count, settings.harmonics))
        cosines = self._random.standard_normal((count, settings.harmonics))
        order = np.arange(1, settings.harmonics + 1)
        # Velocity and acceleration vanish at phase 0: sum of k a_k, and of k^2 b_k.
        sines -= np.outer(sines @ order / (order @ order), order)
        cosines -= np.outer(cosines @ order**2 / (order**2 @ order**2), order**2)
        unit = FourierSeries(np.zeros(count), sines, cosines, self._period)
        q, dq, ddq = unit.at(_phases(4 * CHECKED))
        low, high = q.min(axis=0), q.max(axis=0)
        size = np.minimum.reduce(
            (
                (self._upper - self._lower) / (high - low),
                self.rates.speed / np.abs(dq).max(axis=0),
                self.rates.acceleration / np.abs(ddq).max(axis=0),
            )
        )
        for share in SHRINKING:
            scale = share * size
            room = self._lower - scale * low, self._upper - scale * high
            centre = self._random.uniform(*room) if share < 1.0 else np.mean(room, axis=0)
            series = FourierSeries(
                centre, scale[:, None] * sines, scale[:, None] * cosines, self._period
            )
            if self._is_clear(series):
                return series
        return None

    def _is_clear(self, series: FourierSeries) -> bool:
        postures = series.at(_phases(CHECKED))[0]
        return all(map(self._keeps_clear, postures)) and self._is_way_clear(self.start, postures[0])

    def is_finely_clear(self, series: FourierSeries) -> bool:
        """Returns whether the series also keeps clear between the checked postures."""
        return all(map(self._keeps_clear, series.at(_phases(FINELY * CHECKED))[0]))

    def _is_way_clear(self, start: Array, end: Array) -> bool:
        count = 1 + math.ceil(float(np.abs(end - start).max(initial=0.0)) / STEP)
        return all(
            self._keeps_clear(start + share * (end - start))
            for share in np.linspace(0.0, 1.0, count + 1)
        )

    def _keeps_clear(self, q: Array) -> bool:
        found = self._check.at(q)
        return bool(
            (found.floor >= self._least.floor).all() and (found.selves >= self._least.selves).all()
        )

    def condition(self, series: FourierSeries) -> float:
        """Returns the condition of the worst joint's regressor (rigid-body torque, friction,
        offset, armature), scaled.
        """
        worst = 1.0
        q, dq, ddq = series.at(_phases(CHECKED))
        rigid = np.array(
            [self._dynamics.inverse_dynamics(*row) for row in zip(q, dq, ddq, strict=True)]
        )
        for joint in range(q.shape[1]):
            columns = [np.tanh(dq[:, joint] / 0.05), dq[:, joint], np.ones(len(q)), ddq[:, joint]]
            if rigid[:, joint].std() > 0.02:
                columns.append(rigid[:, joint])
            matrix = np.column_stack([column / np.linalg.norm(column) for column in columns])
            worst = max(worst, float(np.linalg.cond(matrix)))
        return worst

    def poses(
        self,
        series: FourierSeries,
        count: int = POSES,
        before: Sequence[Array] | None = None,
        apart: float = 0.0,
    ) -> Array:
        """Returns (K, N), up to `count` postures of the series that are connected by clear straight
        lines.

        Args:
            before: the posture before the first; None: the series' start.
            apart: rad of some joint between any two of them, and those before.
        """
        postures = series.at(_phases(CHECKED))[0]
        here = postures[0] if before is None else before[-1]
        chosen: list[Array] = []
        for row in self._random.permutation(CHECKED):
            if len(chosen) == count:
                break
            others = [*(before or ()), *chosen]
            if any(np.abs(each - postures[row]).max() < apart for each in others):
                continue
            ways = (self._is_way_clear(each, postures[row]) for each in (here, self.start))
            if all(ways):
                here = postures[row]
                chosen.append(here)
        return np.array(chosen).reshape(-1, len(self.start))
