# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robot's joint positions at the instant of an image."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.stamps import StampGuard, Verdict
from frame_ros.core.time import SECOND
from frame_ros.core.turns import continuous_among, nearest_turn
from frame_ros.robots import JointStateAssembler

Array = NDArray[np.float64]


class JointsAt(NamedTuple):
    """Joint positions at a stamp.

    Attributes:
        positions: (M,) rad or m at the stamp, or None.
        is_waiting: a joint state at or after the stamp has not come yet, so retrying may help.
        unavailable: why there are none.
    """

    positions: Array | None
    is_waiting: bool = False
    unavailable: str = ''


class JointHistory:
    """The newest joint states, interpolated linearly between two of them; joints that turn without
    end go the short way.

    They may come in parts, arm and gripper in messages of their own. Every part is judged by its
    own stamps: one that goes on does not refresh another that has fallen silent.

    Attributes:
        joint_names: the joints (M), in the order of the positions given.
        problem: what is wrong with the last message, in words.
        dropped: messages not used.
    """

    def __init__(
        self,
        joint_names: Sequence[str],
        assumed: Mapping[str, float],
        length: float,
        age: float,
        gap: float,
        continuous: Collection[str] = (),
    ) -> None:
        """Keeps states for `length` s.

        Args:
            assumed: positions of joints until a message has them.
            age: s by which the newest state may be older than the requested stamp when waiting
                ends; for a part that comes less often, and not half as often as another, one and a
                half of its periods, but not more than `gap`.
            gap: s between two states above which nothing is interpolated.
            continuous: joints that turn without end.
        """
        self._assumed = dict(assumed)
        self.joint_names = tuple(joint_names)
        self._is_continuous = continuous_among(self.joint_names, continuous)
        self._length, self._age, self._gap = (int(s * SECOND) for s in (length, age, gap))
        self.problem = ''
        self.dropped = 0
        self._names: tuple[str, ...] = ()
        self._found: tuple[tuple[int, ...], NDArray[np.intp]] = ((), np.empty(0, np.intp))
        self._forget()

    def _forget(self) -> None:
        self._assembler = JointStateAssembler(self.joint_names)
        if self._assumed:
            self._assembler.update(tuple(self._assumed), list(self._assumed.values()))
        self._parts: dict[tuple[int, ...], _Part] = {}

    @property
    def newest(self) -> tuple[int, Array] | None:
        """The newest stamp (ns) and positions (M,), once there are some of all joints. Those of a
        part may be older: see `at`.
        """
        last = self._assembler.last
        if last is None or not self._parts:
            return None
        return max(part.stamps[-1] for part in self._parts.values()), last.positions

    def add(self, stamp: int, names: Sequence[str], positions: Array) -> None:
        """Takes a message: stamp in ns, positions in rad or m."""
        if stamp <= 0:
            self._drop('a joint state has no header.stamp, the time of measurement')
            return
        key, columns = self._places(tuple(names))
        part = self._parts.get(key)
        verdict = Verdict.USE if part is None else part.guard.check(stamp)
        if verdict is Verdict.DROP:
            return
        if verdict is Verdict.RESET:
            self._forget()  # what came before is of another clock
            part = None
        before = self._assembler.counts.rejected
        self._assembler.update(names, positions)
        if self._assembler.counts.rejected > before:
            self._drop(self._assembler.problem)
            return
        if part is None:
            part = self._parts[key] = _Part(key, self._gap, self._is_continuous)
            part.guard.check(stamp)
        missing = self._assembler.missing
        self.problem = f'no joint state has had {", ".join(missing)} yet' if missing else ''
        part.add(stamp, positions[columns], self._length)

    def _places(self, names: tuple[str, ...]) -> tuple[tuple[int, ...], NDArray[np.intp]]:
        """Returns the joints of a message among ours, and their places in it."""
        if names != self._names:
            index = {name: column for column, name in enumerate(names)}
            found = [(r, index[n]) for r, n in enumerate(self.joint_names) if n in index]
            self._names = names
            self._found = (
                tuple(row for row, _ in found),
                np.array([column for _, column in found], np.intp),
            )
        return self._found

    def _drop(self, why: str) -> None:
        self.problem = why
        self.dropped += 1

    def at(self, stamp: int) -> JointsAt:
        """Returns the joints at a stamp (ns). While `is_waiting`, the positions are those of the
        newest state if it is recent enough: the result if waiting ends.
        """
        if self._assembler.missing or not self._parts:
            return JointsAt(None, True, self.problem or 'no joint state has come')
        # Of parts that share a joint the newest holds.
        parts = sorted(self._parts.values(), key=lambda part: part.stamps[-1])
        owners = {row: part for part in parts for row in part.rows.tolist()}
        parts = [part for part in parts if part in owners.values()]
        often = min(part.period for part in parts)
        positions = np.array([self._assumed.get(name, np.nan) for name in self.joint_names])
        is_waiting = False
        for part in parts:
            is_slow = part.period > self._age and part.period > 2 * often
            age = max(self._age, min(self._gap, part.period * 3 // 2)) if is_slow else self._age
            found = part.at(stamp, age)
            if found.positions is None:
                why = f'{found.unavailable}: {self.problem}' if self.problem else found.unavailable
                return found._replace(unavailable=why)
            positions[part.rows] = found.positions
            is_waiting = is_waiting or (found.is_waiting and not is_slow)
        return JointsAt(positions, is_waiting)


class _Part:
    """The states of messages with the same joints.

    Args:
        rows: (K,) of the joints, among all.
        is_continuous: of all joints, whether each turns without end.

    Attributes:
        period: ns between the last two, 0 of a single one.
    """

    def __init__(self, rows: Sequence[int], gap: int, is_continuous: NDArray[np.bool_]) -> None:
        self.rows: NDArray[np.intp] = np.array(rows, np.intp)
        self._is_continuous = is_continuous[self.rows]
        self.guard = StampGuard(gap / SECOND)
        self._gap, self.period = gap, 0
        self.stamps: list[int] = []
        self._positions: list[Array] = []

    def add(self, stamp: int, positions: Array, length: int) -> None:
        """positions: (K,); length: ns that are kept."""
        if self.stamps:
            self.period = stamp - self.stamps[-1]
        self.stamps.append(stamp)
        self._positions.append(positions)
        if self.stamps[0] < stamp - 2 * length:
            keep = bisect_left(self.stamps, stamp - length)
            del self.stamps[:keep], self._positions[:keep]

    def at(self, stamp: int, age: int) -> JointsAt:
        """Returns its joints (K,) at a stamp; age: ns by which the newest may be older."""
        row = bisect_left(self.stamps, stamp)
        if row == len(self.stamps):
            return self._newest_at(stamp, age)
        after = self.stamps[row]
        if after == stamp:
            return JointsAt(self._positions[row])
        if row == 0:
            late = (after - stamp) / SECOND
            return JointsAt(None, False, f'joint states begin {late:.3f} s after the image')
        before = self.stamps[row - 1]
        if after - before > self._gap:
            return JointsAt(
                None, False, f'joint states have a gap of {(after - before) / SECOND:.3f} s there'
            )
        share = (stamp - before) / (after - before)
        earlier = self._positions[row - 1]
        step = nearest_turn(self._positions[row] - earlier, 0.0, self._is_continuous)
        return JointsAt(earlier + share * step)

    def _newest_at(self, stamp: int, age: int) -> JointsAt:
        """Returns the newest state for a little while, without extrapolation, then nothing."""
        late = stamp - self.stamps[-1]
        if late <= age:
            return JointsAt(self._positions[-1], True)
        return JointsAt(None, True, f'joint states are {late / SECOND:.3f} s older than the image')
