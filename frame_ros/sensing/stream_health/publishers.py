# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Several publishers of one topic, whose messages would be taken for those of one sensor.

Parts of a robot, such as arm and gripper, may be published by several: their joints differ. What
has the same stamp and values as the other's is a relay of it. Others are compared: as long as it is
not known whether they agree, and where they do not, the topic cannot be used.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.health import Level, Status
from frame_ros.core.time import SECOND
from frame_ros.core.turns import continuous_among, nearest_turn

Array = NDArray[np.float64]
HEARD = SECOND // 2  # ns of arrivals for which a publisher counts as there
DOUBTED = 2 * SECOND  # ns, likewise of one that contradicted another
PAIRS = 8  # messages compared until two count as agreeing
APART = 3.0  # times the step from message to message by which two publishers may differ
SHARE = 0.25  # of a pair in the running means of both
BACKWARD = 3  # times that stamps go back behind the other's
DIFFERENT = 3  # images with other stamps
RENEWED = SECOND  # ns after which publishers are named again
RECENT = 64  # messages of a publisher that are kept
MOST = 16  # publishers of a topic that are kept
JOINT_DIFFERENCE = 0.004  # rad (m) that two reads of one joint may differ, as of `motion.MOVED`
WRENCH_DIFFERENCE = 0.05  # N (N m)
AXES = ('force x', 'force y', 'force z', 'torque x', 'torque y', 'torque z')
NOTHING = np.zeros(0)


@dataclass(eq=False)
class _Source:
    """One publisher's messages of the same names. heard: ns, arrival of the newest. recent: its
    last stamps, with their values.
    """

    publisher: Hashable
    names: tuple[str, ...]
    frame: str = ''
    heard: int = -HEARD - 1
    stamp: int = 0
    values: Array = field(default_factory=lambda: NOTHING)
    before: Array = field(default_factory=lambda: NOTHING)
    recent: dict[int, Array] = field(default_factory=dict)

    def take(self, arrival: int, stamp: int, frame: str, values: Array) -> None:
        """Takes a message."""
        self.heard, self.frame, self.stamp = arrival, frame, stamp
        self.before, self.values = self.values, values
        self.recent[stamp] = values
        if len(self.recent) > RECENT:
            del self.recent[next(iter(self.recent))]

    def has_sent(self, stamp: int, values: Array) -> bool:
        """Returns whether a message with this stamp and these values was one of its."""
        found = self.recent.get(stamp)
        return found is not None and found.tobytes() == values.tobytes()


@dataclass(eq=False)
class _Pair:
    """Two publishers whose messages interleave.

    Attributes:
        rows: of each, by its id, the places of the names that both have.
        is_continuous: whether each of these is a joint that turns without end.
        difference, step: means, of the values of both, and from message to message.
        count: pairs of messages that were compared. backward: of these, with stamps that go back.
        is_relayed: whether one has sent what the other had. why: how they differ; '': not, so far.
    """

    rows: dict[int, list[int]]
    is_continuous: NDArray[np.bool_]
    difference: float = 0.0
    step: float = 0.0
    count: int = 0
    backward: int = 0
    is_relayed: bool = False
    why: str = ''

    @property
    def problem(self) -> str:
        """Describes why neither can be used; '': both can."""
        is_known = self.is_relayed or self.count >= PAIRS
        return self.why or ('' if is_known else 'which are being compared')

    def add(self, stamp: int, new: Array, mine: _Source, theirs: _Source, least: float) -> None:
        """Takes a message, behind one of the other."""
        first, second = self.rows[id(mine)], self.rows[id(theirs)]
        self.count += 1
        share = max(SHARE, 1.0 / self.count)
        steps = (
            self._apart(values[rows], before[rows])
            for values, before, rows in (
                (new, mine.values, first), (theirs.values, theirs.before, second)
            )
            if len(before)
        )  # fmt: skip
        self.step += share * (max(steps, default=0.0) - self.step)
        apart = self._apart(new[first], theirs.values[second])
        self.difference += share * (apart - self.difference)
        if self.count > 1 and self.difference > APART * self.step + least:
            self.why = f'whose values alternate by {self.difference:.3g}'
        self.backward += stamp < theirs.stamp
        if not self.why and self.backward >= BACKWARD and not self.is_relayed:
            back = (theirs.stamp - stamp) / SECOND
            self.why = f'whose stamps go back and forth, by {back:.3g} s'

    def _apart(self, values: Array, others: Array) -> float:
        return _size(nearest_turn(values - others, 0.0, self.is_continuous))

    def add_other_stamp(self) -> None:
        """Takes a message without values, behind one of the other with another stamp."""
        self.count += 1
        if self.count >= DIFFERENT:
            self.why = 'with different stamps'


