# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Metric samples of the pipeline as ROS messages."""

from __future__ import annotations

from typing import Any

from diagnostic_msgs.msg import KeyValue
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Path

from frame_ros.core.time import SECOND
from frame_ros.episodes.metric_pipeline.metric_sample import MetricSample
from frame_ros.episodes.reference import Reference
from frame_ros.metrics.message_fields import FIELDS
from frame_ros.msg import EpisodeSummary
from frame_ros.nodes.runtime.message_parts import fill_time, time_message


def path_message(reference: Reference, frame_id: str, now: int) -> Path:
    """A reference as a path, in `frame_id` if it does not say its own; the stamps of its poses
    count from its own zero.
    """
    path, frame_id = Path(), reference.frame or frame_id
    path.header.stamp, path.header.frame_id = time_message(now), frame_id
    for stamp, position in zip(reference.stamps, reference.positions):
        pose = PoseStamped()
        pose.header.stamp = time_message(round(stamp * SECOND))
        pose.header.frame_id = frame_id
        pose.pose.position.x, pose.pose.position.y, pose.pose.position.z = position
        path.poses.append(pose)
    return path


def fill(message: Any, sample: MetricSample, frame_id: str) -> Any:
    """Writes a step's values into a message (which may be used again) and returns it."""
    stamp = message.header.stamp
    fill_time(stamp, sample.stamp)
    message.header.frame_id = frame_id
    message.episode_id = sample.episode_id
    for name, value in zip(sample.fields, sample.row):
        setattr(message, name, value)
    return message


def summary_message(sample: MetricSample, frame_id: str) -> EpisodeSummary:
    """A 'summary' sample as EpisodeSummary."""
    values = sample.values
    message = EpisodeSummary(episode_id=sample.episode_id)
    message.header.stamp = time_message(sample.stamp)
    message.header.frame_id = frame_id
    message.start, message.end = time_message(values['start']), time_message(values['end'])
    for name in ('outcome', 'duration', 'time_to_success', 'steps', 'is_static', 'unavailable'):
        setattr(message, name, values[name])
    for kind in ('quality', 'safety', 'confidence', 'efficiency'):
        nested = MetricSample(
            kind, sample.stamp, sample.episode_id, FIELDS[kind], tuple(values[kind].values())
        )
        fill(getattr(message, kind), nested, frame_id)
    message.data_quality = [
        KeyValue(key=name, value=str(count)) for name, count in values['data_quality'].items()
    ]
    return message
