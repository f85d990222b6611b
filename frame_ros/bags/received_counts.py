# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Messages of each topic that the metrics node had taken and lost at times in a recording.

They are in its own readiness messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.reader import Bag
from frame_ros.core.time import SECOND, stamp_ns
from frame_ros.sensing.stream_health.readiness import READINESS_PERIOD, READINESS_TYPE

NODE = 'metrics'


@dataclass(frozen=True)
class ReceivedCounts:
    """Counts of one topic, at N times in order.

    Attributes:
        received: (N,) messages since the node was started.
        last: (N,) stamps of the newest of them, ns; of none yet the time at which that was said, or
            just before the first.
        lost: (N,) messages that did not reach the node, or made room for newer ones, since it was
            started.
        recorded: its messages in the bag.
        said: time of the last report, ns: until then the newest is the last of `last`.
    """

    received: NDArray[np.int64]
    last: NDArray[np.int64]
    lost: NDArray[np.int64]
    recorded: int = 0
    said: int = 0

    def lacking(self, stamps: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns (N - 1,) how many more messages the node took between two times than there are
        stamps (T,), ns; less than 0: fewer. Those of before the first that it took are not fewer.
        """
        places = np.searchsorted(np.sort(stamps), self.last, side='right')
        # A stamp is older than the message: none is counted that may belong to what it took first.
        is_begin = self.received[:-1] == 0
        taken = np.diff(self.received) - places[1:] + np.where(is_begin, 0, places[:-1])
        return np.where(is_begin, np.maximum(taken, 0), taken)

    def unheard(
        self, stamps: NDArray[np.int64], received: NDArray[np.int64]
    ) -> list[tuple[int, int, int]]:
        """Returns messages that the node did not take, and did not count as lost: of publishers
        that it was not connected to. Begin and end of a stretch in which it took no newer one, ns,
        and how many, at least.

        stamps, received: (T,) of the recorded ones, in the order in which they came, ns. Where the
        stamps do not increase nothing is known.
        """
        if not np.all(np.diff(stamps) > 0):
            return []
        fewer = -self.lacking(stamps) - np.diff(self.lost)
        places = np.flatnonzero(fewer > 0)
        found = [(int(self.last[i]) + 1, int(self.last[i + 1]), int(fewer[i])) for i in places]
        until = self.said - SECOND  # what comes later may be on its way
        later = stamps[(stamps > self.last[-1]) & (np.maximum(stamps, received) <= until)]
        if len(later):
            found.append((int(later[0]), self.said, len(later)))
        return found


def received_counts(bag: Bag, namespace: str = '') -> dict[str, ReceivedCounts]:
    """Returns topic -> counts of the metrics node of a namespace; empty if not recorded. A
    restarted node counts from its start; of a clock that was set back the counts on it are left.
    """
    rows: dict[str, list[tuple[int, int, int]]] = {}
    taken: dict[str, int] = {}  # as the report before had it
    old: dict[str, int] = {}  # of topics whose newest stamp is of the time before a set-back
    now = 0
    for message in _reports(bag, namespace):
        before, now = now, stamp_ns(message.header.stamp)
        if now < before:
            rows.clear()
            old = {
                each.topic: each.received
                for each in message.inputs
                if each.received == taken.get(each.topic) or stamp_ns(each.last_stamp) > now
            }
        for each in message.inputs:
            found = rows.setdefault(each.topic, [])
            if not each.received or (found and each.received < found[-1][0]):
                found.clear()
            is_known = each.received and each.received != old.get(each.topic)
            last = stamp_ns(each.last_stamp) if is_known else now
            if last and (not found or each.received > found[-1][0]):
                if found and not found[-1][0]:
                    found[-1] = _before_first(found[-1], stamp_ns(each.first_stamp))
                found.append((int(each.received), last, int(each.lost)))
        taken = {each.topic: each.received for each in message.inputs}
    counts = {topic: np.array(found, np.int64) for topic, found in rows.items() if len(found) > 1}
    return {
        topic: ReceivedCounts(
            found[:, 0], found[:, 1], found[:, 2], len(bag.topics.get(topic, ())), now
        )
        for topic, found in counts.items()
    }


def has_restart(bag: Bag, namespace: str, begin: int, end: int) -> bool:
    """Returns whether the metrics node of a namespace was started again between two times, ns: it
    reports fewer messages of a topic than before.
    """
    taken: dict[str, int] = {}
    last = end + int(READINESS_PERIOD * SECOND)  # it may say so later
    for message in _reports(bag, namespace):
        is_within = begin <= stamp_ns(message.header.stamp) <= last
        is_fewer = any(each.received < taken.get(each.topic, 0) for each in message.inputs)
        if is_within and is_fewer:
            return True
        taken = {each.topic: each.received for each in message.inputs}
    return False


def _before_first(row: tuple[int, int, int], first: int) -> tuple[int, int, int]:
    """Returns the count of none yet, as of before the first message: what waited for the node while
    it started is stamped before the time at which that was said.
    """
    received, said, lost = row
    return received, min(said, first - 1) if first else said, lost


def _reports(bag: Bag, namespace: str) -> Iterator[Any]:
    """The readiness messages of the metrics node of a namespace, as they came."""
    for name, topic in bag.topics.items():
        if topic.message_type == READINESS_TYPE and topic.types:
            for _, message in bag.messages(name, as_written=True):
                if message.node == f'{namespace}/{NODE}':
                    yield message
