# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Topics and services of the markers node."""

from __future__ import annotations

from frame_ros.core.topics import NodeTopics, Topic
from frame_ros.nodes.contact.topics import EVENTS as CONTACT_EVENTS
from frame_ros.nodes.contact.topics import STATE as CONTACT
from frame_ros.nodes.gate.topics import STATE as GATE_STATE
from frame_ros.nodes.kinematics.topics import EE_POSE
from frame_ros.nodes.metrics.topics import METRICS
from frame_ros.nodes.monitor.topics import STATE as MONITOR_STATE
from frame_ros.nodes.proximity.topics import ALIGNMENT, POINTS, PROXIMITY

MARKERS = Topic('metric_markers', 'visualization_msgs/msg/MarkerArray', 'for RViz', depth=5)
# Drawn as it is at the next picture.
NEWEST = {
    'safety': METRICS['safety'],
    'efficiency': METRICS['efficiency'],
    'confidence': METRICS['confidence'],
    'proximity': PROXIMITY,
    'contact': CONTACT,
    'gate': GATE_STATE,
    'monitor': MONITOR_STATE,
}

TOPICS = NodeTopics(
    publishes=(MARKERS,),
    subscribes=(
        EE_POSE, METRICS['quality'], CONTACT_EVENTS, ALIGNMENT, *NEWEST.values(),
        POINTS.when('with `cloud.topic`'),
    ),
)  # fmt: skip
