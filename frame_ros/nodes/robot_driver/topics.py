# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Topics and services of the robot driver."""

from __future__ import annotations

from frame_ros.core.topics import NodeTopics, Service, Topic
from frame_ros.nodes.runtime.topics import (
    FRANKA,
    IMAGES,
    JOINT_COMMANDS,
    JOINT_STATES,
    POSE,
    SET_BOOL,
    TRIGGER,
)

TORQUE = Service('~/torque', SET_BOOL, "switches the motors' torque on or off")
RECOVER = Service('~/recover_errors', TRIGGER, 'recovers the arm from a reflex or an error')
POSE_COMMANDS = Topic('pose_commands', POSE, 'where the end effector is to be, in the base frame')
OF_FRANKA = 'with `host`'

TOPICS = NodeTopics(
    publishes=(
        JOINT_STATES,
        IMAGES.when('for each camera'),
        *(topic.when('with `host` and `fci.estimates_rate`') for topic in FRANKA),
    ),
    subscribes=(JOINT_COMMANDS, POSE_COMMANDS.when('with `fci.control` cartesian_pose')),
    serves=(TORQUE.when('without `host`'), RECOVER.when(OF_FRANKA)),
    expects=(JOINT_STATES, IMAGES),
)
