# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Begin and end of an episode, with or without START and END: one rule for all uses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.streams.form import Stream
from frame_ros.core.events import EventType
from frame_ros.core.time import SECOND
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.released import outlasting

# A stamp this much further from the others than its receive time does not bound an episode, ns.
FAR = 60 * SECOND


@outlasting
def bounds_of(episode: Episode) -> tuple[int, int]:
    """Returns the begin and the exclusive end of an episode, ns. They are START and the first END
    after it, or else the first stamp, and 1 ns after the last, of `extent`. (0, 0) without either.
    """
    first, last = extent(episode) or (0, -1)
    ends = [event.stamp for event in episode.events if event.type is EventType.END]
    start = start_of(episode)
    begin = first if start is None else start
    later = [stamp for stamp in ends if stamp > begin]
    return begin, min(later) if later else max(last + 1, begin)


def start_of(episode: Episode) -> int | None:
    """Returns the stamp of an episode's first START, ns; None without one."""
    starts = [event.stamp for event in episode.events if event.type is EventType.START]
    return min(starts, default=None)


def within(episode: Episode, stream: Stream) -> Stream:
    """Returns the samples of a stream within an episode, by stamp."""
    begin, end = bounds_of(episode)
    places = np.argsort(stream.stamps, kind='stable')
    stamps = stream.stamps[places]
    return stream.select(places[(stamps >= begin) & (stamps <= end)])


def extent(episode: Episode) -> tuple[int, int] | None:
    """Returns first and last stamp of the steps, else of the poses, else of anything, ns."""
    for role in dict.fromkeys(('action', 'pose', *episode.streams)):
        stamps = plausible_stamps(episode.streams[role]) if role in episode.streams else ()
        if len(stamps):
            return int(min(stamps)), int(max(stamps))
    return None


def plausible_stamps(stream: Stream) -> NDArray[np.int64]:
    """Returns the set stamps (n,), ns, within 60 s of where their receive times put them. The
    median message is the reference. For a clock that runs faster or slower than the recorder's
    (simulated time), the receive times are scaled to it, if that explains more stamps.
    """
    is_set = stream.stamps > 0
    stamps, received = stream.stamps[is_set], stream.received[is_set]
    if len(stamps) == 0:
        return stamps
    passed, arrived = stamps - stamps[0], received - received[0]
    spread = float(np.subtract(*np.percentile(arrived, (75, 25))))
    if spread <= 0:
        return stamps
    rate = float(np.subtract(*np.percentile(passed, (75, 25)))) / spread
    kept = []
    for scale in (1.0, rate):
        ahead = passed - scale * arrived
        kept.append(np.abs(ahead - np.median(ahead)) <= FAR)
    return stamps[max(kept, key=lambda is_kept: int(is_kept.sum()))]
