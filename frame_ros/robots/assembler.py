# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Assembles complete, ordered arrays from joint states with any selection of joints."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.errors import RobotError

Array = NDArray[np.float64]


class AssembledState(NamedTuple):
    """Positions (N,) in rad or m; velocities (N,) per s, None while unknown for a joint; efforts
    (N,), NaN where missing, None if never present.
    """

    positions: Array
    velocities: Array | None
    efforts: Array | None = None


NOTHING: Array = np.empty(0)
# Publishers use a few lists of names in turn; no more than these are worth keeping.
MOST_LEARNED = 64


class _Places(NamedTuple):
    """Positions of the wanted joints in a list of names (source), and their indices (target)."""

    problem: str
    source: NDArray[np.intp]
    target: NDArray[np.intp]
    is_in_order: bool


@dataclass
class StateCounts:
    """Counts of messages taken, and of others by reason.

    Attributes:
        accepted: messages whose values were taken.
        incomplete: of those accepted, how many came before every joint had been seen.
        unknown_only: messages without any wanted joint.
        wrong_length: messages whose names, positions and velocities do not match, or that name a
            joint twice.
        non_finite: messages with NaN or infinity as the position of a wanted joint.
        non_finite_velocity: of those accepted, how many had velocities that were not finite; those
            count as absent.
    """

    accepted: int = 0
    incomplete: int = 0
    unknown_only: int = 0
    wrong_length: int = 0
    non_finite: int = 0
    non_finite_velocity: int = 0

    @property
    def rejected(self) -> int:
        """Messages of which nothing was used."""
        return self.unknown_only + self.wrong_length + self.non_finite


