# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Goals that a Franka arm is sent, and how it followed them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from parts.bars import Bars
from parts.franka_sim.arm import Report

from frame_ros.robots import Robot, load_robot

Array = NDArray[np.float64]
LAGS = np.arange(0.0, 0.5, 0.002)  # s by which the arm may follow later
RADIUS = 0.08  # m, of a circle
EASING = 1.0  # s in which a path gets its speed
SETTLED = 1.5  # s after which a path is judged
# Joints 1 to 7, rad: a posture in which the arm reaches far, to either side.
FAR = ((-1.3, 0.9, 0.0, -0.9, 0.0, 1.8, 0.8), (1.3, 0.9, 0.0, -0.9, 0.0, 1.8, 0.8),
       (0.0, -0.6, 0.0, -2.3, 0.0, 1.8, 0.8))  # fmt: skip
# Where its links would be inside one another, by franka-sim's meshes.
FOLDED = (
    (-1.4, 1.7, 0.1, -2.9, 0.5, 2.7, 1.2),
    (1.3, 1.7, 0.9, -2.9, -1.5, 0.6, -0.8),
    (-0.4, 1.7, -1.7, -2.9, 0.5, 0.6, 1.3),
    (0.6, 1.5, -0.7, -2.9, -0.8, 0.7, -0.1),
)
ENDS = ((0, -1), (2, 1), (4, -1), (6, 1), (5, 1))  # joint, and which end of its range


class Path(NamedTuple):
    """at: s -> goal, (7,) joints in rad, or a pose in m and a quaternion xyzw. changes: s at which
    a goal stands for the next; none: it moves all the time. is_judged: of the joints, which are
    judged where they rest.
    """

    at: Callable[[float], Array]
    changes: Array
    is_judged: Callable[[float], NDArray[np.bool_]] = lambda _: np.ones(7, bool)


@dataclass(frozen=True)
class Row:
    """One kind of goals.

    Attributes:
        name: of the row. control, dynamics: of the driver.
        rate: Hz, of the goals; one that stands is sent again.
        path: from the joints where the arm stands, rad.
        median, largest: bars of how far it is off in the median and at the 99th percentile, in mm
            or mrad.
    """

    name: str
    control: str
    dynamics: float
    rate: float
    path: Callable[[Array], Path]
    median: float
    largest: float

    @property
    def is_pose(self) -> bool:
        """True if the goals are poses."""
        return self.control == 'cartesian_pose'

    @property
    def unit(self) -> str:
        """Of how far it is off."""
        return 'mm' if self.is_pose else 'mrad'


class Figures(NamedTuple):
    """How one run went.

    Attributes:
        seconds: that the arm followed.
        stops: why it stopped itself: name of the error, and the limit that was passed.
        lag: s.
        median, largest: how far it was off, in the unit of the row.
        lost, by_client, without_core: cycles lost, of these by the client, of these by the machine.
        cycles: in which it moved.
        behind: s that the arm fell behind the clock.
        speed: m/s of the end effector, the largest.
    """

    seconds: float
    stops: tuple[str, ...]
    lag: float
    median: float
    largest: float
    lost: int
    by_client: int
    without_core: int
    cycles: int
    behind: float
    speed: float


def eased(time: float) -> float:
    """s along a path at `time`, which begins at rest."""
    return time - EASING / 2 if time > EASING else time * time / (2 * EASING)


def circle(speed: float) -> Callable[[Array], Path]:
    """A circle of RADIUS in the vertical plane, at m/s."""

    def path(joints: Array) -> Path:
        position, turned = load_robot('fr3', 'tcp').forward(joints)

        def at(time: float) -> Array:
            angle = speed / RADIUS * eased(time)
            way = RADIUS * np.array((0.0, math.sin(angle), math.cos(angle) - 1.0))
            return np.concatenate((position + way, turned))

        return Path(at, np.empty(0))

    return path


