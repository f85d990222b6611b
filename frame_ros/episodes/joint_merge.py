# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joint states of one topic merged by joint name, whoever publishes them: arm and gripper, an arm
in two halves, names in changing order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from frame_ros.episodes.stamps import SECOND, StampGuard, Verdict
from frame_ros.robots import AssembledState, JointStateAssembler

# s between the oldest and the newest position of one merged state.
MAX_JOINT_AGE = 0.5
# A part that comes this much more seldom than the most frequent one is not waited for.
SELDOM = 2

MOST_KEYS = 1024  # lists of names that are known; nobody has more


@dataclass
class _Part:
    """Messages with the same joints, in whatever order. stamp: ns, of the newest; period: ns.
    is_new: whether it has come since the last state was given.
    """

    guard: StampGuard
    stamp: int = 0
    period: int = 0
    is_new: bool = False


class JointMerger:
    """Complete states of some joints, from messages that have all or a part of them.

    Each set of joints has stamps of its own, which must increase. A state is given as soon as every
    part has come once more: a part that moved while another stood still would make a staircase of
    an even motion. Its stamp is the oldest of theirs, and the other parts are newer, by a period at
    most where all come equally often. Parts that come half as often as the most frequent one or
    less are not waited for but held. No state is given while a position is older than `max_age`.

    Attributes:
        stamp: ns, that of the last state given.
        is_reset: whether the clock was set anew with the last message.
        problem: why the last message gave no state, in words; '' if it did, or waits for others.
        kind: of the problem: 'values', 'stamp' or 'age'.
        waiting: messages that were used but gave no state: of parts that others were waited for.
        stale: messages that gave no state because a joint was too old.
    """

    def __init__(self, joint_names: Sequence[str], max_age: float = MAX_JOINT_AGE) -> None:
        """`max_age` in s. Raises RobotError for joint names that cannot be."""
        self._assembler = JointStateAssembler(joint_names)
        self._max_age = int(max_age * SECOND)
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
        self.waiting = self.stale = 0

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
        """How many messages were not used, gave no state, or were odd, by why."""
        counts = self._assembler.counts
        found = {
            'incomplete': counts.incomplete,
            'unknown_joints_only': counts.unknown_only,
            'wrong_length': counts.wrong_length,
            'non_finite': counts.non_finite,
            'non_finite_velocity': counts.non_finite_velocity,
            'stale': self.stale,
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
    ) -> AssembledState | None:
        """Takes one message; the state that it completes, stamped `self.stamp`, or None.

        stamp: ns. names: K joints. positions: (K,) rad or m. velocities: (K,) per s, or empty.
        """
        self.is_reset = False
        part = self._part
        if part is None or names != self._names:
            part = self._find_part(names)
        values = self._assembler.read(names, positions, velocities)
        if values is None:
            # Once all joints are heard of, whoever else shares the topic does no harm.
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
        part.period = stamp - part.stamp if part.stamp else 0
        part.stamp = stamp
        part.is_new = True
        self.problem = ''
        if len(self._parts) > 1:
            return self._merged(names, part, state)
        if state is not None:
            self.stamp = stamp
        return state

    def _merged(
        self, names: Sequence[str], part: _Part, state: AssembledState | None
    ) -> AssembledState | None:
        """The state of several parts, once all that are waited for have come up to it."""
        for name in self._keys[tuple(names)]:
            self._owners[name] = part
        if state is None:
            return None
        owners = list({id(owner): owner for owner in self._owners.values()}.values())
        newest = max(owner.stamp for owner in owners)
        oldest = min(owners, key=lambda owner: owner.stamp)
        if newest - oldest.stamp > self._max_age:
            self.stale += 1
            old = [name for name, owner in self._owners.items() if owner is oldest]
            age = (newest - oldest.stamp) / SECOND
            self.kind = 'age'
            self.problem = f'{", ".join(sorted(old))} were not heard of for {age:.3f} s'
            return None
        often = min(owner.period for owner in owners)
        awaited = [o for o in owners if not (often and o.period >= SELDOM * often)]
        reached = min(o.stamp for o in awaited)
        if reached <= self.stamp or not all(o.is_new for o in awaited):
            self.waiting += 1
            return None
        self.stamp = reached
        for owner in owners:
            owner.is_new = False
        return state

    def _find_part(self, names: Sequence[str]) -> _Part:
        """The part of messages with these names."""
        key = tuple(names)
        if key not in self._keys:
            if len(self._keys) > MOST_KEYS:
                self._keys.clear()
            self._keys[key] = frozenset(key).intersection(self._assembler.joint_names)
        joints = self._keys[key]
        part = self._parts.get(joints) if joints else self._foreign
        if part is None:
            part = self._parts[joints] = _Part(StampGuard())
            self._owners.update({n: part for n in joints if n not in self._owners})
        self._names, self._part = list(names) if isinstance(names, list) else key, part
        return part

    def _restart(self, part: _Part) -> None:
        """The clock was set anew: what came before is of another time."""
        self.is_reset = True
        self.stamp = 0
        for other in self._parts.values():
            other.stamp = other.period = 0
            other.is_new = False
            if other is not part:
                other.guard.last = None  # its next message is of the new clock, too
        self._owners = {name: part for name, owner in self._owners.items() if owner is part}
        self._assembler.forget()

    def _why_dropped(self, part: _Part, stamp: int) -> str:
        if stamp <= 0:
            return 'a joint state without header.stamp, the time of measurement'
        return f'a joint state {(stamp - (part.guard.last or 0)) / SECOND:+.6f} s after the last'
