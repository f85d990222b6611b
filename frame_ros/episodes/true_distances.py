# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""True distances to obstacles of an episode, if recorded by the simulator."""

from __future__ import annotations

from frame_ros.bags.reader import Bag
from frame_ros.bags.streams.form import Stream
from frame_ros.bags.streams.table import read_stream
from frame_ros.core.errors import BagError
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.sensed_contacts import namespace_of

TOPIC = 'ground_truth/proximity'


def true_distances(episode: Episode, bag: Bag | None) -> Stream | None:
    """Returns the simulator's distances, as the stream 'proximity'. None if there are none, or the
    episode's metrics are computed from them.
    """
    topic, used = f'{namespace_of(episode)}/{TOPIC}', episode.streams.get('proximity')
    if bag is None or topic not in bag.topics or (used is not None and used.topic == topic):
        return None
    try:
        return read_stream(bag, 'proximity', topic)
    except BagError as error:
        if str(error) not in episode.problems:
            episode.problems.append(str(error))
        return None