def sway(amplitude: float, period: float) -> Callable[[Array], Path]:
    """All joints back and forth by rad about where they stand, in s."""

    def path(joints: Array) -> Path:
        sides = np.array((1.0, 1.0, 1.0, -1.0, 1.0, 1.0, 1.0))

        def at(time: float) -> Array:
            turn = math.sin(2.0 * math.pi * eased(time) / period)
            return joints + amplitude * turn * sides

        return Path(at, np.empty(0))

    return path


def steps(goals: Callable[[Array], Sequence[Array]], period: float) -> Callable[[Array], Path]:
    """One goal after the other, each for s, again and again."""

    def path(joints: Array) -> Path:
        every = goals(joints)
        return Path(
            lambda time: every[int(time / period) % len(every)], np.arange(1, 1000) * period
        )

    return path


def near_goals(joints: Array) -> list[Array]:
    """Joint goals about where the arm stands."""
    random = np.random.default_rng(7)
    return [joints + random.uniform(-0.4, 0.4, 7) for _ in range(20)]


def far_goals(joints: Array) -> list[Array]:
    """Joint goals that take the end effector far."""
    return [np.array(goal) for goal in FAR]


def folded(joints: Array) -> list[Array]:
    """Joint goals that lead the arm into itself, with where it stands between them."""
    return [goal for each in FOLDED for goal in (np.array(each), joints)]


def far_poses(joints: Array) -> list[Array]:
    """Poses of the end effector where 20 drawn postures have it."""
    random, robot = np.random.default_rng(3), load_robot('fr3', 'tcp')
    limits = np.array([robot.joint_limits[name] for name in robot.joint_names])
    found: list[Array] = []
    while len(found) < 20:
        trial = np.clip(joints + random.uniform(-1.2, 1.2, 7), *(limits.T * 0.9))
        position, turned = robot.forward(trial)
        if position[2] > 0.15 and np.hypot(*position[:2]) > 0.3:
            found.append(np.concatenate((position, turned)))
    return found