class JointStateAssembler:
    """Keeps the newest value of each wanted joint over messages that may be partial.

    Attributes:
        joint_names: the wanted joints; the order of what is returned.
        counts: see StateCounts.
        problem: what was wrong with the last message, in words; '' if nothing was.
        last: the last complete state, or None.
    """

    def __init__(self, joint_names: Sequence[str]) -> None:
        """Raises RobotError if `joint_names` is empty or has a name twice."""
        self.joint_names = tuple(joint_names)
        if not self.joint_names or len(set(self.joint_names)) != len(self.joint_names):
            raise RobotError(f'joint names must be given, each once: {list(joint_names)}')
        self.counts = StateCounts()
        self.problem = ''
        self.last: AssembledState | None = None
        size = len(self.joint_names)
        self._positions = np.full(size, math.nan)
        self._velocities = np.full(size, math.nan)
        self._efforts = np.full(size, math.nan)
        self._has_efforts = False
        self._unseen = set(range(size))
        self._names: Sequence[str] = ()
        self._size = 0
        self._learned: dict[tuple[str, ...], _Places] = {}
        self._check_values(_Places('', np.zeros(0, np.intp), np.zeros(0, np.intp), False))

    def forget(self) -> None:
        """Forgets all values: every joint is unseen again."""
        self._positions[:] = self._velocities[:] = self._efforts[:] = math.nan
        self._unseen = set(range(len(self.joint_names)))
        self.last = None

    @property
    def missing(self) -> tuple[str, ...]:
        """The joints not seen yet."""
        return tuple(self.joint_names[i] for i in sorted(self._unseen))

    def update(
        self,
        names: Sequence[str],
        positions: ArrayLike,
        velocities: ArrayLike = (),
        efforts: ArrayLike = (),
    ) -> AssembledState | None:
        """Takes one message's values.

        Args:
            names: K joint names, in any order.
            positions: (K,) rad or m.
            velocities: (K,) rad/s or m/s, or empty where not measured.
            efforts: (K,), or empty.

        Returns:
            The complete state after this message, in fresh arrays; None while joints are unseen,
                and for a rejected message, for which `problem` gives the reason and `last` the
                state before.
        """
        values = self.read(names, positions, velocities, efforts)
        return None if values is None else self.store(*values)

    def read(
        self,
        names: Sequence[str],
        positions: ArrayLike,
        velocities: ArrayLike = (),
        efforts: ArrayLike = (),
    ) -> tuple[Array, Array, Array] | None:
        """Checks one message and returns the values that `store` would take right after; None if it
        was rejected for `problem`.
        """
        if names != self._names:
            self._find_joints(names)
        position = np.asarray(positions, dtype=np.float64)
        velocity = np.asarray(velocities, dtype=np.float64)
        effort = np.asarray(efforts, dtype=np.float64)
        self.problem = self._check_lengths(position, velocity, effort)
        if self.problem:
            return None
        if not self._is_in_order:
            position = position[self._source]
            velocity = velocity[self._source] if len(velocity) else velocity
            effort = effort[self._source] if len(effort) else effort
        if not _is_finite(position):
            self._reject_values(position)
            return None
        return position, velocity, effort

    def _find_joints(self, names: Sequence[str]) -> None:
        """Finds the wanted joints in this list of names, once for each list."""
        key = tuple(names)
        # Of the same type, so that the next list of the same names is found equal.
        self._names, self._size = list(names) if isinstance(names, list) else key, len(key)
        if key not in self._learned:
            if len(self._learned) > MOST_LEARNED:
                self._learned.clear()
            self._learned[key] = self._places(key)
        self._check_values(self._learned[key])

    def _places(self, names: tuple[str, ...]) -> _Places:
        index = {name: i for i, name in enumerate(names)}
        problem = ''
        if len(index) != len(names):
            twice = sorted({name for name in names if names.count(name) > 1})
            problem = f'joints named more than once: {", ".join(twice)}'
        wanted = [(i, index[name]) for i, name in enumerate(self.joint_names) if name in index]
        return _Places(
            problem,
            np.array([k for _, k in wanted], dtype=np.intp),
            np.array([i for i, _ in wanted], dtype=np.intp),
            names == self.joint_names,
        )

    def _check_values(self, places: _Places) -> None:
        self._length_problem, self._source, self._target, self._is_in_order = places

    def _check_lengths(self, position: Array, velocity: Array, effort: Array) -> str:
        size = self._size
        problem = self._length_problem
        if not problem and position.shape != (size,):
            problem = f'{size} joint names but positions of shape {position.shape}'
        if not problem and len(velocity) and velocity.shape != (size,):
            problem = f'{size} joint names but velocities of shape {velocity.shape}'
        if not problem and len(effort) and effort.shape != (size,):
            problem = f'{size} joint names but efforts of shape {effort.shape}'
        if problem:
            self.counts.wrong_length += 1
        elif not len(self._target):
            self.counts.unknown_only += 1
            found = ', '.join(self._names[:8]) or 'no joint'
            problem = f'none of the joints {", ".join(self.joint_names)} in a message with {found}'
        return problem

    def _reject_values(self, position: Array) -> None:
        self.counts.non_finite += 1
        bad = [
            f'{self.joint_names[i]} = {value}'
            for i, value in zip(self._target, position, strict=True)
            if not math.isfinite(value)
        ]
        self.problem = f'joint positions that are not finite: {", ".join(bad)}'

    def store(
        self, position: Array, velocity: Array = NOTHING, effort: Array = NOTHING
    ) -> AssembledState | None:
        """Takes the values last returned by `read`; returns the complete state, or None."""
        target = slice(None) if self._is_in_order else self._target
        if len(velocity) and not _is_finite(velocity):
            self.counts.non_finite_velocity += 1
            velocity = NOTHING
        self._positions[target] = position
        self._velocities[target] = velocity if len(velocity) else math.nan
        if len(effort) or self._has_efforts:
            self._has_efforts = True
            self._efforts[target] = effort if len(effort) else math.nan
        self.counts.accepted += 1
        if self._unseen:
            self._unseen.difference_update(self._target.tolist())
        if self._unseen:
            self.counts.incomplete += 1
            return None
        self.last = self._state()
        return self.last

    def _state(self) -> AssembledState:
        known = _is_finite(self._velocities)
        return AssembledState(
            self._positions.copy(),
            self._velocities.copy() if known else None,
            self._efforts.copy() if self._has_efforts else None,
        )

    def values_of(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """(3, K): the newest positions, velocities and efforts of some joints, by their places in
        `joint_names`; NaN where not known.
        """
        return np.stack((self._positions[rows], self._velocities[rows], self._efforts[rows]))


def _is_finite(values: Array) -> bool:
    """Returns whether all values are finite; their sum of squares nearly always decides, several
    times faster than np.isfinite.
    """
    return math.isfinite(values.dot(values)) or bool(np.isfinite(values).all())
