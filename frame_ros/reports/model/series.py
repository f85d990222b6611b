# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What an episode's figures show: time series in panels, spans of contact, events, the coloured
path.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.streams.stream import Stream
from frame_ros.core.events import EventType
from frame_ros.core.time import SECOND
from frame_ros.episodes.bounds import bounds_of, within
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.interventions import interventions_of
from frame_ros.episodes.true_distances import true_distances
from frame_ros.metrics import REGISTRY
from frame_ros.metrics.record import Line, Metric
from frame_ros.reports.model.numbers import readable_power

# Levels of contact.
CONTACT, COLLISION, UNKNOWN = 1, 2, 3
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
        """Whether there is nothing to draw."""
        return not np.isfinite(self.values).any()


@dataclass(frozen=True)
class Panel:
    """Series that share one value axis; `unit` as shown; is_logarithmic for values over several
    decades; is_from_zero for an axis that shows 0.
    """

    title: str
    unit: str
    series: list[Series]
    is_logarithmic: bool = False
    is_from_zero: bool = True

    @property
    def is_empty(self) -> bool:
        """Whether none of its series has a value."""
        return all(s.is_empty for s in self.series)


@dataclass(frozen=True)
class Span:
    """A stretch of contact, one in which contact was not sensed (is_unknown), or one in which a
    person drove (is_person), s since the episode's start.
    """

    begin: float
    end: float
    is_collision: bool = False
    is_unknown: bool = False
    is_person: bool = False


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


# Of the contact sensor, with contact and without: in free motion, what its model leaves over.
EXTERNAL_FORCE = 'Estimated external force'
# Panels from the raw topics: title, unit, role, (value, label, factor).
STREAM_PANELS = (
    (DISTANCE, 'm', 'proximity', ('distance', 'distance', 1.0)),
    (EXTERNAL_FORCE, 'N', 'contact', ('force', 'estimate', 1.0)),
    ('Inference latency', 'ms', 'inference', ('latency', 'whole call', 1e3)),
)
# The order of display; charts of metrics that are not named here follow.
ORDER = (
    'TCP speed',
    'TCP jerk',
    'TCP instability (window of 8)',
    'Action instability (window of 8)',
    'Optimal trajectory difference (window of 8)',
    'Error against the reference',
    DISTANCE,
    EXTERNAL_FORCE,
    'Token uncertainty',
    'Token entropy',
    'Execution variability',
    'Chunk overlap disagreement',
    'Confidence',
    'Inference latency',
    'Control rate',
)


def panels(episode: Episode) -> list[Panel]:
    """All panels in the order of display, empty ones too."""
    start = bounds_of(episode)[0]
    made: dict[str, Panel] = {}
    for entry in REGISTRY.values():
        if entry.line is not None:
            _add_line(made, entry, entry.line, episode, start)
    for title, unit, role, (name, label, factor) in STREAM_PANELS:
        stream = episode.streams.get(role)
        line = _stream_series(stream, name, label, factor, episode)
        made[title] = Panel(title, unit, [line])
    true = _true_distance(episode)
    if not true.is_empty:
        sensed = replace(made[DISTANCE].series[0], label='sensed')
        made[DISTANCE] = replace(made[DISTANCE], series=[sensed, true])
    return [made[title] for title in dict.fromkeys((*ORDER, *made))]


def _add_line(
    made: dict[str, Panel], entry: Metric, line: Line, episode: Episode, start: int
) -> None:
    chart, name = line.chart, f'{entry.id}{line.form}'
    values = episode.metrics.get(entry.message, {})
    series = _metric_series(values, name, line.label, start)
    if chart.title not in made:
        unit = 'unit of the action' if entry.unit == 'action' else readable_power(entry.unit)
        made[chart.title] = Panel(chart.title, unit, [], chart.is_logarithmic, chart.is_from_zero)
    made[chart.title].series.append(series)


def _true_distance(episode: Episode) -> Series:
    """The simulator's distance to the nearest obstacle."""
    stream = true_distances(episode, episode.open_bag())
    return _stream_series(stream, 'distance', 'true (simulator)', 1.0, episode)


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
        level = np.where(stream.values['in_collision'].astype(bool), COLLISION, level)
    return _runs(*_with_losses(stream.stamps, level, episode), bounds_of(episode)[0])


def person_spans(episode: Episode) -> list[Span]:
    """Stretches in which a person had taken over."""
    start = bounds_of(episode)[0]
    return [
        Span((s.begin - start) / SECOND, (s.end - start) / SECOND, is_person=True)
        for s in interventions_of(episode).segments
    ]


def is_contact(span: Span) -> bool:
    """Whether a span is of expected contact."""
    return not (span.is_collision or span.is_unknown or span.is_person)


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
        _positions_at(time, positions, [s.begin for s in spans if is_contact(s)]),
        _positions_at(time, positions, [s.begin for s in spans if s.is_collision]),
    )


def _metric_series(values: dict[str, NDArray], name: str, label: str, start: int) -> Series:
    if name not in values or 'stamp' not in values:
        return Series(label, np.empty(0), np.empty(0))
    time = (np.asarray(values['stamp'], dtype=np.int64) - start) / SECOND
    return Series(label, time, np.asarray(values[name], dtype=np.float64))


def _stream_series(
    stream: Stream | None, name: str, label: str, factor: float, episode: Episode
) -> Series:
    if stream is None or name not in stream.values:
        return Series(label, np.empty(0), np.empty(0))
    stream = within(episode, stream)
    time = (stream.stamps - bounds_of(episode)[0]) / SECOND
    values = np.asarray(stream.values[name], dtype=np.float64) * factor
    return Series(label, time, values, has_markers=name == 'latency')


def _runs(stamps: NDArray[np.int64], level: NDArray[np.int64], start: int) -> list[Span]:
    """Runs of equal level above zero; each lasts until the sample that ends it."""
    if not len(stamps):
        return []
    begins = np.flatnonzero(np.diff(level, prepend=-1))
    ends = np.append(begins[1:], len(level) - 1)
    return [
        Span(
            (stamps[i] - start) / SECOND,
            (stamps[j] - start) / SECOND,
            bool(level[i] == COLLISION),
            bool(level[i] == UNKNOWN),
        )
        for i, j in zip(begins, ends)
        if level[i]
    ]


def _with_losses(
    stamps: NDArray[np.int64], level: NDArray[np.int64], episode: Episode
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Puts a sample of unknown contact where its sensing was lost; the next sample ends that."""
    lost_from = contact_sensing(episode).lost_from
    at = np.searchsorted(stamps, lost_from, side='right')
    stamps, level = np.insert(stamps, at, lost_from), np.insert(level, at, UNKNOWN)
    if len(level) and level[-1] == UNKNOWN:
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