class TopicPublishers:
    """The publishers of one topic; takes every message in the order of arrival."""

    def __init__(self, least: float, continuous: Collection[str] = ()) -> None:
        """least: difference of values below which publishers agree in any case. continuous: names
        of joints that turn without end.
        """
        self._least, self._continuous = least, continuous
        self._sources: dict[tuple[Hashable, tuple[str, ...]], _Source] = {}
        self._pairs: dict[frozenset[_Source], _Pair] = {}
        # The problem and the warning, when they were made (ns of arrivals), and of what problem.
        self._words, self._worded, self._why = ('', ''), 0, ''

    @property
    def problem(self) -> str:
        """Tells why its messages cannot be used; '': they can."""
        return self._words[0]

    @property
    def warning(self) -> str:
        """Names the publishers whose messages interleave; '': none do."""
        return self._words[1]

    def add(
        self,
        publisher: Hashable,
        arrival: int,
        stamp: int,
        frame: str,
        names: tuple[str, ...],
        values: Array,
    ) -> None:
        """Takes a message.

        Args:
            publisher: names its node as a string.
            arrival, stamp: ns.
            frame: header.frame_id, '' where it says nothing.
            names: of the values; of images one, without values.
            values: (K,) or none.
        """
        mine = self._sources.get((publisher, names))
        if mine is None:
            while len(self._sources) >= MOST:
                self._drop(next(iter(self._sources)))
            mine = self._sources[publisher, names] = _Source(publisher, names)
        if len(self._sources) > 1:
            self._forget(arrival, mine)
            for theirs in self._sources.values():
                if theirs.publisher != publisher:
                    self._compare(mine, theirs, stamp, frame, values)
            self._describe(arrival)
        mine.take(arrival, stamp, frame, values)

    def _forget(self, arrival: int, mine: _Source) -> None:
        """Forgets publishers that have fallen silent."""
        doubted = {each for both, pair in self._pairs.items() if pair.why for each in both}
        old = [
            key
            for key, each in self._sources.items()
            if each is not mine
            and not -HEARD < arrival - each.heard <= (DOUBTED if each in doubted else HEARD)
        ]
        for key in old:
            self._drop(key)

    def _drop(self, key: tuple[Hashable, tuple[str, ...]]) -> None:
        gone = self._sources.pop(key)
        self._pairs = {both: pair for both, pair in self._pairs.items() if gone not in both}

    def _compare(
        self, mine: _Source, theirs: _Source, stamp: int, frame: str, values: Array
    ) -> None:
        if theirs.heard < mine.heard:
            return  # it was compared with the one before
        both = frozenset((mine, theirs))
        pair = self._pairs.get(both)
        if pair is None:
            if not (shared := [n for n in mine.names if n in theirs.names]):
                return
            rows = {id(each): [each.names.index(n) for n in shared] for each in both}
            pair = self._pairs[both] = _Pair(rows, continuous_among(shared, self._continuous))
        if pair.why:
            return
        if frame != theirs.frame:
            pair.why = f'in the frames {theirs.frame!r} and {frame!r}'
        elif theirs.has_sent(stamp, values) or mine.has_sent(theirs.stamp, theirs.values):
            pair.is_relayed = True
        elif len(values):
            pair.add(stamp, values, mine, theirs, self._least)
        elif not pair.is_relayed:
            pair.add_other_stamp()

    def _describe(self, arrival: int) -> None:
        problems = [each.problem for each in self._pairs.values()]
        why = next(filter(None, problems), '')
        is_known = bool(self._words[1]) == bool(self._pairs) and why == self._why
        if is_known and 0 <= arrival - self._worded < RENEWED:
            return
        self._worded, self._why = arrival, why
        if not self._pairs:
            self._words = ('', '')
            return
        names = sorted({str(each.publisher) for both in self._pairs for each in both})
        text = f'comes from {" and ".join(names)}'
        if len(names) == 1:
            text = f'comes from two publishers of {names[0]}'
        self._words = (f'{text}, {why}' if why else '', f'{text}, whose messages agree')


def _size(values: Array) -> float:
    found = np.sqrt(values @ values)
    return float(found) if np.isfinite(found) else 0.0


class PublisherCheck:
    """The publishers of all topics of one robot that are judged."""

    def __init__(self, continuous: Collection[str] = ()) -> None:
        """continuous: joints of the robot that turn without end."""
        self._continuous = continuous
        self._topics: dict[str, TopicPublishers] = {}

    def _of(self, name: str, least: float) -> TopicPublishers:
        found = self._topics.get(name)
        if found is None:
            found = self._topics[name] = TopicPublishers(least, self._continuous)
        return found

    def joints(
        self, name: str, publisher: Hashable, arrival: int, stamp: int, names: Sequence[str],
        positions: Array,
    ) -> None:  # fmt: skip
        """Takes positions (K,) of joints, as many as names."""
        if len(positions) == len(names):
            topic = self._of(name, JOINT_DIFFERENCE)
            topic.add(publisher, arrival, stamp, '', tuple(names), positions)

    def wrench(
        self, name: str, publisher: Hashable, arrival: int, stamp: int, frame: str,
        values: Sequence[float],
    ) -> None:  # fmt: skip
        """Takes a wrench: 6 values, N and N m."""
        topic = self._of(name, WRENCH_DIFFERENCE)
        topic.add(publisher, arrival, stamp, frame, AXES, np.asarray(values, np.float64))

    def image(self, name: str, publisher: Hashable, arrival: int, stamp: int, frame: str) -> None:
        """Takes when an image was taken, and its frame."""
        self._of(name, 0.0).add(publisher, arrival, stamp, frame, ('image',), NOTHING)

    def problem(self, name: str) -> str:
        """Returns why a topic's messages cannot be used; '': they can."""
        found = self._topics.get(name)
        return found.problem if found is not None else ''

    @property
    def warnings(self) -> tuple[str, ...]:
        """Of topics with several publishers that agree."""
        found = ((n, t) for n, t in self._topics.items() if t.warning and not t.problem)
        return tuple(f'{name} {topic.warning}' for name, topic in found)

    def statuses(self) -> list[Status]:
        """One of each topic with several publishers, for diagnostics."""
        return [
            Status(f'publishers of {name}', Level.WARN, topic.problem or topic.warning)
            for name, topic in self._topics.items()
            if topic.warning
        ]
