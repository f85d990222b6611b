# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A recorded motion of the joints, and a momentum observer's view of it, term by term."""

from __future__ import annotations

import copy
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import SetupError, ShapeError
from frame_ros.core.plain_text import counted
from frame_ros.core.turns import continuous_among, nearest_turn, unwrapped
from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.sensing.contact.joints.friction_direction import FrictionDirection
from frame_ros.sensing.contact.joints.momentum_observer import (
    SECOND,
    MomentumObserver,
    ObserverOptions,
    first_order,
)
from frame_ros.sensing.contact.joints.sticking import StickWatch
from frame_ros.sensing.contact.joints.supply_current import winding_effort

Array = NDArray[np.float64]
LEAST_SAMPLES = 200
FORGOTTEN = 3.0
UNSURE = 0.1  # of a friction's direction, from which samples are not used


@dataclass(frozen=True)
class JointRecording:
    """A recording of N joints.

    Raises:
        ShapeError: too few samples, lengths that differ, values that are not finite, or stamps that
            do not rise.
    """

    joint_names: tuple[str, ...]
    stamps: NDArray[np.int64]  # (T,) ns, rising
    positions: Array  # (T, N) rad
    velocities: Array | None  # (T, N) rad/s; None if the messages have none
    efforts: Array  # (T, N) in joint_states' unit
    commands: Array | None = None  # (T, N) rad, the newest at each stamp, NaN before; None: unknown

    def __post_init__(self) -> None:
        shape = (len(self.stamps), len(self.joint_names))
        if shape[0] < LEAST_SAMPLES:
            raise ShapeError(
                f'{counted(shape[0], "sample")} of the joints; {LEAST_SAMPLES} or more are needed'
            )
        for name in ('positions', 'velocities', 'efforts'):
            values = getattr(self, name)
            if values is None:
                continue
            if values.shape != shape:
                raise ShapeError(f'{name} have shape {values.shape}; {shape} is expected')
            if not np.isfinite(values).all():
                bad = [n for n, c in zip(self.joint_names, values.T) if not np.isfinite(c).all()]
                raise ShapeError(f'{name} of {", ".join(bad)} are not all finite')
        if self.commands is not None and self.commands.shape != shape:
            raise ShapeError(f'commands have shape {self.commands.shape}; {shape} is expected')
        if not (np.diff(self.stamps) > 0).all():
            raise ShapeError('the stamps of the samples do not rise')

    @property
    def rate(self) -> float:
        """Hz, from the median interval."""
        return SECOND / float(np.median(np.diff(self.stamps)))

    def of(self, joint_names: Sequence[str]) -> JointRecording:
        """Returns the recording of some joints, in the order given.

        Raises:
            ShapeError: a joint was not recorded.
        """
        if missing := [name for name in joint_names if name not in self.joint_names]:
            raise ShapeError(
                f'{missing[0]!r} was not recorded; recorded: {", ".join(self.joint_names)}'
            )
        rows = [self.joint_names.index(name) for name in joint_names]
        velocities = None if self.velocities is None else self.velocities[:, rows]
        commands = None if self.commands is None else self.commands[:, rows]
        return JointRecording(
            tuple(joint_names), self.stamps, self.positions[:, rows], velocities,
            self.efforts[:, rows], commands,
        )  # fmt: skip


def recording_of(
    joint_names: Sequence[str],
    stamps: NDArray[np.int64],
    positions: Array,
    velocities: Array,
    efforts: Array,
    commands: Array | None = None,
    continuous: Collection[str] = (),
) -> JointRecording:
    """Makes a recording from the samples with an effort of each joint.

    Velocities that are missing in any of these are left out of all. Positions of joints that turn
    without end (`continuous`) are counted on over their turns; commands are those nearest them.

    Raises:
        SetupError: there are no efforts of a joint.
        ShapeError: too few samples.
    """
    if len(stamps):
        is_known = np.isfinite(efforts)
        if not is_known.any():
            raise SetupError('joint_states has no efforts: without them no motor can be identified')
        if missing := [n for n, column in zip(joint_names, is_known.T) if not column.any()]:
            raise SetupError(f'joint_states has no effort of {", ".join(missing)}')
        kept = is_known.all(axis=1)
        stamps, positions = stamps[kept], positions[kept]
        velocities, efforts = velocities[kept], efforts[kept]
        commands = None if commands is None else commands[kept]
    is_continuous = continuous_among(joint_names, continuous)
    positions = unwrapped(positions, is_continuous)
    if commands is not None:
        commands = nearest_turn(commands, positions, is_continuous)
    has_velocities = len(stamps) > 0 and bool(np.isfinite(velocities).all())
    return JointRecording(
        tuple(joint_names), stamps, positions, velocities if has_velocities else None, efforts,
        None if commands is None or np.isnan(commands).all() else commands,
    )  # fmt: skip


