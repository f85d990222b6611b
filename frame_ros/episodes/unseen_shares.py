# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Share of an episode's distances that are partial: something nearer may be in unseen places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frame_ros.bags.streams.form import Stream


@dataclass(frozen=True)
class PartialDistances:
    """Distances of an episode.

    Attributes:
        distances: messages.
        share: of them that are partial.
        unobserved: m, median distance of the nearest place not seen, of those that know it; NaN if
            none does.
    """

    distances: int
    share: float
    unobserved: float


def partial_distances(stream: Stream | None, begin: int, end: int) -> PartialDistances | None:
    """Returns those with stamps from begin to end, ns; None: there are none, or they say nothing of
    what was not seen, as messages of an older version.
    """
    if stream is None or 'is_partial' not in stream.values:
        return None
    is_within = (stream.stamps >= begin) & (stream.stamps <= end)
    unobserved = stream.values['unobserved_distance'][is_within]
    known = unobserved[~np.isnan(unobserved)]
    if not len(known):
        return None
    share = float(np.mean(stream.values['is_partial'][is_within].astype(bool)))
    return PartialDistances(len(unobserved), share, float(np.median(known)))
