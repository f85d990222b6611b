# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Topics and services of the metrics node."""

from __future__ import annotations

from attrs import evolve

from frame_ros.core.topics import NodeTopics, Topic
from frame_ros.nodes.contact.topics import STATE as CONTACT
from frame_ros.nodes.kinematics.topics import EE_POSE
from frame_ros.nodes.policy.topics import INFERENCE
from frame_ros.nodes.proximity.topics import PROXIMITY
from frame_ros.nodes.runtime.topics import (
    EPISODE_EVENTS,
    GOAL_POSE,
    GRASP,
    JOINT_COMMANDS,
    OBJECT_POSE,
    PATH,
    TF,
    TF_STATIC,
)

METRICS = {
    'quality': Topic('quality_metrics', 'frame_ros/msg/QualityMetrics', 'at every control step'),
    'safety': Topic('safety_metrics', 'frame_ros/msg/SafetyMetrics', 'at every control step'),
    'efficiency': Topic(
        'efficiency_metrics', 'frame_ros/msg/EfficiencyMetrics', 'at most ten times a second'
    ),
    'confidence': Topic(
        'confidence_metrics', 'frame_ros/msg/ConfidenceMetrics', 'at every inference'
    ),
    'summary': Topic(
        'episode_summary', 'frame_ros/msg/EpisodeSummary', 'at the end of an episode', 'EVENTS'
    ),
}
OPTIONS = Topic('metrics_config', 'std_msgs/msg/String', 'options of the metrics, JSON', 'EVENTS')
REFERENCE_PATH = Topic('reference_path', PATH, 'what `ate` and `rte` compare with', 'EVENTS')
REFERENCE_PATHS = REFERENCE_PATH.at('reference_path_{number}')
# Stream of the pipeline -> topic.
INPUTS = {
    'event': EPISODE_EVENTS,
    'contact': CONTACT,
    'proximity': PROXIMITY,
    'pose': EE_POSE,
    'inference': INFERENCE,
    'action': JOINT_COMMANDS,
}
# Found by tf, they are latched; those of a camera come all the time.
FOUND = {'object': evolve(OBJECT_POSE, qos='EVENTS'), 'goal': evolve(GOAL_POSE, qos='EVENTS')}
OF_OT, OF_TF = 'with a task of `ot`', 'with poses from tf'

TOPICS = NodeTopics(
    publishes=(
        *METRICS.values(), OPTIONS, REFERENCE_PATH.when('with a reference'),
        REFERENCE_PATHS.when('with several references'),
        *(topic.when(OF_TF) for topic in FOUND.values()),
    ),
    subscribes=(
        *INPUTS.values(), OBJECT_POSE.when(OF_OT), GOAL_POSE.when(OF_OT),
        GRASP.when(OF_OT), TF.when(OF_TF), TF_STATIC.when(OF_TF),
    ),
)  # fmt: skip