def newest_commands(
    stamps: NDArray[np.int64], sent: NDArray[np.int64], commands: Array
) -> Array | None:
    """Returns the commands at the stamps of samples, (T, N) rad, NaN before the first; None of
    none.

    Args:
        stamps: (T,) ns.
        sent: (C,) ns, rising.
        commands: (C, N) rad.
    """
    if not len(sent):
        return None
    rows = np.searchsorted(sent, stamps, side='right') - 1
    return np.where((rows >= 0)[:, None], commands[rows], np.nan)


class FrictionShape(NamedTuple):
    """presliding: rad. stribeck_velocity: rad/s. See `MotorModel`."""

    presliding: float
    stribeck_velocity: float


@dataclass(frozen=True)
class ObservedTerms:
    """The mean of each term of the equation of motion between samples, each (K, N).

    Each is filtered like the observer's residual, so that the residual of any parameters is a
    weighted sum of the terms, and the best fit here leaves the least there.

    Attributes:
        rigid: N m of the masses.
        effort: of the message.
        velocity: rad/s.
        acceleration: rad/s^2.
        one: the offset's.
        direction: of dry friction.
        slow: its part near rest.
        loaded: times |effort|.
        slow_loaded: times |effort|, its part near rest.
        weighed: times |weight| of the links, N m.
        slides: (K, N), whether a joint has been sliding for as long as the filter remembers.
        stamps: (K,) ns.
        is_settled: (K,) whether filter and directions have settled since the recording or its last
            gap began.
    """

    stamps: NDArray[np.int64]
    rigid: Array
    effort: Array
    velocity: Array
    acceleration: Array
    one: Array
    direction: Array
    slow: Array
    loaded: Array
    slow_loaded: Array
    weighed: Array
    slides: NDArray[np.bool_]
    is_settled: NDArray[np.bool_]


class EffortForm(NamedTuple):
    """is_supply: whether the efforts are the supply's currents. back_emf: sqrt(A) s/rad. See
    `MotorModel`.
    """

    is_supply: bool = False
    back_emf: float = 0.0


class ObservedMotion:
    """A recording as seen by an observer with these options.

    Attributes:
        effort_limits: (N,) N m of the joints by the robot's description; infinite: not known.
    """

    def __init__(
        self, dynamics: RobotDynamics, recording: JointRecording, settings: ObserverOptions
    ) -> None:
        """Observes a recording of the joints of `dynamics`, which has no armature.

        Raises:
            ShapeError: no samples follow each other without a gap.
        """
        limits = {joint.name: joint.effort for joint in dynamics.robot.description.joints}
        self.effort_limits = np.array([limits[name] for name in dynamics.joint_names])
        self._gain = float(np.max(settings.gain))
        self._pieces = _Followed(dynamics, recording, settings).pieces()
        if not self._pieces:
            raise ShapeError(f'no samples follow each other within {settings.max_gap} s')
        self._plain = [_plain_terms(piece, self._gain) for piece in self._pieces]
        self._directions: dict[float, list[tuple[Array, Array]]] = {}

    def of_form(self, form: EffortForm) -> ObservedMotion:
        """Returns the motion with the efforts that are proportional to the motors' torque."""
        if not form.is_supply:
            return self
        found = copy.copy(self)
        found._pieces = [
            replace(p, effort=winding_effort(p.effort, p.velocity, form.back_emf))
            for p in self._pieces
        ]
        found._plain = [_plain_terms(piece, self._gain) for piece in found._pieces]
        return found

    def terms(self, friction: FrictionShape) -> ObservedTerms:
        """Returns the terms for dry friction of this shape."""
        presliding = friction.presliding
        if presliding not in self._directions:
            self._directions[presliding] = [
                _directions(p.position, presliding) for p in self._pieces
            ]
        directions = self._directions[presliding]
        return _joined(
            [
                _terms(piece, plain, self._gain, friction, *found)
                for piece, plain, found in zip(self._pieces, self._plain, directions, strict=True)
            ]
        )


@dataclass(frozen=True)
class _Piece:
    stamps: NDArray[np.int64]
    position: Array
    velocity: Array
    momentum: Array
    drift: Array
    weight: Array
    effort: Array


