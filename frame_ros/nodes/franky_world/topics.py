# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Topics and services of the world of franky-sim; the arm itself has none, it has its protocol."""

from __future__ import annotations

from frame_ros.core.topics import NodeTopics
from frame_ros.nodes.runtime.topics import EPISODE_EVENTS, RESET_SCENE
from frame_ros.nodes.simulator.topics import TRUE_GOAL, TRUE_OBJECT

TOPICS = NodeTopics(
    publishes=(EPISODE_EVENTS, TRUE_OBJECT, TRUE_GOAL),
    subscribes=(EPISODE_EVENTS,),
    serves=(RESET_SCENE,),
)
