# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Episodes of pick and place with a servo gripper: an emulated STS3215 that closes on elastic
things, with backlash, a late and lossy bus, targets of policies and of teleoperators, and the truth
about each item. Knows nothing of the detector.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from frame_ros.bags.streams.form import Stream
from frame_ros.core.events import Event, EventType, Outcome
from frame_ros.core.time import SECOND
from frame_ros.episodes.episode import Episode
from frame_ros.hardware.feetech.emulator.registers import RESOLUTION, put
from frame_ros.hardware.feetech.emulator.servo import STEP, Mechanics, SimulatedServo

START = 1000 * SECOND
TICK = 0.004  # s
OPEN = 1.3  # rad
STOP = 0.0  # rad, at which jaw meets jaw
SOURCE, TARGET, AISLE = (0.22, -0.15), (0.22, 0.16), (0.3, 0.02)
FLOOR = 0.03
JOINT_TYPE, POSE_TYPE = 'sensor_msgs/msg/JointState', 'geometry_msgs/msg/PoseStamped'


@dataclass(frozen=True)
class World:
    """One kind of recordings.

    Attributes:
        widths: rad, range of the jaw's angle around things.
        stiffness: N m/rad, range.
        is_soft: whether things give way to a third of their width under the grip.
        targets: 'levels' of a policy, 'leader' of a human hand, 'slow' ramps.
        backlash: rad.
        delay: s, of commands.
        lost: share of the samples that are lost.
        noise: rad, of the target (a hand trembles).
        empties: share of attempts that close on nothing.
        slips: share that slip out of the fingers on the way.
        misses: share released off the target.
    """

    name: str
    widths: tuple[float, float] = (0.12, 0.9)
    stiffness: tuple[float, float] = (20.0, 80.0)
    is_soft: bool = False
    targets: str = 'levels'
    backlash: float = 0.01
    delay: float = 0.03
    lost: float = 0.0
    noise: float = 0.0
    empties: float = 0.15
    slips: float = 0.12
    misses: float = 0.08


WORLDS = (
    World('rigid, policy'),
    World('rigid, slow ramps', targets='slow'),
    World('rigid, leader arm', targets='leader', noise=0.006),
    World('thin (0.01 to 0.06 rad)', widths=(0.01, 0.06)),
    World('soft', stiffness=(0.3, 1.5), is_soft=True),
    World('soft, leader arm', stiffness=(0.3, 1.5), is_soft=True, targets='leader', noise=0.006),
    World('backlash 0.05 rad', backlash=0.05),
    World('late and lossy bus', delay=0.15, lost=0.3),
    World('all of it', widths=(0.05, 1.0), stiffness=(0.5, 60.0), targets='leader', noise=0.006,
          backlash=0.04, delay=0.1, lost=0.2),
)  # fmt: skip


@dataclass
class Item:
    """What is in the jaws, and where."""

    width: float
    stiffness: float
    is_soft: bool
    is_between: bool = False
    squeezed: float = 0.0

    def torque(self, angle: float) -> float:
        """N m with which it holds the jaw off."""
        if not self.is_between or angle >= self.width:
            return 0.0
        into = self.width - angle
        hard = max(0.0, into - 0.67 * self.width) * 60.0 if self.is_soft else 0.0
        return into * self.stiffness + hard


@dataclass
class Recording:
    """One episode: its streams and the truth.

    Attributes:
        truth: time (s since START) and 'success' or 'failure' of each item placed or lost.
    """

    episode: Episode
    truth: list[tuple[float, str]]


