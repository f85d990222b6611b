# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Topics and services of the robot driver."""

from __future__ import annotations

from frame_ros.core.topics import NodeTopics, Service
from frame_ros.nodes.runtime.topics import IMAGES, JOINT_COMMANDS, JOINT_STATES, SET_BOOL

TORQUE = Service('~/torque', SET_BOOL, "switches the motors' torque on or off")

TOPICS = NodeTopics(
    publishes=(JOINT_STATES, IMAGES.when('for each camera')),
    subscribes=(JOINT_COMMANDS,),
    serves=(TORQUE,),
    expects=(JOINT_STATES, IMAGES),
)
