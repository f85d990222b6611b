# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Episodes: the metric pipeline, reading and writing rosbags.

The names listed here are imported at their first use: a bag reader costs a node nothing that it
does not use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from frame_ros.bags.reader import Bag
    from frame_ros.bags.streams.form import Stream
    from frame_ros.bags.writer import BagWriter
    from frame_ros.core.events import Event, EventType, Outcome
    from frame_ros.episodes.episode import Episode
    from frame_ros.episodes.metric_pipeline.metric_sample import MetricSample
    from frame_ros.episodes.metric_pipeline.options import PipelineOptions
    from frame_ros.episodes.metric_pipeline.pipeline import MetricPipeline
    from frame_ros.episodes.reading import read_episodes
    from frame_ros.episodes.reference import Reference
    from frame_ros.episodes.reference_loading import load_references

_HOMES = {
    'Bag': 'frame_ros.bags.reader',
    'BagWriter': 'frame_ros.bags.writer',
    'Episode': 'frame_ros.episodes.episode',
    'Event': 'frame_ros.core.events',
    'EventType': 'frame_ros.core.events',
    'MetricPipeline': 'frame_ros.episodes.metric_pipeline.pipeline',
    'MetricSample': 'frame_ros.episodes.metric_pipeline.metric_sample',
    'Outcome': 'frame_ros.core.events',
    'PipelineOptions': 'frame_ros.episodes.metric_pipeline.options',
    'Reference': 'frame_ros.episodes.reference',
    'Stream': 'frame_ros.bags.streams.form',
    'load_references': 'frame_ros.episodes.reference_loading',
    'read_episodes': 'frame_ros.episodes.reading',
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
    'PipelineOptions',
    'Reference',
    'Stream',
    'load_references',
    'read_episodes',
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    return getattr(import_module(_HOMES[name]), name)