def ends(period: float) -> Callable[[Array], Path]:
    """Joints that go to ends of their ranges, while two others turn back and forth every second."""

    def path(joints: Array) -> Path:
        robot: Robot = load_robot('fr3')
        limits = np.array([robot.joint_limits[name] for name in robot.joint_names])

        def moving(time: float) -> tuple[int, int, tuple[int, ...]]:
            joint, side = ENDS[int(time / period) % len(ENDS)]
            return joint, side, (2, 5) if joint in (4, 6) else (4, 6)

        def at(time: float) -> Array:
            goal = joints.copy()
            joint, side, others = moving(time)
            goal[joint] = limits[joint][(side + 1) // 2]
            for other in others:
                goal[other] += 0.3 if int(time) % 2 else -0.3
            return goal

        def is_judged(time: float) -> NDArray[np.bool_]:
            return ~np.isin(np.arange(7), moving(time)[2])

        return Path(at, np.arange(1, 1000) * period, is_judged)

    return path


# Bars: a stream of poses is followed to 1 mm in the median and 3 mm at the 99th percentile, at 0.3
# m/s to three times as much. That one has 0.7 of the limits: it takes joint 4 to 0.77 rad/s and
# 3.3 rad/s^2, where 0.3 of them are 0.65 and 3.0. Goals are reached to 2 mrad and 5 mrad. What
# cannot be reached, as ends that the arm does not quite let a joint reach, counts by its stops.
ROWS = (
    Row('joint ends, others reversing', 'joint_velocity', 0.3, 50.0, ends(6.0), math.inf, math.inf),
    Row('joint ends, others reversing', 'joint_velocity', 1.0, 50.0, ends(3.0), math.inf, math.inf),
    Row('circle, 0.05 m/s', 'cartesian_pose', 0.3, 10.0, circle(0.05), 1.0, 3.0),
    Row('circle, 0.05 m/s', 'cartesian_pose', 0.3, 50.0, circle(0.05), 1.0, 3.0),
    Row('circle, 0.1 m/s', 'cartesian_pose', 0.3, 10.0, circle(0.1), 1.0, 3.0),
    Row('circle, 0.1 m/s', 'cartesian_pose', 0.3, 50.0, circle(0.1), 1.0, 3.0),
    Row('circle, 0.3 m/s', 'cartesian_pose', 0.7, 10.0, circle(0.3), 3.0, 9.0),
    Row('circle, 0.3 m/s', 'cartesian_pose', 0.7, 50.0, circle(0.3), 3.0, 9.0),
    Row('poses far apart', 'cartesian_pose', 0.3, 10.0, steps(far_poses, 1.5), math.inf, math.inf),
    Row('poses far apart', 'cartesian_pose', 1.0, 10.0, steps(far_poses, 1.5), math.inf, math.inf),
    Row('into itself', 'joint_velocity', 0.3, 50.0, steps(folded, 6.0), math.inf, math.inf),
    Row('into itself', 'joint_position', 1.0, 5.0, steps(folded, 3.0), math.inf, math.inf),
    Row('goals now and then', 'joint_position', 0.3, 5.0, steps(near_goals, 2.0), 2.0, 5.0),
    Row('goals now and then', 'joint_position', 1.0, 5.0, steps(near_goals, 2.0), 2.0, 5.0),
    Row('goals far apart', 'joint_position', 1.0, 5.0, steps(far_goals, 3.0), 2.0, 5.0),
    Row('goals far apart', 'joint_velocity', 1.0, 50.0, steps(far_goals, 3.0), 2.0, 5.0),
    Row('stream, 0.2 rad in 6 s', 'joint_position', 0.3, 50.0, sway(0.2, 6.0), 30.0, 60.0),
    Row('stream, 0.2 rad in 6 s', 'joint_position', 0.7, 50.0, sway(0.2, 6.0), 30.0, 60.0),
    Row('stream, 0.2 rad in 6 s', 'joint_position', 1.0, 50.0, sway(0.2, 6.0), 30.0, 60.0),
)  # fmt: skip


def figures(row: Row, path: Path, report: Report, before: Report, began: float) -> Figures:
    """How the arm followed a path that began at `began`, s of time.monotonic()."""
    stops = [each for each in report.stops if each[0] > before.now]
    end = stops[0][0] if stops else report.now
    is_of_run = (report.times > began) & (report.times < end)
    times, joints = report.times[is_of_run] - began, report.joints[is_of_run]
    robot = load_robot('fr3', 'tcp')
    positions = np.array([robot.forward(each)[0] for each in joints]).reshape(-1, 3)
    speeds = [
        np.linalg.norm(robot.jacobian(place)[:3] @ velocity)
        for place, velocity in zip(joints, report.velocities[is_of_run], strict=True)
    ]
    lag, median, largest = _off(row, path, times, positions if row.is_pose else joints)
    wall, simulated = report.now - before.now, report.simulated - before.simulated
    return Figures(
        max(0.0, end - began),
        tuple(f'{name} ({reason})' for _, name, reason in stops),
        lag,
        median,
        largest,
        len(report.lost) - len(before.lost),
        report.lost_by_client() - before.lost_by_client(),
        report.lost_without_core() - before.lost_without_core(),
        report.cycles - before.cycles,
        max(0.0, wall - simulated),
        float(max(speeds, default=math.nan)),
    )


def _off(row: Row, path: Path, times: Array, places: Array) -> tuple[float, float, float]:
    """Returns the lag, s, and how far the places (N, 3) m or (N, 7) rad are off behind it, in the
    median and at the 99th percentile, in mm or mrad; NaN where nothing can be said.
    """
    if len(path.changes):
        off = _off_at_rest(row, path, times, places)
        lag = math.nan
    else:
        lag, off = _off_path(path, times, places)
    if not len(off):
        return math.nan, math.nan, math.nan
    median, largest = 1e3 * np.percentile(off, (50.0, 99.0))
    return lag, float(median), float(largest)


def _off_at_rest(row: Row, path: Path, times: Array, places: Array) -> Array:
    """How far the arm is from each goal as the next one comes."""
    found = []
    for change in path.changes[path.changes < times.max(initial=0.0)]:
        # Shortly before, as a goal may come a period late.
        last = change - 1.5 / row.rate
        difference = places[np.searchsorted(times, last) - 1] - _place(path, last, places)
        if row.is_pose:
            found.append(np.linalg.norm(difference))
        else:
            found.append(np.abs(difference[path.is_judged(last)]).max())
    return np.array(found)


def _off_path(path: Path, times: Array, places: Array) -> tuple[float, Array]:
    """The lag with which the arm follows best, and how far it is off then, at every 10th state."""
    times, places = times[::10], places[::10]
    is_judged = times > SETTLED
    times, places = times[is_judged], places[is_judged]
    if not len(times):
        return math.nan, np.empty(0)
    grid = np.arange(0.0, times[-1] + 0.002, 0.002)
    goals = np.array([_place(path, each, places) for each in grid])
    best: tuple[float, Array] | None = None
    for lag in LAGS:
        rows = np.minimum(np.maximum(times - lag, 0.0) / 0.002, len(grid) - 1).round().astype(int)
        difference = places - goals[rows]
        off = (
            np.abs(difference).max(1)
            if places.shape[1] == 7
            else np.linalg.norm(difference, axis=1)
        )
        if best is None or np.median(off) < np.median(best[1]):
            best = float(lag), off
    assert best is not None
    return best


def _place(path: Path, time: float, places: Array) -> Array:
    """The goal's joints, or its position."""
    goal: Array = path.at(time)[: places.shape[1]]
    return goal


def summary(row: Row, runs: Sequence[Figures]) -> str:
    """One line of what the runs of a row gave."""
    values = {
        name: float(np.median([getattr(each, name) for each in runs]))
        for name in ('median', 'largest', 'lag')
    }
    stops = [', '.join(each.stops) or 'none' for each in runs]
    off, lag = '', ''
    if not math.isnan(values['median']):
        off = (
            f'off by {values["median"]:.1f} {row.unit} in the median, '
            f'{values["largest"]:.1f} at the 99th percentile, '
        )
    if not math.isnan(values['lag']):
        lag = f'{1e3 * values["lag"]:.0f} ms behind, '
    return (
        f'{title(row)}: followed for {", ".join(f"{each.seconds:.0f}" for each in runs)} s, stops: '
        f'{"none" if set(stops) == {"none"} else "; ".join(stops)}; {off}{lag}'
        f'end effector at most {max(each.speed for each in runs):.2f} m/s; '
        f'{sum(each.lost for each in runs)} of {sum(each.cycles for each in runs)} cycles lost, '
        f'{sum(each.by_client for each in runs)} by the driver, '
        f'{sum(each.without_core for each in runs)} of these as the machine gave it no core; '
        f'the arm fell {sum(each.behind for each in runs):.2f} s behind'
    )


def title(row: Row) -> str:
    """Name of a row with its settings."""
    return f'{row.name}, {row.control} at {row.dynamics:g}, {row.rate:g} Hz'


def judge(bars: Bars, row: Row, runs: Sequence[Figures]) -> None:
    """Judges the runs of a row."""
    name = title(row)
    stopped = sum(bool(each.stops) for each in runs)
    bars.at_most(f'{name}: runs of {len(runs)} that the arm stopped', stopped, 0.0)
    for figure, bar, text in (
        ('median', row.median, 'in the median'),
        ('largest', row.largest, 'at the 99th percentile'),
    ):
        values = [getattr(each, figure) for each in runs]
        if not math.isinf(bar):
            bars.at_most(f'{name}: off {text}, {row.unit}', float(np.median(values)), bar)
