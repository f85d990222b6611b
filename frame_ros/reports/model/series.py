# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Content of an episode's figures: time series in panels, spans of contact, events, the coloured
path.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.streams.form import Stream
from frame_ros.core.events import EventType
from frame_ros.core.time import SECOND
from frame_ros.episodes.bounds import bounds_of, within
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.interventions import interventions_of
from frame_ros.episodes.released import outlasting
from frame_ros.episodes.true_distances import true_distances
from frame_ros.metrics import REGISTRY
from frame_ros.metrics.record import CATEGORIES
from frame_ros.reports.model.numbers import readable_power

CONTACT, COLLISION, UNKNOWN, OPERATOR = 'contact', 'collision', 'unknown', 'operator'
LEVELS = ('', CONTACT, COLLISION, UNKNOWN)  # of contact
DISTANCE = 'Obstacle distance'


@dataclass(frozen=True)
class Series:
    """One line of a panel. time: (T,) s since the episode's start; values: (T,), NaN where
    unavailable.
    """

    label: str
    time: NDArray[np.float64]
    values: NDArray[np.float64]
    has_markers: bool = False

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to draw."""
        return not np.isfinite(self.values).any()


@dataclass(frozen=True)
class Panel:
    """Series that share one value axis; `unit` as shown; category: one of CATEGORIES;
    is_logarithmic for values over several decades; is_from_zero for an axis that shows 0.
    """

    title: str
    unit: str
    category: str
    series: list[Series]
    is_logarithmic: bool = False
    is_from_zero: bool = True

    @property
    def is_empty(self) -> bool:
        """True if none of its series has a value."""
        return all(s.is_empty for s in self.series)


@dataclass(frozen=True)
class Span:
    """A stretch, s since the episode's start. kind: CONTACT, COLLISION, UNKNOWN (contact was not
    sensed) or OPERATOR (an operator drove).
    """

    begin: float
    end: float
    kind: str


@dataclass(frozen=True)
class Mark:
    """An event, s since the episode's start."""

    time: float
    label: str


@dataclass(frozen=True)
class Path:
    """The end-effector's path. time: (T,) s; positions: (T, 3) m; jerk: (T,) m/s^3, NaN where
    unavailable.

    contacts, collisions: (K, 3) positions at which a contact began.
    """

    time: NDArray[np.float64]
    positions: NDArray[np.float64]
    jerk: NDArray[np.float64]
    contacts: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 3)))
    collisions: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 3)))


@dataclass(frozen=True)
class ContactSensing:
    """is_sensed: whether contact was sensed at any of the `steps` steps. lost: steps behind the
    first such at which it was not. lost_from: (K,) stamps in ns at which it was lost.
    """

    is_sensed: bool
    steps: int
    lost: int
    lost_from: NDArray[np.int64]


# Panels from the raw topics: title, unit, category, role, value, label, factor. The force is that
# of the contact sensor, also without contact: in free motion, what its model leaves over.
STREAM_PANELS = (
    (DISTANCE, 'm', 'safety', 'proximity', 'distance', 'distance', 1.0),
    ('Estimated external force', 'N', 'safety', 'contact', 'force', 'estimate', 1.0),
    ('Inference latency', 'ms', 'efficiency', 'inference', 'latency', 'whole call', 1e3),
)


def panels(episode: Episode) -> list[Panel]:
    """All panels by category, empty ones too."""
    start = bounds_of(episode)[0]
    times = {kind: _times(values, start) for kind, values in episode.metrics.items()}
    made: dict[str, Panel] = {}
    for entry in REGISTRY.values():
        if entry.line is not None:
            chart, unit = entry.line.chart, readable_power(entry.unit)
            unit = 'unit of the action' if unit == 'action' else unit
            empty = Panel(
                chart.title, unit, entry.category, [], chart.is_logarithmic, chart.is_from_zero
            )
            name = f'{entry.id}{entry.line.form}'
            values = episode.metrics.get(entry.message, {}).get(name)
            line = _metric_series(times.get(entry.message), values, entry.line.label)
            made.setdefault(chart.title, empty).series.append(line)
    for title, unit, category, role, name, label, factor in STREAM_PANELS:
        line = _stream_series(episode.streams.get(role), name, label, factor, episode)
        made[title] = Panel(title, unit, category, [line])
    true = _true_distance(episode)
    if not true.is_empty:
        sensed = replace(made[DISTANCE].series[0], label='sensed')
        made[DISTANCE] = replace(made[DISTANCE], series=[sensed, true])
    return sorted(made.values(), key=lambda panel: CATEGORIES.index(panel.category))


def _true_distance(episode: Episode) -> Series:
    """The simulator's distance to the nearest obstacle."""
    stream = true_distances(episode, episode.open_bag())
    return _stream_series(stream, 'distance', 'true (simulator)', 1.0, episode)


@outlasting
def contact_sensing(episode: Episode) -> ContactSensing:
    """Returns at which steps contact was sensed, by the recomputed safety metrics.

    Steps before the first contact message are no loss: the sensor's period is longer than a step.
    """
    safety = episode.metrics.get('safety', {})
    is_sensed = np.asarray(safety.get('is_contact_sensed', ()), dtype=bool)
    if not is_sensed.any():
        return ContactSensing(False, len(is_sensed), 0, np.empty(0, np.int64))
    first = int(is_sensed.argmax())
    is_lost = ~is_sensed[first:]
    begins = np.flatnonzero(is_lost[1:] & ~is_lost[:-1]) + 1
    lost_from = np.asarray(safety['stamp'], dtype=np.int64)[first:][begins]
    return ContactSensing(True, len(is_sensed), int(is_lost.sum()), lost_from)


