# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What an episode came to: its bounds, its outcome, the last value of every metric, and why some
are missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from frame_ros.core.events import Event
from frame_ros.core.time import SECOND
from frame_ros.episodes.metric_pipeline.metric_sample import MetricSample
from frame_ros.metrics.message_fields import (
    CONFIDENCE_FIELDS,
    EFFICIENCY_FIELDS,
    QUALITY_FIELDS,
    SAFETY_FIELDS,
    SUMMARY_FIELDS,
)

NAN = math.nan
POSE_METRICS = (
    'pl',
    'ps',
    'cc',
    'ti',
    'tcp_pi',
    'tcp_vi',
    'tcp_ai',
    'tcp_speed',
    'tcp_acceleration',
    'tcp_jerk',
)
INFERENCE_METRICS = (
    'il',
    'il_last',
    'il_p50',
    'il_p95',
    'il_p99',
    'il_jitter',
    'ct',
    'mu',
    'observation_age',
    'queue_depth',
)
REASONS = {
    'ot': 'fewer than two steps with a new pose, or an initial distance of 0',
    'ate': 'no reference trajectory is given',
    'rte': 'no reference trajectory is given',
    'time_to_collision': 'the robot is not closing in on anything',
    'chunk_overlap': 'no two chunks predict a common step',
    'ps': 'the path has no length',
    'closing_speed': 'fewer than two distances',
    'moving_distance': 'no distance was measured while the TCP moved',
    'peak_force': 'no contact force is measured',
    'rms_force': 'no contact force was measured while in contact',
    'force_limit_ratio': 'no limit of the force is set, or no force was measured',
    'pressure_limit_ratio': 'no limit of the pressure is set, or no force was measured',
    'control_rate_worst': 'the episode has no full second of steps',
    'il': 'the policy does not time its calls',
    'ct': 'the CPU time of the policy is not known',
    'mu': 'the memory of the policy, resident and on its device, is not known',
    'observation_age': 'the newest inference does not say when its inputs were taken',
}  # fmt: skip

FORCES = ('peak_force', 'rms_force', 'force_limit_ratio', 'pressure_limit_ratio')

SIDES = ('steps', 'ticks')


@dataclass
class _Record:
    start: Event
    counts: dict[str, int]
    success: Event | None = None
    steps: int = 0
    last: dict[str, tuple] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
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
        """Whether an episode has begun and not ended yet, on any side."""
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
            record.last['quality'] = quality

    def confidence(self, row: tuple) -> None:
        """The row of one inference."""
        record = self._current['steps']
        if record is not None:
            record.last['confidence'] = row

    def is_of(self, event: Event, side: str) -> bool:
        """Whether an event is of the episode that runs on this side; one without a name is."""
        record = self._current[side]
        return record is not None and event.episode_id in ('', record.start.episode_id)

    def end(
        self,
        event: Event,
        side: str,
        totals: tuple | None,
        reasons: Mapping[str, str] | None = None,
    ) -> None:
        """A side has passed the end; `totals`: its safety (steps) or efficiency (ticks) row;
        `reasons`: metric -> why it is unavailable, where the side knows that itself.
        """
        record = self._current[side]
        if record is None:
            return
        self._current[side] = None
        record.passed.add(side)
        record.reasons.update(reasons or {})
        if totals is not None:
            record.last['safety' if side == 'steps' else 'efficiency'] = totals
        if len(record.passed) == len(SIDES):
            self._records.pop(record.start.stamp, None)
            self._emit(self._summary(record, event))

    def _summary(self, record: _Record, end: Event) -> MetricSample:
        start, success, before = record.start, record.success, record.counts
        nested = {kind: _last_values(kind, record.last.get(kind)) for kind in _KINDS}
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
            unavailable(nested, record.steps, record.reasons),
            {name: n for name, n in counts.items() if n > 0},
        )
        return MetricSample('summary', end.stamp, start.episode_id, SUMMARY_FIELDS, row)


_KINDS = {
    'quality': QUALITY_FIELDS,
    'safety': SAFETY_FIELDS,
    'efficiency': EFFICIENCY_FIELDS,
    'confidence': CONFIDENCE_FIELDS,
}
_COUNTS = (
    'step',
    'collisions',
    'limit_exceedances',
    'gaps',
    'short_segments',
    'lagging',
    'hold_expired',
    'inferences',
    'stalls',
    'sequence',
    'token_count',
    'sample_count',
    'vocabulary_size',
)
_SETTINGS = ('low_pass_cutoff',)  # NaN where it is not used, which is no lack
_REFERENCES = ('ate_reference', 'rte_reference')
_FLAGS = ('is_static', 'is_grasped', 'is_contact_sensed', 'in_contact', 'in_collision')


def _last_values(kind: str, row: tuple | None) -> dict:
    """Field -> value of the last row; without one NaN, 0, False; -1 for no reference."""
    fields = _KINDS[kind]
    if row is not None:
        return dict(zip(fields, row))
    values = {name: 0 if name in _COUNTS else False if name in _FLAGS else NAN for name in fields}
    return values | {name: -1 for name in _REFERENCES if name in values}


def unavailable(
    nested: dict[str, dict], steps: int, known: Mapping[str, str] | None = None
) -> list[str]:
    """One 'id: reason' for each metric of a finished episode that is NaN.

    known: reasons that whoever computed a metric gave, by its id.
    """
    lines = []
    for kind in _KINDS:
        for name, value in nested[kind].items():
            if isinstance(value, float) and math.isnan(value) and name not in _SETTINGS:
                reason = _reason(kind, name, nested, steps, known or {})
                lines.append(f'{name}: {reason}')
    return lines


def _reason(
    kind: str, name: str, nested: dict[str, dict], steps: int, known: Mapping[str, str]
) -> str:
    base = name.removesuffix('_step').removesuffix('_mean')
    if steps == 0 and kind in ('quality', 'safety', 'efficiency'):
        return 'the episode has no control step (no joint_commands)'
    if kind in ('quality', 'confidence') and known.get(base):
        return known[base]
    if kind == 'confidence':
        return _confidence_reason(name, nested['confidence'])
    if kind == 'quality' and base in (*POSE_METRICS, 'pose_age'):
        if math.isnan(nested['quality']['pose_age']):
            return 'no end-effector pose at the last step'
        return REASONS.get(base, 'too few steps')
    if name in ('cr', 'cr_per_second', 'cr_per_metre') and math.isnan(nested['safety']['cr']):
        return 'no contact sensing at the last step'
    if kind == 'safety' and math.isnan(nested['safety']['op']) and name not in FORCES:
        return 'no distance was measured'
    if (
        kind == 'efficiency'
        and nested['efficiency']['inferences'] == 0
        and name in INFERENCE_METRICS
    ):
        return 'no inference in this episode'
    if name.startswith('il_'):
        return 'the policy does not time this part'
    return REASONS.get(base, 'too few samples')


def _confidence_reason(name: str, confidence: dict) -> str:
    if math.isnan(confidence['time']):
        return 'no inference in this episode'
    if name == 'chunk_overlap':
        return REASONS[name]
    if name in ('ensemble_mean', 'ensemble_spread'):
        return 'no prompt ensemble was run'
    if not confidence['token_count']:
        return 'no tokens: this policy yields no token probabilities'
    return 'not computed for this policy'
