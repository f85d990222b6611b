# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The bag behind an episode, for what the episode itself does not carry: images and the other
topics.
"""

from __future__ import annotations

from frame_ros.bags.reader import Bag
from frame_ros.core.errors import BagError
from frame_ros.episodes.episode import Episode


def open_bag(episode: Episode) -> Bag | None:
    """Returns the bag of an episode; None if it is gone or cannot be read, as for an episode made
    in memory.
    """
    try:
        return Bag(episode.path)
    except (BagError, OSError):
        return None