class _Followed:
    """The velocities of an observer, piece by piece between gaps."""

    def __init__(
        self, dynamics: RobotDynamics, recording: JointRecording, settings: ObserverOptions
    ) -> None:
        self._dynamics, self._recording, self._settings = dynamics, recording, settings

    def pieces(self) -> list[_Piece]:
        gap = round(self._settings.max_gap * SECOND)
        stamps = self._recording.stamps
        ends = [0, *(np.flatnonzero(np.diff(stamps) > gap) + 1).tolist(), len(stamps)]
        spans = zip(ends[:-1], ends[1:], strict=True)
        return [self._piece(a, b) for a, b in spans if b - a > 2 + LEAST_SAMPLES // 10]

    def _piece(self, begin: int, end: int) -> _Piece:
        recording = self._recording
        velocity = self._velocities(begin, end)
        begin = end - len(velocity)
        terms = [
            self._dynamics.momentum_terms(q, dq)
            for q, dq in zip(recording.positions[begin:end], velocity, strict=True)
        ]
        return _Piece(
            recording.stamps[begin:end],
            recording.positions[begin:end],
            velocity,
            np.array([term.momentum for term in terms]),
            np.array([term.drift for term in terms]),
            np.abs([self._dynamics.gravity(q) for q in recording.positions[begin:end]]),
            recording.efforts[begin:end],
        )

    def _velocities(self, begin: int, end: int) -> Array:
        recording = self._recording
        if recording.velocities is not None:
            return recording.velocities[begin:end]
        observer = MomentumObserver(self._dynamics, self._settings)
        torque = np.zeros(len(recording.joint_names))
        found = []
        for row in range(begin, end):
            observer.update(int(recording.stamps[row]), recording.positions[row], None, torque)
            if math.isfinite(observer.velocity.sum()):
                found.append(observer.velocity)
        return np.array(found)


def _plain_terms(piece: _Piece, gain: float) -> Array:
    """Returns (K, 5, N): the terms up to `one`, which do not depend on friction."""
    seconds = np.diff(piece.stamps) / SECOND

    def mean(values: Array) -> Array:
        return 0.5 * (values[1:] + values[:-1])

    def slope(values: Array) -> Array:
        return np.diff(values, axis=0) / seconds[:, None]

    velocity = piece.velocity
    columns = (
        slope(piece.momentum) - mean(piece.drift),
        mean(piece.effort),
        mean(velocity),
        slope(velocity),
        mean(np.ones_like(velocity)),
    )
    return first_order(np.stack(columns, axis=1), seconds, gain)


def _terms(
    piece: _Piece,
    plain: Array,
    gain: float,
    friction: FrictionShape,
    direction: Array,
    uncertainty: Array,
) -> ObservedTerms:
    seconds = np.diff(piece.stamps) / SECOND
    near_rest = np.exp(-((piece.velocity / friction.stribeck_velocity) ** 2))
    loaded = direction * np.abs(piece.effort)
    weighed = direction * piece.weight
    columns = np.stack(
        (direction, direction * near_rest, loaded, loaded * near_rest, weighed), axis=1
    )
    dry = first_order(0.5 * (columns[1:] + columns[:-1]), seconds, gain)
    age = (piece.stamps[1:] - piece.stamps[0]) / SECOND
    # The filter forgets uncertain values after a few of its time constants.
    unsure = np.flatnonzero(uncertainty.max(axis=1) > UNSURE)
    sure_since = age[min(unsure[-1], len(age) - 1)] if len(unsure) else 0.0
    rigid, effort, velocity, acceleration, one = (plain[:, i] for i in range(plain.shape[1]))
    return ObservedTerms(
        piece.stamps[1:], rigid, effort, velocity, acceleration, one,
        dry[:, 0], dry[:, 1], dry[:, 2], dry[:, 3], dry[:, 4], _slides(piece, gain),
        age > sure_since + 5.0 / gain,
    )  # fmt: skip


def _directions(positions: Array, presliding: float) -> tuple[Array, Array]:
    """Returns direction and uncertainty (T, N) of dry friction."""
    friction = FrictionDirection(positions.shape[1], presliding)
    directions, uncertainties = np.empty_like(positions), np.empty_like(positions)
    for row, q in enumerate(positions):
        directions[row] = friction.update(q)
        uncertainties[row] = friction.uncertainty
    return directions, uncertainties


def _slides(piece: _Piece, gain: float) -> NDArray[np.bool_]:
    """Returns (K, N): no joint that stuck within FORGOTTEN time constants of the filter."""
    seconds = np.diff(piece.stamps) / SECOND
    watch = StickWatch(piece.position.shape[1])
    watch.update(piece.position[0], math.nan)
    since: Array = np.zeros(piece.position.shape[1])
    found = []
    for q, interval in zip(piece.position[1:], seconds.tolist(), strict=True):
        watch.update(q, interval)
        since = np.where(watch.is_stuck, 0.0, since + interval)
        found.append(since >= FORGOTTEN / gain)
    return np.array(found)


def _joined(parts: Sequence[ObservedTerms]) -> ObservedTerms:
    together: dict[str, Any] = {
        each.name: np.concatenate([getattr(part, each.name) for part in parts])
        for each in fields(ObservedTerms)
    }
    return ObservedTerms(**together)
