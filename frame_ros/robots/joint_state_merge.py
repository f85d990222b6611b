# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Merges one topic's joint states by joint name, from any publishers: arm and gripper, two halves
of an arm, names in changing order.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.stamps import StampGuard, Verdict
from frame_ros.core.time import SECOND
from frame_ros.core.turns import continuous_among, nearest_turn
from frame_ros.robots import AssembledState, JointStateAssembler


class FullJointState(NamedTuple):
    """A joint state as received; arrays that are absent are empty."""

    stamp: int  # ns
    names: tuple[str, ...]
    positions: NDArray[np.float64]
    velocities: NDArray[np.float64]
    efforts: NDArray[np.float64]


Array = NDArray[np.float64]

# s between the oldest and the newest sample of one merged state.
MAX_JOINT_AGE = 0.5
# A part that comes less often than the most frequent one by this factor is not waited for.
SELDOM = 2

MOST_KEYS = 1024  # lists of names that are known; nobody has more
MOST_GAPS = 5  # between messages of a part, of which its period is the median
HISTORY = 4096  # newest samples of each part: several seconds by which another part may be late


@dataclass(eq=False)
class _Part:
    """Messages with the same joints, in any order.

    Attributes:
        rows: places of the joints.
        stamp: ns, of the newest.
        gaps: ns, between the newest.
        period: ns, their median, so that one pause does not make a part rare.
        is_new: whether it has come since the last state was given.
        history: stamps and (3, K) positions, velocities and efforts, oldest first.
    """

    guard: StampGuard
    rows: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))
    stamp: int = 0
    period: int = 0
    gaps: deque[int] = field(default_factory=lambda: deque(maxlen=MOST_GAPS))
    is_new: bool = False
    history: deque[tuple[int, Array]] = field(default_factory=lambda: deque(maxlen=HISTORY))

    def note(self, stamp: int) -> None:
        """Notes a message."""
        if self.stamp:
            self.gaps.append(stamp - self.stamp)
            self.period = sorted(self.gaps)[len(self.gaps) // 2]
        self.stamp = stamp

    def around(self, stamp: int) -> tuple[tuple[int, Array], tuple[int, Array]] | None:
        """Returns the samples before and after a stamp, twice the same if one has it or none is
        after it; None if none is before it.
        """
        before = None
        for sample in self.history:
            if sample[0] > stamp:
                return (
                    None if before is None else (before, before if before[0] == stamp else sample)
                )
            before = sample
        return None if before is None else (before, before)

    def forget_before(self, stamp: int) -> None:
        """Drops the samples that no later stamp needs."""
        while len(self.history) > 1 and self.history[1][0] <= stamp:
            self.history.popleft()


def _between(
    before: tuple[int, Array],
    after: tuple[int, Array],
    stamp: int,
    is_continuous: NDArray[np.bool_],
) -> Array:
    """Interpolates linearly between two samples; joints that turn without end go the short way, in
    the turn of the nearer sample.
    """
    (start, first), (end, last) = before, after
    with np.errstate(invalid='ignore'):  # an effort may be infinite twice
        step = last - first
    step[0] = nearest_turn(step[0], 0.0, is_continuous)
    # Of a joint not known to turn without end: it is at no place between the two.
    step[0, np.abs(step[0]) > math.pi] = 0.0
    share = (stamp - start) / (end - start)
    found = first + share * step
    found[0] = nearest_turn(found[0], (first if share < 0.5 else last)[0], is_continuous)
    return found


class JointMerger:
    """Complete states of some joints, from messages that have all or some of them.

    Each set of joints has its own stamps, which must increase. A state is given as soon as every
    part has come again: a part that moved while another stood still would turn a smooth motion into
    a staircase. Its stamp is the oldest of the parts' newest. The other parts have reached it and
    gone beyond, so their values at this stamp lie between two known samples: the parts of a state
    are all of one time, without further waiting. Until a part has a sample before the stamp no
    state is given.

    Parts that come half as often as the most frequent one or less are held instead of waited for:
    their newest sample at or before the stamp is taken. With `is_held` all parts are, like
    commands, which hold until the next one; parts of which fewer joints are the newest than of the
    largest, and parts that have ended, are not waited for. No state is given from samples further
    apart, or further before the newest, than `max_age`.

    Attributes:
        stamp: ns, of the last state given.
        is_reset: whether the clock was reset with the last message.
        problem: why the last message gave no state, in words; '' if it did, or waits for others.
        kind: of the problem: 'values', 'stamp' or 'age'.
        waiting: messages that were used but gave no state yet.
        interpolated: states of which a part lies between two samples.
        held: states of which a part is older than the state, by `max_age` at most.
        stale: messages that gave no state because a joint was too old.
    """

    def __init__(
        self,
        joint_names: Sequence[str],
        max_age: float = MAX_JOINT_AGE,
        is_held: bool = False,
        continuous: Collection[str] = (),
    ) -> None:
        """Takes `max_age` in s, may be infinite, and the joints that turn without end, as of the
        robot; raises RobotError for impossible joint names.
        """
        self._assembler = JointStateAssembler(joint_names)
        self._is_continuous = continuous_among(joint_names, continuous)
        self._max_age = max_age * SECOND
        self._is_held = is_held
        self._parts: dict[frozenset[str], _Part] = {}
        self._keys: dict[tuple[str, ...], frozenset[str]] = {}
        self._owners: dict[str, _Part] = {}
        self._names: Sequence[str] = ()
        self._part: _Part | None = None
        # Messages with none of the joints, as of another arm on the same topic.
        self._foreign = _Part(StampGuard())
        self.stamp = 0
        self.is_reset = False
        self.problem = self.kind = ''
        self.waiting = self.stale = self.interpolated = self.held = 0

    @property
    def missing(self) -> tuple[str, ...]:
        """The joints not seen yet."""
        return self._assembler.missing

    @property
    def accepted(self) -> int:
        """Messages whose values were taken."""
        return self._assembler.counts.accepted

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of messages that were unused, gave no state or were odd, by reason."""
        counts = self._assembler.counts
        found = {
            'incomplete': counts.incomplete,
            'unknown_joints_only': counts.unknown_only,
            'wrong_length': counts.wrong_length,
            'non_finite': counts.non_finite,
            'non_finite_velocity': counts.non_finite_velocity,
            'stale': self.stale,
            'interpolated': self.interpolated,
            'held': self.held,
        }
        guards = [part.guard for part in self._parts.values()] or [StampGuard()]
        for why in guards[0].counts:
            found[f'stamp_{why}'] = sum(guard.counts[why] for guard in guards)
        return found

    def update(
        self,
        stamp: int,
        names: Sequence[str],
        positions: ArrayLike,
        velocities: ArrayLike = (),
        efforts: ArrayLike = (),
    ) -> AssembledState | None:
        """Takes one message; returns the state that it completes, stamped `self.stamp`, or None.

        Args:
            stamp: ns.
            names: K joints.
            positions: (K,) rad or m.
            velocities: (K,) per s, or empty.
            efforts: (K,), or empty.
        """
        self.is_reset = False
        part = self._part
        if part is None or names != self._names:
            part = self._find_part(names)
        values = self._assembler.read(names, positions, velocities, efforts)
        if values is None:
            # Once all joints are known, others that share the topic do no harm.
            is_harmless = part is self._foreign and not self.missing
            self.problem = '' if is_harmless else self._assembler.problem
            self.kind = 'values'
            return None
        verdict = part.guard.check(stamp)
        if verdict is Verdict.DROP:
            self.problem, self.kind = self._why_dropped(part, stamp), 'stamp'
            return None
        if verdict is Verdict.RESET:
            self._restart(part)
        state = self._assembler.store(*values)
        part.note(stamp)
        part.is_new = True
        self.problem = ''
        if len(self._parts) > 1 or state is None:
            part.history.append((stamp, self._assembler.values_of(part.rows)))
        if len(self._parts) > 1:
            return self._merged(names, part, state)
        if state is not None:
            self.stamp = stamp
        return state

    def _merged(
        self, names: Sequence[str], part: _Part, state: AssembledState | None
    ) -> AssembledState | None:
        """Returns the state of several parts, once all that are waited for have reached it."""
        for name in self._keys[tuple(names)]:
            self._owners[name] = part
        if state is None:
            return None
        owners = list({id(owner): owner for owner in self._owners.values()}.values())
        newest = max(owner.stamp for owner in owners)
        oldest = min(owners, key=lambda owner: owner.stamp)
        if newest - oldest.stamp > self._max_age:
            self._refuse_old(oldest, newest - oldest.stamp)
            return None
        awaited = self._awaited(owners, newest)
        reached = min(o.stamp for o in awaited)
        if reached <= self.stamp or not all(o.is_new for o in awaited):
            self.waiting += 1
            return None
        for owner in owners:
            owner.is_new = False
        return self._state_at(reached, owners, awaited)

    def _awaited(self, owners: list[_Part], newest: int) -> list[_Part]:
        if self._is_held:
            ended = [o for o in owners if o.period and newest - o.stamp >= SELDOM * o.period]
            owners = [o for o in owners if o not in ended]
            owned = Counter(id(owner) for owner in self._owners.values())
            largest = max(owned[id(o)] for o in owners)
            owners = [o for o in owners if owned[id(o)] == largest]
        # Of one gap alone, as at the start, nobody is the most frequent: it may be jitter.
        often = min((o.period for o in owners if len(o.gaps) > 1), default=0)
        return [o for o in owners if not (often and o.period >= SELDOM * often)]

    def _state_at(
        self, stamp: int, owners: list[_Part], awaited: list[_Part]
    ) -> AssembledState | None:
        """Returns all parts at one stamp; None if one has no value for it."""
        names = self._assembler.joint_names
        values = np.full((3, len(names)), math.nan)
        is_interpolated = is_held = False
        for owner in owners:
            samples = owner.around(stamp)
            if samples is None:
                self.waiting += 1
                return None
            before, after = samples
            if after[0] - before[0] > self._max_age:
                self._refuse_old(owner, after[0] - before[0])
                return None
            is_moving = after[0] > before[0] and owner in awaited and not self._is_held
            is_interpolated |= is_moving
            is_held |= not is_moving and before[0] < stamp
            found = before[1]
            if is_moving:
                found = _between(before, after, stamp, self._is_continuous[owner.rows])
            mine = [i for i, row in enumerate(owner.rows) if self._owners[names[row]] is owner]
            values[:, owner.rows[mine]] = found[:, mine]
        for owner in owners:
            owner.forget_before(stamp)
        self.stamp = stamp
        self.interpolated += is_interpolated
        self.held += is_held
        positions, velocities, efforts = values
        return AssembledState(
            positions,
            velocities if np.isfinite(velocities).all() else None,
            efforts if np.isfinite(efforts).any() else None,
        )

    def _refuse_old(self, part: _Part, age: int) -> None:
        """Counts a state refused because a part was silent for `age` ns."""
        self.stale += 1
        old = sorted(name for name, owner in self._owners.items() if owner is part)
        self.kind = 'age'
        self.problem = f'{", ".join(old)} were not heard of for {age / SECOND:.3f} s'

    def _find_part(self, names: Sequence[str]) -> _Part:
        """Returns the part of messages with these names."""
        key = tuple(names)
        if key not in self._keys:
            if len(self._keys) > MOST_KEYS:
                self._keys.clear()
            self._keys[key] = frozenset(key).intersection(self._assembler.joint_names)
        joints = self._keys[key]
        part = self._parts.get(joints) if joints else self._foreign
        if part is None:
            for other in self._parts.values():  # a part alone keeps no history
                if other.stamp and not other.history:
                    newest = self._assembler.values_of(other.rows)
                    other.history.append((other.stamp, newest))
            names_in_order = self._assembler.joint_names
            rows = np.array([i for i, n in enumerate(names_in_order) if n in joints], np.intp)
            part = self._parts[joints] = _Part(StampGuard(), rows)
            self._owners.update({n: part for n in joints if n not in self._owners})
        self._names, self._part = list(names) if isinstance(names, list) else key, part
        return part

    def _restart(self, part: _Part) -> None:
        """Forgets what came before the clock was reset."""
        self.is_reset = True
        self.stamp = 0
        for other in self._parts.values():
            other.stamp = other.period = 0
            other.gaps.clear()
            other.is_new = False
            other.history.clear()
            if other is not part:
                other.guard.last = None  # its next message is of the new clock, too
        self._owners = {name: part for name, owner in self._owners.items() if owner is part}
        self._assembler.forget()

    def _why_dropped(self, part: _Part, stamp: int) -> str:
        if stamp <= 0:
            return 'a joint state without header.stamp, the time of measurement'
        return f'a joint state {(stamp - (part.guard.last or 0)) / SECOND:+.6f} s after the last'
