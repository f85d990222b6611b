# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joint states and joint commands, in any order and in parts, as arrays in one order."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots.joint_state_merge import FullJointState

Array = NDArray[np.float64]


class JointSample(NamedTuple):
    """Values of J joints."""

    positions: Array  # (J,) rad or m
    velocities: Array | None  # (J,) per s; None if unknown for a joint
    efforts: Array  # (J,) as received, NaN where missing


class _Places(NamedTuple):
    """Positions of the wanted joints in the message, and their indices here."""

    source: NDArray[np.intp]
    target: NDArray[np.intp]
    joints: frozenset[str]
    problem: str


NOTHING: frozenset[str] = frozenset()
SHOWN, LONGEST = 3, 40  # names of a message in an error, and characters of each


class JointRows(NamedTuple):
    """Some of the joints, in their own order."""

    rows: NDArray[np.intp]  # their indices
    joints: frozenset[str]  # their names


class JointArrays:
    """Keeps the newest values of each wanted joint.

    Attributes:
        counts: unusable messages, by reason.
        problem: why the last message was unusable, in words; '' if it was not.
    """

    def __init__(self, joint_names: Sequence[str]) -> None:
        self.joint_names = tuple(joint_names)
        size = len(self.joint_names)
        self._positions = np.full(size, np.nan)
        self._velocities = np.full(size, np.nan)
        self._efforts = np.full(size, np.nan)
        self._stamps = np.zeros(size, dtype=np.int64)
        self._places: dict[tuple[str, ...], _Places] = {}
        self.counts = dict.fromkeys(('wrong_length', 'non_finite', 'unknown_joints_only'), 0)
        self.problem = ''

    def forget(self) -> None:
        """Forgets all values."""
        for values in (self._positions, self._velocities, self._efforts):
            values[:] = np.nan
        self._stamps[:] = 0

    def positions(self, wanted: JointRows) -> Array:
        """Returns (K,) rad or m, NaN where unknown."""
        return self._positions[wanted.rows]

    def positions_of_last(self, wanted: JointRows, stamp: int, age: int) -> Array:
        """Returns (K,) rad or m, NaN where unknown, or not within `age` ns of the stamp."""
        is_of = np.abs(stamp - self._stamps[wanted.rows]) <= age
        return np.where(is_of, self._positions[wanted.rows], np.nan)

    def oldest(self, wanted: JointRows) -> int:
        """Returns the oldest stamp of these joints, ns; 0 while one is unknown."""
        return min(self._stamps[wanted.rows].tolist())

    def missing_of(self, wanted: JointRows) -> tuple[str, ...]:
        """Returns those without a position."""
        if _is_finite(self._positions[wanted.rows]):
            return ()
        return tuple(n for n in self.joint_names if n in wanted.joints and self._is_unknown(n))

    def _is_unknown(self, joint: str) -> bool:
        return not isfinite(self.position_of(joint))

    def position_of(self, joint: str) -> float:
        """Returns rad or m; NaN if unknown."""
        if joint not in self.joint_names:
            return float('nan')
        return float(self._positions[self.joint_names.index(joint)])

    def rows(self, joint_names: Sequence[str]) -> JointRows:
        """Returns these joints in this order for `sample`; all must be among `joint_names`."""
        rows = np.array([self.joint_names.index(name) for name in joint_names], dtype=np.intp)
        return JointRows(rows, frozenset(joint_names))

    def take(self, state: FullJointState) -> frozenset[str]:
        """Takes one message; returns its joints, none if it cannot be used."""
        places = self._places.get(state.names) or self._learn(state.names)
        size = len(state.names)
        lengths = (len(state.positions), len(state.velocities), len(state.efforts))
        if places.problem or lengths[0] != size or any(n not in (0, size) for n in lengths[1:]):
            return self._refuse(
                'wrong_length',
                places.problem
                or f'{size} joint names with {lengths} positions, velocities, efforts',
            )
        if not len(places.target):
            wanted, came = ', '.join(self.joint_names), shortened(state.names)
            return self._refuse(
                'unknown_joints_only', f'none of the joints {wanted} in a message with {came}'
            )
        positions = state.positions[places.source]
        if not _is_finite(positions):
            bad = [self.joint_names[i] for i in places.target[~np.isfinite(positions)]]
            return self._refuse('non_finite', f'positions not finite: {", ".join(bad)}')
        self.problem = ''
        self._positions[places.target] = positions
        self._stamps[places.target] = state.stamp
        for kept, values in ((self._velocities, state.velocities), (self._efforts, state.efforts)):
            kept[places.target] = values[places.source] if len(values) else np.nan
        return places.joints

    def sample(self, wanted: JointRows) -> JointSample | None:
        """Returns the newest values in fresh arrays; None while a position is unknown."""
        rows = wanted.rows
        positions = self._positions[rows]
        if not _is_finite(positions):
            return None
        velocities = self._velocities[rows]
        known = _is_finite(velocities)
        return JointSample(positions, velocities if known else None, self._efforts[rows])

    def _refuse(self, kind: str, problem: str) -> frozenset[str]:
        self.counts[kind] += 1
        self.problem = problem
        return NOTHING

    def _learn(self, names: tuple[str, ...]) -> _Places:
        index = {name: i for i, name in enumerate(names)}
        wanted = [(index[n], i) for i, n in enumerate(self.joint_names) if n in index]
        twice = sorted({name for name in names if names.count(name) > 1})
        problem = f'joints named more than once: {", ".join(twice)}' if twice else ''
        if len(self._places) > 64:  # names that change at every message are not worth keeping
            self._places.clear()
        self._places[names] = _Places(
            np.array([s for s, _ in wanted], dtype=np.intp),
            np.array([t for _, t in wanted], dtype=np.intp),
            frozenset(names).intersection(self.joint_names),
            problem,
        )
        return self._places[names]


def shortened(names: Sequence[str]) -> str:
    """Returns the first names of a message, to show how they differ."""
    more = f' and {len(names) - SHOWN} more' if len(names) > SHOWN else ''
    shown = (name if len(name) <= LONGEST else f'{name[:LONGEST]}...' for name in names[:SHOWN])
    return (', '.join(shown) or 'no joint') + more


def _is_finite(values: Array) -> bool:
    """Returns whether all values are finite, by their sum of squares."""
    return isfinite(values.dot(values))
