# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Topics and services of the policy."""

from __future__ import annotations

from frame_ros.core.topics import NodeTopics, Topic
from frame_ros.nodes.runtime.topics import (
    EPISODE_EVENTS,
    IMAGES,
    JOINT_COMMANDS,
    JOINT_STATES,
    POLICY_COMMANDS,
    POSE,
)

HEARTBEAT = Topic(
    'policy_heartbeat', 'frame_ros/msg/PolicyHeartbeat', 'the policy is alive, at every tick'
)
INFERENCE = Topic(
    'policy_inference', 'frame_ros/msg/PolicyInference', 'everything that one call has yielded'
)
POSES = Topic('{pose}', POSE, 'of what the policy was trained with')

TOPICS = NodeTopics(
    publishes=(
        POLICY_COMMANDS.when('with a gate'), JOINT_COMMANDS.when('without a gate'), HEARTBEAT,
        INFERENCE, EPISODE_EVENTS,
    ),
    subscribes=(
        JOINT_STATES, EPISODE_EVENTS, IMAGES.when('for each camera of the policy'),
        POSES.when('for each pose of the policy'),
    ),
)  # fmt: skip
