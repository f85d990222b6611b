# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The fields of the metric messages in the order in which the pipeline yields them (all but header
and episode_id): facts of the step or inference, then those of the metrics, from their records.
"""

from __future__ import annotations

from frame_ros.metrics.constants import NAN
from frame_ros.metrics.engine.trajectory_step import ActionStep, TrajectoryStep
from frame_ros.metrics.record import Live, Metric
from frame_ros.metrics.registry import REGISTRY

# What the messages state in addition to the metrics -> its value before the first sample.
FACTS: dict[str, dict[str, float]] = {
    'quality': {
        'step': 0, 'time': NAN, 'ate_reference': -1, 'rte_reference': -1, 'is_grasped': False,
        'is_static': False, 'gaps': 0, 'short_segments': 0, 'lagging': 0, 'hold_expired': 0,
        'low_pass_cutoff': NAN,
    },
    'safety': {
        'step': 0, 'time': NAN, 'collisions': 0, 'is_contact_sensed': False, 'in_contact': False,
        'in_collision': False, 'limit_exceedances': 0,
    },
    'efficiency': {'step': 0, 'time': NAN, 'inferences': 0, 'stalls': 0},
    'confidence': {
        'sequence': 0, 'time': NAN, 'token_count': 0, 'sample_count': 0, 'vocabulary_size': 0,
    },
}  # fmt: skip
KINDS = tuple(FACTS)  # of metric messages


def metrics_of(kind: str, maker: type | None = None) -> list[Metric]:
    """Returns the metrics of a kind of message that this class of the engine computes, or that are
    fed one by one (Live); None: the others, which the states of the metric pipeline compute.
    """
    return [m for m in REGISTRY.values() if kind in m.messages and _maker(m) is maker]


def _maker(metric: Metric) -> type | None:
    if metric.fused in (TrajectoryStep, ActionStep):
        return metric.fused
    return Live if metric.is_fed else None


def _fields(kind: str, *makers: type | None) -> tuple[str, ...]:
    return tuple(
        f for maker in makers for each in metrics_of(kind, maker) for f in each.fields_of(kind)
    )


TRAJECTORY_FIELDS = _fields('quality', TrajectoryStep)
ACTION_FIELDS = _fields('quality', ActionStep)

# Kind of message -> its fields.
FIELDS = {
    'quality': (
        *FACTS['quality'], *_fields('quality', TrajectoryStep, ActionStep, None, Live),
    ),
    **{
        kind: (*FACTS[kind], *_fields(kind, None, Live, ActionStep))
        for kind in KINDS
        if kind != 'quality'
    },
    'summary': (
        'outcome', 'start', 'end', 'duration', 'time_to_success', 'steps', 'is_static',
        'quality', 'safety', 'confidence', 'efficiency', 'unavailable', 'data_quality',
    ),
}  # fmt: skip
# Kind of message -> its fields of several values, behind those of FIELDS in a metric sample.
LISTS = {'confidence': ('sample_spread', 'unavailable')}
