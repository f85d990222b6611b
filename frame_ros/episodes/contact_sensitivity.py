# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The least force that an episode's contact sensors detected, over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.reader import Bag
from frame_ros.core.errors import BagError
from frame_ros.episodes.episode import Episode

FIELDS = ('force_threshold', 'response_time')


@dataclass(frozen=True)
class RecordedSensitivity:
    """Rows by stamp; NaN if unknown."""

    stamps: NDArray[np.int64]  # (T,) ns
    forces: NDArray[np.float64]  # (T,) N, least force that counted as contact
    times: NDArray[np.float64]  # (T,) s for which it had to last

    def at(self, stamps: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Returns forces (M,) N and times (M,) s of the newest row at or before each stamp (M,),
        ns; NaN before the first.
        """
        if not len(self.stamps):
            unknown = np.full(len(stamps), np.nan)
            return unknown, unknown
        rows = np.searchsorted(self.stamps, stamps, side='right') - 1
        is_known = rows >= 0
        rows = rows.clip(0)
        return (
            np.where(is_known, self.forces[rows], np.nan),
            np.where(is_known, self.times[rows], np.nan),
        )


def recorded_sensitivity(episode: Episode, bag: Bag | None) -> RecordedSensitivity | None:
    """Returns the sensitivity in the states of the episode's contact stream; None without any."""
    stream = episode.streams.get('contact')
    if bag is None or stream is None:
        return None
    paths = ['header.stamp', *FIELDS]
    try:
        _, columns = bag.columns(stream.topic, paths)
    except BagError:
        return None  # said where the stream was read
    if any(path not in columns for path in paths):
        return None  # recorded with messages that had no such fields
    stamps, forces, times = (columns[path] for path in paths)
    order = np.argsort(stamps, kind='stable')
    known = np.where(forces > 0.0, forces, np.nan)
    return RecordedSensitivity(stamps[order], known[order], times[order])
