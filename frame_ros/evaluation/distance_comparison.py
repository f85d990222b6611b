# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Sensed distances of an episode against the simulator's true ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.reader import Bag
from frame_ros.bags.streams.form import Stream
from frame_ros.core.time import SECOND
from frame_ros.episodes.bounds import within
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.true_distances import true_distances

# m by which a sensed distance may be larger than the true one.
TOO_FAR = 0.01
# s between a sensed distance and the true one that it is compared with.
NEAR = 0.05


@dataclass(frozen=True)
class DistanceComparison:
    """Sensed least distances against true ones of the same time, over `samples`; m. error: sensed
    minus true, its median, and the 95th percentile of its magnitude. too_far: share of samples by
    more than TOO_FAR too far. least_sensed, least_true: over the episode.
    """

    samples: int
    median_error: float
    p95_error: float
    too_far: float
    least_sensed: float
    least_true: float


def compare_distances(episode: Episode, bag: Bag | None) -> DistanceComparison | None:
    """Compares each sensed distance within the episode with the true one nearest in time; None
    without both.
    """
    true, sensed = true_distances(episode, bag), episode.streams.get('proximity')
    if true is None or sensed is None or not len(true):
        return None
    own, truth = _inside(sensed, episode), _inside(true, episode)
    if not len(own[0]) or not len(truth[0]):
        return None
    after = np.searchsorted(truth[0], own[0]).clip(0, len(truth[0]) - 1)
    before = (after - 1).clip(0)
    is_before = np.abs(own[0] - truth[0][before]) < np.abs(truth[0][after] - own[0])
    at = np.where(is_before, before, after)
    error = own[1] - truth[1][at]
    is_known = np.isfinite(error) & (np.abs(own[0] - truth[0][at]) <= NEAR * SECOND)
    error = error[is_known]
    if not len(error):
        return None
    return DistanceComparison(
        len(error),
        float(np.median(error)),
        float(np.percentile(np.abs(error), 95)),
        float((error > TOO_FAR).mean()),
        float(np.nanmin(own[1])),
        float(np.nanmin(truth[1])),
    )


def _inside(stream: Stream, episode: Episode) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Stamps and distances within the episode, by stamp, where the distance is known."""
    stream = within(episode, stream)
    distance = np.asarray(stream.values['distance'], dtype=np.float64)
    is_known = np.isfinite(distance)
    return stream.stamps[is_known], distance[is_known]
