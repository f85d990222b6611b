# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""At what rate every stream really came, and what rate each difference-based metric saw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.episodes.data import Episode

SECOND = 1e9

# Metrics that difference or integrate over time, by the stamps they do it on: (name, kind of message or role, metrics).
DIFFERENCED = (
    ('control steps', 'quality', 'pl, ps, cc, ti, tcp_pi, tcp_vi, tcp_ai, a_pi, a_vi, a_ai'),
    ('distances', 'proximity', 'rf, closing_speed, near_zone_time'),
    ('contacts', 'contact', 'cr, collisions, peak_force, rms_force'),
    ('inferences', 'inference', 'il, il_jitter, chunk_overlap'),
)


@dataclass(frozen=True)
class RateRow:
    """Rate of one stream. mean in Hz; gaps (smallest, median, largest) in s; NaN with fewer than two stamps."""

    name: str
    topic: str
    message_type: str
    samples: int
    mean: float
    smallest_gap: float
    median_gap: float
    largest_gap: float


@dataclass(frozen=True)
class MetricRate:
    """The rate that the metrics named in `metrics` saw; see RateRow."""

    sampled_at: str
    metrics: str
    rate: RateRow


def rate_of(
    stamps: NDArray[np.int64], name: str = '', topic: str = '', message_type: str = ''
) -> RateRow:
    """Rate of (T,) stamps in ns. Zero stamps are left out, the rest sorted, duplicates dropped: they have no gap."""
    used = np.unique(stamps[stamps > 0])
    gaps = np.diff(used) / SECOND
    if not len(gaps):
        return RateRow(name, topic, message_type, len(stamps), *([float('nan')] * 4))
    mean = len(gaps) / ((used[-1] - used[0]) / SECOND)
    extremes = float(gaps.min()), float(np.median(gaps)), float(gaps.max())
    return RateRow(name, topic, message_type, len(stamps), float(mean), *extremes)


def stream_rates(episode: Episode) -> list[RateRow]:
    """One row per recorded stream, the live metric topics at the end."""
    roles = {**episode.streams, **{f'{kind} (live)': s for kind, s in episode.live.items()}}
    return [rate_of(s.stamps, role, s.topic, s.message_type) for role, s in roles.items()]


def metric_rates(episode: Episode) -> list[MetricRate]:
    """The rate each difference-based metric saw: its own samples' stamps, within the episode."""
    rows = []
    for name, source, metrics in DIFFERENCED:
        if source in episode.metrics:
            stamps = episode.metrics[source]['stamp']
        elif source in episode.streams:
            stamps = _within(episode, episode.streams[source].stamps)
        else:
            continue
        rows.append(MetricRate(name, metrics, rate_of(np.asarray(stamps), name)))
    return rows


def _within(episode: Episode, stamps: NDArray[np.int64]) -> NDArray[np.int64]:
    start, end = episode.summary.get('start'), episode.summary.get('end')
    if start is None or end is None:
        return stamps
    return stamps[(stamps >= start) & (stamps <= end)]