def collisions(episode: Episode) -> int | None:
    """Returns how many there were; None where contact was not sensed."""
    is_sensed = contact_sensing(episode).is_sensed
    return int(episode.last('safety', 'collisions')) if is_sensed else None


def contact_spans(episode: Episode) -> list[Span]:
    """Stretches of contact from the contact stream, and those in which it fell silent for so long
    that contact is unknown; a stretch with a collision in it is split there.
    """
    stream = episode.streams.get('contact')
    if stream is None or 'in_contact' not in stream.values:
        return []
    stream = within(episode, stream)
    level = stream.values['in_contact'].astype(bool).astype(int)
    if 'in_collision' in stream.values:
        level = np.where(stream.values['in_collision'].astype(bool), LEVELS.index(COLLISION), level)
    return _contact_runs(*_with_losses(stream.stamps, level, episode), bounds_of(episode)[0])


def operator_spans(episode: Episode) -> list[Span]:
    """Stretches in which an operator had taken over."""
    start = bounds_of(episode)[0]
    return [
        Span((s.begin - start) / SECOND, (s.end - start) / SECOND, OPERATOR)
        for s in interventions_of(episode).segments
    ]


def marks(episode: Episode) -> list[Mark]:
    """The episode's events between its bounds, START and END left out: they are the axis' ends."""
    start, end = bounds_of(episode)
    hidden = (EventType.START, EventType.END)
    return [
        Mark(
            (e.stamp - start) / SECOND, e.text if e.type is EventType.NOTE else _event_name(e.type)
        )
        for e in sorted(episode.events, key=lambda e: e.stamp)
        if e.type not in hidden and start <= e.stamp <= end
    ]


def path(episode: Episode) -> Path | None:
    """The recorded poses between START and END with the jerk of the step each belongs to; None
    without poses.
    """
    stream = episode.streams.get('pose')
    if stream is None or 'position' not in stream.values:
        return None
    stream = within(episode, stream)
    positions = np.asarray(stream.values['position'], dtype=np.float64)
    usable = np.isfinite(positions).all(axis=1)
    stamps, first = np.unique(stream.stamps[usable], return_index=True)
    positions = positions[usable][first]
    if not len(stamps):
        return None
    time = (stamps - bounds_of(episode)[0]) / SECOND
    spans = contact_spans(episode)
    return Path(
        time,
        positions,
        _jerk_at(episode, stamps),
        *(
            _positions_at(time, positions, [span.begin for span in spans if span.kind == kind])
            for kind in (CONTACT, COLLISION)
        ),
    )


def _times(values: dict[str, NDArray], start: int) -> NDArray[np.float64] | None:
    """Returns the times of samples, s since `start`, which all their fields share; None without
    stamps.
    """
    if 'stamp' not in values:
        return None
    return (np.asarray(values['stamp'], dtype=np.int64) - start) / SECOND


def _metric_series(time: NDArray[np.float64] | None, values: NDArray | None, label: str) -> Series:
    if time is None or values is None:
        return Series(label, np.empty(0), np.empty(0))
    return Series(label, time, np.asarray(values, dtype=np.float64))


def _stream_series(
    stream: Stream | None, name: str, label: str, factor: float, episode: Episode
) -> Series:
    if stream is None or name not in stream.values:
        return Series(label, np.empty(0), np.empty(0))
    stream = within(episode, stream)
    time = (stream.stamps - bounds_of(episode)[0]) / SECOND
    values = np.asarray(stream.values[name], dtype=np.float64) * factor
    return Series(label, time, values, has_markers=name == 'latency')


def _contact_runs(stamps: NDArray[np.int64], level: NDArray[np.int64], start: int) -> list[Span]:
    """Runs of equal level above zero; each lasts until the sample that ends it."""
    if not len(stamps):
        return []
    begins = np.flatnonzero(np.diff(level, prepend=-1))
    ends = np.append(begins[1:], len(level) - 1)
    return [
        Span((stamps[i] - start) / SECOND, (stamps[j] - start) / SECOND, LEVELS[level[i]])
        for i, j in zip(begins, ends)
        if level[i]
    ]


def _with_losses(
    stamps: NDArray[np.int64], level: NDArray[np.int64], episode: Episode
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Puts a sample of unknown contact where its sensing was lost; the next sample ends that."""
    lost_from = contact_sensing(episode).lost_from
    at = np.searchsorted(stamps, lost_from, side='right')
    stamps, level = np.insert(stamps, at, lost_from), np.insert(level, at, LEVELS.index(UNKNOWN))
    if len(level) and LEVELS[level[-1]] == UNKNOWN:
        stamps, level = np.append(stamps, bounds_of(episode)[1]), np.append(level, 0)
    return stamps, level


def _jerk_at(episode: Episode, stamps: NDArray[np.int64]) -> NDArray[np.float64]:
    """Jerk of the first control step at or behind each stamp: the step whose difference covers that
    piece.
    """
    quality = episode.metrics.get('quality', {})
    if 'tcp_jerk' not in quality or not len(quality['stamp']):
        return np.full(len(stamps), np.nan)
    index = np.searchsorted(quality['stamp'], stamps)
    jerk = np.asarray(quality['tcp_jerk'], dtype=np.float64)
    return np.where(index < len(jerk), jerk[np.minimum(index, len(jerk) - 1)], np.nan)


def _positions_at(time: NDArray, positions: NDArray, times: list[float]) -> NDArray[np.float64]:
    index = np.searchsorted(time, np.asarray(times, dtype=np.float64), side='right') - 1
    return positions[np.clip(index, 0, len(positions) - 1)]


def _event_name(kind: EventType) -> str:
    return kind.name.lower().replace('_', ' ')
