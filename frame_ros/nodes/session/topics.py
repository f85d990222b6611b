# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Topics and services of the session node."""

from __future__ import annotations

from frame_ros.core.topics import NodeTopics, Service
from frame_ros.nodes.episode_recorder.topics import END, START
from frame_ros.nodes.runtime.topics import EPISODE_EVENTS, READINESS, RESET_SCENE, SCENE

SET_PARAMETERS = Service(
    'policy/set_parameters', 'rcl_interfaces/srv/SetParameters', "sets the policy's parameters"
)

TOPICS = NodeTopics(
    subscribes=(EPISODE_EVENTS, READINESS, SCENE.at('{scene_topic}').when('with `scene_topic`')),
    calls=(RESET_SCENE, START, END, SET_PARAMETERS),
)
