# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recorded messages that the live metrics node received, by its readiness messages in the bag, and
the steps that it made before a stream began.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.reader import Bag
from frame_ros.bags.streams.form import Stream
from frame_ros.core.time import SECOND, stamp_ns
from frame_ros.episodes.bounds import start_of
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.metric_pipeline.control_steps import LAGGING
from frame_ros.sensing.stream_health.readiness import READINESS_TOPIC, READINESS_TYPE

METRICS_NODE = 'metrics'
NEVER = 2**63 - 1  # ns
ARRIVAL = SECOND  # a stream's first message is used live so long after its stamp, at most
# Role -> kind and field of the live metrics that show at a step that something of it is known.
USED = {
    'pose': ('quality', 'pose_age'),
    'contact': ('safety', 'is_contact_sensed'),
    'proximity': ('safety', 'distance'),
}


def read_first_stamps(bag: Bag, namespace: str) -> tuple[dict[str, int], int]:
    """Returns topic -> header.stamp (ns) of the first message that a namespace's metrics node
    received. NEVER if none came until its last report, whose time (ns) is returned as well; 0 if
    it came before the clock was set back. Empty if the bag has no reports.
    """
    topic = bag.topics.get(f'{namespace}/{READINESS_TOPIC}')
    if topic is None or topic.message_type != READINESS_TYPE or not topic.types:
        return {}, 0
    first: dict[str, int] = {}
    old: set[str] = set()  # topics whose first stamp is of the time before the clock was set back
    said = 0
    for _, message in bag.messages(f'{namespace}/{READINESS_TOPIC}', as_written=True):
        if message.node == f'{namespace}/{METRICS_NODE}':
            before, said = said, stamp_ns(message.header.stamp)
            if said < before:
                old |= {name for name, stamp in first.items() if stamp != NEVER}
            old |= {each.topic for each in message.inputs if _is_of_later_clock(each)}
            old -= {each.topic for each in message.inputs if not each.received}  # a new node
            first = {each.topic: _first(each) for each in message.inputs}
    return {name: 0 if name in old else stamp for name, stamp in first.items()}, said


def _is_of_later_clock(each: Any) -> bool:
    """True if the newest stamp is before the first one: the clock was set back between them."""
    return bool(each.received) and stamp_ns(each.last_stamp) < stamp_ns(each.first_stamp)


def _first(each: Any) -> int:
    return stamp_ns(each.first_stamp) if each.received else NEVER


def heard_since(
    streams: Mapping[str, Stream], first: Mapping[str, int], begin: int, said: int = NEVER
) -> dict[str, int]:
    """Returns role -> stamp (ns) of the first live message, for streams recorded from earlier on.

    Of a stream received before the episode's begin (ns) nothing is missing. said: time of the
    node's last report (ns); a stream that begins later is unknown.
    """
    return {
        role: first[stream.topic]
        for role, stream in streams.items()
        if max(begin, _begin(stream)) < first.get(stream.topic, 0)
        and not (first[stream.topic] == NEVER and _begin(stream) > said)
    }


def _begin(stream: Stream) -> int:
    """Returns the first stamp that is set."""
    return int(stream.stamps[stream.stamps > 0].min(initial=NEVER))


def live_of_episode(episode: Episode) -> dict[str, Stream]:
    """Kind -> the live samples within the episode, by stamp, the first of each stamp."""
    found = {}
    for kind, live in episode.live.items():
        ids = live.values.get('episode_id')
        is_own = np.ones(len(live), bool) if ids is None else np.equal(ids, episode.episode_id)
        places = np.flatnonzero(is_own)
        _, first = np.unique(live.stamps[places], return_index=True)
        found[kind] = live.select(places[first])
    return found


def unseen_steps(episode: Episode) -> dict[int, int]:
    """Returns stamp of a live step -> bits LAGGING_* of the streams whose first message has a stamp
    before the step, and came behind it: what had not begun yet was not waited for.

    A stream that began before the episode is known at every step.
    """
    begin, live = start_of(episode) or 0, live_of_episode(episode)
    found: dict[int, int] = {}
    for role, (kind, column) in USED.items():
        samples, stream = live.get(kind), episode.streams.get(role)
        if samples is None or stream is None or column not in samples.values:
            continue
        first = max(episode.heard_since.get(role, 0), _begin(stream))
        used = samples.stamps[_is_known(samples.values[column])]
        end = min(int(used.min(initial=NEVER)), first + ARRIVAL if first < NEVER else NEVER)
        if begin < first < end:
            for stamp in samples.stamps[(samples.stamps >= first) & (samples.stamps < end)]:
                found[int(stamp)] = found.get(int(stamp), 0) | LAGGING[role]
    return found


def _is_known(values: NDArray) -> NDArray[np.bool_]:
    values = np.asarray(values)
    return values if values.dtype == bool else ~np.isnan(values)