@dataclass
class _Run:
    world: World
    rng: np.random.Generator
    time: float = 0.0
    place: np.ndarray = field(default_factory=lambda: np.array([0.2, 0.0, 0.15]))
    angle: float = 0.5
    target: float = 0.5
    item: Item | None = None
    servo: SimulatedServo = field(init=False)
    pending: list[tuple[float, float]] = field(default_factory=list)
    commands: list[tuple[float, float]] = field(default_factory=list)
    states: list[tuple[float, float]] = field(default_factory=list)
    poses: list[tuple[float, np.ndarray]] = field(default_factory=list)
    truth: list[tuple[float, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.servo = SimulatedServo(
            6, Mechanics(inertia=0.008, load=self._load, lower=STOP - 0.02), self.angle
        )
        put(self.servo.memory, 'Torque_Enable', 1)
        put(self.servo.memory, 'Torque_Limit', 500)

    def _load(self, angle: float) -> float:
        return -self.item.torque(angle) if self.item else 0.0

    def advance(self, until: float, wanted, place) -> Iterator[None]:
        """Moves for some seconds: functions of the share of the time that has passed."""
        begun, duration = self.time, until
        while self.time < begun + duration:
            share = min(1.0, (self.time - begun) / duration)
            self.target, self.place = wanted(share), place(share)
            self._tick()
            yield

    def _tick(self) -> None:
        before = round(self.time / TICK)
        if before % 8 == 0:  # about 30 Hz
            command = self.target + self.world.noise * self.rng.standard_normal()
            self.commands.append((self.time, command))
            late = self.world.delay * self.rng.uniform(0.7, 1.6)
            self.pending.append((self.time + late, command))
        while self.pending and self.pending[0][0] <= self.time:
            goal = self.pending.pop(0)[1]
            put(self.servo.memory, 'Goal_Position', round(goal / STEP + RESOLUTION / 2))
        self.servo.advance(TICK)
        play = self.world.backlash / 2
        self.angle = min(max(self.angle, self.servo.angle - play), self.servo.angle + play)
        if before % 5 == 0 and self.rng.random() >= self.world.lost:  # 50 Hz
            seen = (self.servo.present_position - RESOLUTION / 2) * STEP
            self.states.append((self.time, seen))
            self.poses.append((self.time, self.place.copy()))
        self.time += TICK


def record(world: World, seed: int, items: int = 5) -> Recording:
    """One episode with so many attempts."""
    run = _Run(world, np.random.default_rng([seed, len(world.name)]))
    for _ in range(items):
        for _ in _attempt(run):
            pass
    for _ in run.advance(0.8, lambda s: run.target, lambda s: run.place):
        pass
    return Recording(_episode(run, f'{world.name}-{seed}'), run.truth)


def _attempt(run: _Run) -> Iterator[None]:
    """One attempt to move an item from the source to the target."""
    rng, world = run.rng, run.world
    item = Item(rng.uniform(*world.widths), rng.uniform(*world.stiffness), world.is_soft)
    kind = rng.choice(
        ['empty', 'slip', 'miss', 'fine'],
        p=[world.empties, world.slips, world.misses,
           1 - world.empties - world.slips - world.misses],
    )  # fmt: skip
    source = _near(rng, SOURCE, 0.05)
    opened = min(OPEN, item.width + rng.uniform(0.25, 0.6))
    closed = _closed_target(rng, world, item)
    ramp = {'levels': 0.05, 'slow': 1.2, 'leader': rng.uniform(0.25, 0.7)}[world.targets]
    yield from run.advance(rng.uniform(0.8, 1.6), _to(run.target, opened), _path(run, source, 0.15))
    yield from run.advance(0.5, _stay(opened), _path(run, source, FLOOR))
    run.item = item
    item.is_between = kind != 'empty'
    yield from run.advance(ramp, _to(opened, closed), _stay(run.place))
    yield from run.advance(rng.uniform(0.35, 0.8), _stay(closed), _stay(run.place))
    if kind == 'empty':
        yield from run.advance(0.4, _stay(closed), _path(run, source, 0.1))
        yield from run.advance(max(ramp, 0.2), _to(closed, opened), _stay(run.place))
        return
    goal = _near(rng, TARGET if kind != 'miss' else AISLE, 0.03)
    halfway = (np.array(source) + np.array(goal)) / 2
    yield from run.advance(rng.uniform(0.5, 1.0), _stay(closed), _path(run, tuple(halfway), 0.15))
    if kind == 'slip':
        item.is_between = False
        run.truth.append((run.time, 'failure'))
    yield from run.advance(rng.uniform(0.6, 1.2), _stay(closed), _path(run, goal, 0.12))
    yield from run.advance(0.3, _stay(closed), _path(run, goal, 0.08))
    begun = run.time
    released = min(OPEN, max(closed, item.width if kind != 'slip' else 0) + rng.uniform(0.25, 0.5))
    opening = {'levels': 0.05, 'slow': 0.9, 'leader': rng.uniform(0.2, 0.6)}[world.targets]
    freed = None
    for _ in run.advance(opening + 0.5, _to(closed, released, opening / (opening + 0.5)),
                         _stay(run.place)):  # fmt: skip
        if freed is None and item.is_between and run.angle >= item.width:
            freed, item.is_between = run.time, False
        yield
    if kind != 'slip':
        run.truth.append((freed or begun, 'success' if kind == 'fine' else 'failure'))
    item.is_between = False


def _closed_target(rng: np.random.Generator, world: World, item: Item) -> float:
    """A policy closes fully; a hand a little further than the thing is wide."""
    if world.targets == 'leader':
        return max(0.0, item.width * rng.uniform(0.3, 0.8) - 0.05)
    return rng.uniform(0.0, 0.02)


def _near(rng: np.random.Generator, centre: tuple[float, float], spread: float):
    return tuple(np.array(centre) + rng.uniform(-spread, spread, 2))


def _stay(value):
    return lambda share: value


def _to(begin: float, end: float, part: float = 1.0):
    return lambda share: begin + (end - begin) * min(1.0, share / part)


def _path(run: _Run, place: tuple[float, float], height: float):
    begin, end = run.place.copy(), np.array([*place, height])
    return lambda share: begin + (end - begin) * (3 * share**2 - 2 * share**3)


def _episode(run: _Run, name: str) -> Episode:
    end = START + round(run.time * SECOND)
    streams = {
        'joint_states': _joints(run.states),
        'action': _joints(run.commands),
        'pose': _poses(run.poses, 'base_link'),
        'goal': _poses([(0.0, np.array([*TARGET, 0.0]))], 'base_link'),
    }
    events = [
        Event(START, EventType.START, name),
        Event(end, EventType.END, name, Outcome.TIMEOUT),
    ]
    return Episode(Path(name), name, {'robot': 'so101'}, events, streams, {})


def _stamps(times: list[float]) -> np.ndarray:
    return START + np.round(np.array(times) * SECOND).astype(np.int64)


def _joints(samples: list[tuple[float, float]]) -> Stream:
    stamps = _stamps([time for time, _ in samples])
    counts = np.ones(len(samples), np.int64)
    values = {
        'names': np.full((len(samples), 1), 'gripper'), 'names_count': counts,
        'positions': np.array([[value] for _, value in samples]), 'positions_count': counts,
    }  # fmt: skip
    return Stream('joints', JOINT_TYPE, stamps, stamps, values)


def _poses(samples: list[tuple[float, np.ndarray]], frame: str) -> Stream:
    stamps = _stamps([time for time, _ in samples])
    values = {
        'position': np.array([place for _, place in samples]),
        'orientation': np.tile([0.0, 0.0, 0.0, 1.0], (len(samples), 1)),
        'frame': np.full(len(samples), frame),
    }
    return Stream('pose', POSE_TYPE, stamps, stamps, values, frame)
