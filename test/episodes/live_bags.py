# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags with the live metrics that a metrics node which got every message would have published.

`python live_bags.py FOLDER` makes one, for checks outside pytest.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from bag_making import message, stamp, write_bag

from frame_ros.bags.streams.table import STREAMS
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.reading import read_episodes
from frame_ros.metrics.message_fields import FIELDS

Sent = Sequence[tuple[str, int, Any]]


def with_live(sent: Sent) -> list[tuple[str, int, Any]]:
    """Messages (topic, receive time, message) with the live metrics of their episodes, each
    received at its stamp."""
    with tempfile.TemporaryDirectory() as folder:
        episodes = list(read_episodes(write_bag(Path(folder) / 'bag', sent)))
    live = [found for episode in episodes for found in live_messages(episode)]
    return sorted([*sent, *live], key=lambda item: item[1])


def live_messages(episode: Episode) -> list[tuple[str, int, Any]]:
    """The metrics of an episode as messages: topic, stamp, message."""
    found = []
    for kind in filter(lambda kind: STREAMS[kind].is_live, STREAMS):
        (topic,) = STREAMS[kind].topics
        columns = episode.metrics[kind]
        for row, at in enumerate(columns['stamp'].tolist()):
            values = {name: columns[name][row].item() for name in FIELDS[kind]}
            content = message(
                STREAMS[kind].message_type,
                header__stamp=stamp(at),
                episode_id=episode.episode_id,
                **values,
            )
            found.append((f'/{topic}', at, content))
    return found


def without(sent: Sent, topic: str, places: Sequence[int]) -> list[tuple[str, int, Any]]:
    """Messages without those at some places among the topic's own, counted from 0."""
    own = [index for index, (name, *_) in enumerate(sent) if name == topic]
    lost = set(np.array(own)[list(places)].tolist())
    return [item for index, item in enumerate(sent) if index not in lost]


if __name__ == '__main__':
    from bag_making import episode_messages

    print(write_bag(Path(sys.argv[1]), with_live(episode_messages(100))))
