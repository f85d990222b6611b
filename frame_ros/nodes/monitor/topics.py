# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Topics and services of the monitor."""

from __future__ import annotations

from frame_ros.core.topics import NodeTopics, Topic
from frame_ros.nodes.contact.topics import STATE as CONTACT
from frame_ros.nodes.gate.topics import STOP
from frame_ros.nodes.metrics.topics import METRICS
from frame_ros.nodes.policy.topics import INFERENCE
from frame_ros.nodes.proximity.topics import PROXIMITY
from frame_ros.nodes.runtime.topics import EPISODE_EVENTS

CONFIDENCE = METRICS['confidence']
STATE = Topic(
    'monitor_state',
    'frame_ros/msg/MonitorState',
    'whether a halt is recommended, and why; at every input that counts, and at a rate',
)
CONFIG = Topic(
    'monitor_config', 'std_msgs/msg/String', 'rule and calibration of the monitor, JSON', 'STATE'
)
PROGRESS = Topic(
    'task_progress', 'std_msgs/msg/Float64', 'completion of the task by a progress estimate, 0 to 1'
)
DURATION = Topic(
    'expected_duration', 'std_msgs/msg/Float64', 'expected duration of the episode, s', 'STATE'
)
GATE_STOP = STOP.at('gate/stop')
RECORDED = Topic('{topic}', '', 'what a snapshot holds')
WITH_SNAPSHOTS = 'while active, with `snapshot.before`'

TOPICS = NodeTopics(
    publishes=(STATE, CONFIG, EPISODE_EVENTS),
    subscribes=(
        CONFIDENCE, PROXIMITY, CONTACT, INFERENCE, EPISODE_EVENTS,
        PROGRESS.when('with `completion_from: progress`'),
        DURATION.when('with `completion_from: duration_topic`'), RECORDED.when(WITH_SNAPSHOTS),
    ),
    calls=(GATE_STOP.when('with `halts_gate`'),),
)  # fmt: skip
