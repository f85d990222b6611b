# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Header stamps of a topic without its messages."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.reader import Bag
from frame_ros.bags.streams.trajectories import TRAJECTORY_TYPE
from frame_ros.core.time import SECOND


def header_stamps(bag: Bag, topic: str) -> NDArray[np.int64] | None:
    """Returns a topic's header stamps (N,), ns; None if its type begins with no header. Of a bag
    that is read by receive times those; of a trajectory that starts now its receive time.
    """
    found = bag.topics[topic]
    fields = found.types.get(found.message_type, ((), ()))[1]
    if not fields or tuple(fields[0][1]) != (2, 'std_msgs/msg/Header'):
        return None
    if bag.is_by_receipt:
        return bag.received(topic)
    stamps = []
    for table in found.tables:
        # After the 4 bytes of encapsulation a header begins with its stamp: int32 s, uint32 ns.
        if len(table) == 0 or table.lengths.min() < 12:
            continue
        head = table.rows(np.arange(len(table)), 12)
        order = '>' if head[0, 1] == 0 else '<'
        seconds = np.ascontiguousarray(head[:, 4:8]).view(f'{order}i4')[:, 0].astype(np.int64)
        nanoseconds = np.ascontiguousarray(head[:, 8:12]).view(f'{order}u4')[:, 0]
        stamps.append(seconds * SECOND + nanoseconds.astype(np.int64))
    joined = np.concatenate(stamps) if stamps else np.zeros(0, np.int64)
    if found.message_type == TRAJECTORY_TYPE and len(joined) == len(found):
        joined = np.where(joined == 0, bag.received(topic), joined)
    return joined
