# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Messages of each topic that the metrics node had taken and lost at times in a recording.

They are in its own readiness messages.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.reader import Bag
from frame_ros.core.time import stamp_ns

READINESS_TYPE = 'frame_ros/msg/NodeReadiness'
NODE = 'metrics'


@dataclass(frozen=True)
class ReceivedCounts:
    """Counts of one topic, at N times in order.

    Attributes:
        received: (N,) messages since the node was started.
        last: (N,) stamps of the newest of them, ns.
        lost: (N,) messages that did not reach the node, or made room for newer ones, since it was
            started.
        recorded: its messages in the bag.
    """

    received: NDArray[np.int64]
    last: NDArray[np.int64]
    lost: NDArray[np.int64]
    recorded: int = 0

    def lacking(self, stamps: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns (N - 1,) how many more messages the node took between two times than there are
        stamps (T,), ns; less than 0: fewer.
        """
        places = np.searchsorted(np.sort(stamps), self.last, side='right')
        return np.diff(self.received) - np.diff(places)


def received_counts(bag: Bag, namespace: str = '') -> dict[str, ReceivedCounts]:
    """Returns topic -> counts of the metrics node of a namespace; empty if not recorded. A
    restarted node counts from its start.
    """
    rows: dict[str, list[tuple[int, int, int]]] = {}
    for name, topic in bag.topics.items():
        if topic.message_type != READINESS_TYPE or not topic.types:
            continue
        for _, message in bag.messages(name):
            if message.node != f'{namespace}/{NODE}':
                continue
            for each in message.inputs:
                last = stamp_ns(each.last_stamp)
                found = rows.setdefault(each.topic, [])
                if found and each.received < found[-1][0]:
                    found.clear()
                if last and (not found or each.received > found[-1][0]):
                    found.append((int(each.received), last, int(each.lost)))
    counts = {topic: np.array(found, np.int64) for topic, found in rows.items() if len(found) > 1}
    return {
        topic: ReceivedCounts(found[:, 0], found[:, 1], found[:, 2], len(bag.topics.get(topic, ())))
        for topic, found in counts.items()
    }
