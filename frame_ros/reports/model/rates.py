# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""At what rate every topic really came, and what rate each difference-based metric saw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.header_stamps import header_stamps
from frame_ros.bags.reader import Bag
from frame_ros.core.time import SECOND
from frame_ros.episodes.bounds import bounds_of
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.released import outlasting
from frame_ros.episodes.topic_statistics import GAP_FACTOR
from frame_ros.metrics import REGISTRY
from frame_ros.metrics.record import CONTACTS, CONTROL_STEPS, DISTANCES, INFERENCES
from frame_ros.reports.model.numbers import readable

NAN = float('nan')

# What metrics that difference, or integrate over time, are sampled at -> the kind of message or the
# role whose stamps those are.
SAMPLES = {
    CONTROL_STEPS: 'quality',
    DISTANCES: 'proximity',
    CONTACTS: 'contact',
    INFERENCES: 'inference',
}


@dataclass(frozen=True)
class RateRow:
    """Rate of one topic by header stamp, by receive time where a type has no header.

    mean: Hz. smallest_gap, median_gap, largest_gap: s; these are NaN with fewer than two stamps.
    gaps: how many are longer than 5 times the median. backward, duplicate, zero: stamps below or
    equal to the one before, or unset; of receive times (has_header False) they are 0.
    """

    topic: str
    message_type: str
    role: str
    samples: int
    mean: float
    smallest_gap: float
    median_gap: float
    largest_gap: float
    gaps: int = 0
    backward: int = 0
    duplicate: int = 0
    zero: int = 0
    has_header: bool = True


@dataclass(frozen=True)
class MetricRate:
    """The rate that the metrics named in `metrics` saw; see RateRow.

    cutoff: Hz, of the causal low-pass that poses went through before; NaN: none. resets: how often
    a gap reset the differences; None where that does not happen.
    """

    sampled_at: str
    metrics: str
    rate: RateRow
    cutoff: float = NAN
    resets: int | None = None


def rate_of(
    stamps: NDArray[np.int64], topic: str = '', message_type: str = '', role: str = ''
) -> RateRow:
    """Rate of (T,) stamps in ns, in recorded order. Gaps are those between sorted, distinct, set
    stamps.
    """
    steps = np.diff(stamps[stamps > 0])
    faults = int((steps < 0).sum()), int((steps == 0).sum()), int((stamps <= 0).sum())
    used = np.unique(stamps[stamps > 0])
    gaps = np.diff(used) / SECOND
    known, long_gaps = (NAN, NAN, NAN, NAN), 0
    if len(gaps):
        mean, typical = len(gaps) / ((used[-1] - used[0]) / SECOND), float(np.median(gaps))
        known = float(mean), float(gaps.min()), typical, float(gaps.max())
        long_gaps = int((gaps > GAP_FACTOR * typical).sum())
    return RateRow(topic, message_type, role, len(stamps), *known, long_gaps, *faults)


def stream_rates(episode: Episode, bag: Bag | None = None) -> list[RateRow]:
    """One row per topic of the bag, by name; without a bag one per stream of the episode."""
    live = {f'{kind} metrics': stream for kind, stream in episode.live.items()}
    roles = {stream.topic: role for role, stream in {**live, **episode.streams}.items()}
    if bag is None:
        streams = [*episode.streams.values(), *episode.live.values()]
        return [rate_of(s.stamps, s.topic, s.message_type, roles[s.topic]) for s in streams]
    rows = []
    for name, topic in sorted(bag.topics.items()):
        if len(topic):
            stamps = header_stamps(bag, name)
            given = bag.received(name) if stamps is None else stamps
            row = rate_of(given, name, topic.message_type, roles.get(name, ''))
            if stamps is None:
                row = replace(row, backward=0, duplicate=0, zero=0, has_header=False)
            rows.append(row)
    return rows


@outlasting
def metric_rates(episode: Episode) -> list[MetricRate]:
    """The rate each difference-based metric saw: its own samples' stamps, within the episode."""
    rows = []
    begin, end = bounds_of(episode)
    for name, source in SAMPLES.items():
        metrics = ', '.join(each.id for each in REGISTRY.values() if each.sampled_at == name)
        if source in episode.metrics:
            stamps = np.asarray(episode.metrics[source]['stamp'])
        elif source in episode.streams:
            stamps = episode.streams[source].stamps
        else:
            continue
        row = MetricRate(name, metrics, rate_of(stamps[(stamps >= begin) & (stamps <= end)]))
        if source == 'quality':
            row = replace(row, cutoff=low_pass_cutoff(episode), resets=resets(episode))
        rows.append(row)
    return rows


def low_pass_cutoff(episode: Episode) -> float:
    """Hz of the low-pass that poses went through; NaN: none."""
    cutoff = episode.last('quality', 'low_pass_cutoff')
    return NAN if cutoff is None else float(cutoff)


def resets(episode: Episode) -> int:
    """Counts how often a gap in the stamps reset the differences of the quality metrics."""
    return int(episode.last('quality', 'gaps') or 0)


@outlasting
def _step_rate(episode: Episode) -> float:
    """Hz, of the samples of the quality metrics; NaN without any."""
    return rate_of(np.asarray(episode.metrics['quality']['stamp'])).mean if episode.metrics else NAN


def sampling_sentence(episodes: Sequence[Episode]) -> str:
    """Rate, filter and gaps that the difference-based metrics saw; '' without any step."""
    rates = [rate for rate in map(_step_rate, episodes) if rate == rate]
    if not rates:
        return ''
    low, high = (readable(bound, 3) for bound in (min(rates), max(rates)))
    at = f'{low} Hz' if low == high else f'{low} to {high} Hz'
    cutoffs = {low_pass_cutoff(episode) for episode in episodes if episode.metrics}
    known = sorted({cutoff for cutoff in cutoffs if cutoff == cutoff})
    mixed = 'in part ' if known and len(known) < len(cutoffs) else ''
    filtered = (
        f'on poses {mixed}low-passed at {", ".join(readable(c, 3) for c in known)} Hz (causal)'
        if known
        else 'on poses without a low-pass filter'
    )
    count = sum(map(resets, episodes))
    return (
        f'Metrics of differences (ps, cc, ti, tcp_*, a_*, ot, rte) were sampled at {at}, '
        f'{filtered}; gaps reset the differences {count or "no"} time{"" if count == 1 else "s"}.'
    )
