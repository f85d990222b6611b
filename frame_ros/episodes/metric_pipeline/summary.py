# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Summary of an episode: its bounds, its outcome, the last value of every metric, and why some
are missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from frame_ros.core.events import Event
from frame_ros.core.time import SECOND
from frame_ros.episodes.metric_pipeline.metric_sample import MetricSample
from frame_ros.metrics.message_fields import FACTS, FIELDS
from frame_ros.metrics.record import Lack
from frame_ros.metrics.registry import metric_of_field

NAN = math.nan
SIDES = ('steps', 'ticks')
POSE_AGE = FIELDS['quality'].index('pose_age')


@dataclass
class _Record:
    start: Event
    counts: dict[str, int]
    success: Event | None = None
    steps: int = 0
    has_pose: bool = False
    last: dict[str, tuple] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    has_references: bool = False
    passed: set[str] = field(default_factory=set)


class EpisodeSummaries:
    """Follows one episode after the other and emits a 'summary' sample when both sides have passed
    its end.

    The two sides, steps (quality, safety, confidence) and ticks (efficiency), wait for different
    streams, so they pass the bounds of an episode at different times, and one may be in the next
    episode already.
    """

    def __init__(
        self, emit: Callable[[MetricSample], None], data_quality: Callable[[], dict[str, int]]
    ) -> None:
        self._emit = emit
        self._data_quality = data_quality
        self._records: dict[int, _Record] = {}
        self._current: dict[str, _Record | None] = dict.fromkeys(SIDES)

    @property
    def is_running(self) -> bool:
        """Returns whether an episode has begun and not ended yet, on any side."""
        return any(record is not None for record in self._current.values())

    def start(self, event: Event, side: str) -> None:
        """An episode begins on one side; one that was not ended there is given up."""
        given_up = self._current[side]
        if given_up is not None:
            self._records.pop(given_up.start.stamp, None)
        if event.stamp not in self._records:
            counts = self._data_quality()
            # A START that came late is a fact of the episode it starts.
            before = {name: n for name, n in counts.items() if not name.startswith('event.')}
            self._records[event.stamp] = _Record(event, before)
        self._current[side] = self._records[event.stamp]

    def success(self, event: Event) -> None:
        """The task was seen done in the running episode; the first time counts."""
        record = self._current['steps']
        if record is None or record.success is not None or not self.is_of(event, 'steps'):
            return
        if event.stamp >= record.start.stamp:
            record.success = event

    def step(self, quality: tuple) -> None:
        """The quality row of one control step."""
        record = self._current['steps']
        if record is not None:
            record.steps += 1
            record.has_pose |= not math.isnan(quality[POSE_AGE])
            record.last['quality'] = quality

    def confidence(self, row: tuple) -> None:
        """The row of one inference."""
        record = self._current['steps']
        if record is not None:
            record.last['confidence'] = row

    def is_of(self, event: Event, side: str) -> bool:
        """Returns whether an event is of the episode that runs on this side, or has no name."""
        record = self._current[side]
        return record is not None and event.episode_id in ('', record.start.episode_id)

    def end(
        self,
        event: Event,
        side: str,
        totals: tuple | None,
        reasons: Mapping[str, str] | None = None,
        has_references: bool = False,
    ) -> None:
        """A side has passed the end; `totals`: its safety (steps) or efficiency (ticks) row;
        `reasons`: metric -> why it is unavailable, where the side knows that itself;
        `has_references`: whether the side compares with any.
        """
        record = self._current[side]
        if record is None:
            return
        self._current[side] = None
        record.passed.add(side)
        record.reasons.update(reasons or {})
        record.has_references |= has_references
        if totals is not None:
            record.last['safety' if side == 'steps' else 'efficiency'] = totals
        if len(record.passed) == len(SIDES):
            self._records.pop(record.start.stamp, None)
            self._emit(self._summary(record, event))

    def _summary(self, record: _Record, end: Event) -> MetricSample:
        start, success, before = record.start, record.success, record.counts
        nested = {kind: _last_values(kind, record.last.get(kind)) for kind in FACTS}
        counts = {name: n - before.get(name, 0) for name, n in self._data_quality().items()}
        row = (
            int(end.outcome),
            start.stamp,
            end.stamp,
            (end.stamp - start.stamp) / SECOND,
            (success.stamp - start.stamp) / SECOND if success is not None else NAN,
            record.steps,
            bool(nested['quality'].get('is_static', True)),
            *(nested[kind] for kind in ('quality', 'safety', 'confidence', 'efficiency')),
            _unavailable(nested, record),
            {name: n for name, n in counts.items() if n > 0},
        )
        return MetricSample('summary', end.stamp, start.episode_id, FIELDS['summary'], row)


def _last_values(kind: str, row: tuple | None) -> dict[str, Any]:
    """Field -> value of the last row; without one what the facts begin with, and NaN."""
    if row is not None:
        return dict(zip(FIELDS[kind], row))
    return dict.fromkeys(FIELDS[kind], NAN) | FACTS[kind]


def _unavailable(nested: dict[str, dict], record: _Record) -> list[str]:
    """One 'field: reason' for each field of a metric of a finished episode that is NaN."""
    lacks = _lacks(nested, record)
    lines = []
    for kind, values in nested.items():
        for name, value in values.items():
            entry = metric_of_field(kind, name)
            if entry is not None and value != value:
                is_short = record.steps < entry.minimum_samples
                has_own = Lack.STEP not in lacks or kind == 'confidence'
                own = record.reasons.get(entry.id) if has_own else ''
                reason = own or entry.reason(lacks | {Lack.SAMPLES} if is_short else lacks, kind)
                lines.append(f'{name}: {reason}')
    return lines


def _lacks(nested: dict[str, dict], record: _Record) -> set[str]:
    """Returns what the episode lacks, by what its last rows say."""
    quality, safety, confidence = (nested[k] for k in ('quality', 'safety', 'confidence'))
    found = {
        Lack.STEP: record.steps == 0,
        Lack.POSE: math.isnan(quality['pose_age']),
        Lack.POSES: not record.has_pose,
        Lack.REFERENCE: not record.has_references,
        Lack.CONTACT: math.isnan(safety['cr']),
        Lack.DISTANCE: math.isnan(safety['op']),
        Lack.INFERENCE: math.isnan(confidence['time']) and not nested['efficiency']['inferences'],
        Lack.TOKENS: not confidence['token_count'],
        Lack.CHOSEN_TOKENS: math.isnan(confidence['confidence']),
    }
    return {lack for lack, is_lacking in found.items() if is_lacking}
