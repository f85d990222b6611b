# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Episodes: the metric pipeline, reading and writing rosbags.

What is listed here is imported when it is first used: a bag reader costs a node nothing that it
does not use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from frame_ros.bags.reader import Bag
    from frame_ros.bags.writer import BagWriter
    from frame_ros.episodes.episode import Episode, Event, EventType, MetricSample, Outcome, Stream
    from frame_ros.episodes.metric_pipeline.pipeline import MetricPipeline
    from frame_ros.episodes.metric_pipeline.options import PipelineConfig
    from frame_ros.episodes.reading import read_episodes
    from frame_ros.episodes.reference_loading import Reference, load_references

_HOMES = {
    'Bag': 'bag_reader',
    'BagWriter': 'bag_writer',
    'Episode': 'data',
    'Event': 'data',
    'EventType': 'data',
    'MetricPipeline': 'pipeline',
    'MetricSample': 'data',
    'Outcome': 'data',
    'PipelineConfig': 'pipeline_config',
    'Reference': 'references',
    'Stream': 'data',
    'load_references': 'references',
    'read_episodes': 'reading',
}

__all__ = [
    'Bag',
    'BagWriter',
    'Episode',
    'Event',
    'EventType',
    'MetricPipeline',
    'MetricSample',
    'Outcome',
    'PipelineConfig',
    'Reference',
    'Stream',
    'load_references',
    'read_episodes',
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    return getattr(import_module(f'{__name__}.{_HOMES[name]}'), name)
