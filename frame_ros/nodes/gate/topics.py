# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Topics and services of the gate."""

from __future__ import annotations

from frame_ros.core.topics import NodeTopics, Service, Topic
from frame_ros.nodes.policy.topics import HEARTBEAT
from frame_ros.nodes.runtime.topics import (
    EPISODE_EVENTS,
    JOINT_COMMANDS,
    JOINT_STATE,
    JOINT_STATES,
    POLICY_COMMANDS,
    POSE,
    TRIGGER,
)
from frame_ros.nodes.teleoperator.topics import TAKEOVER, TELEOP_COMMANDS

STATE = Topic(
    'gate_state', 'frame_ros/msg/GateState', 'who drives, and what the gate does', 'STATE'
)
INTERVENTIONS = Topic(
    'gate_interventions', 'frame_ros/msg/GateIntervention', 'how a command was changed, and why'
)
# Form of a command -> the topic of a controller that takes it. They all subscribe reliable and
# volatile, and take the newest only.
CONTROLLERS = {
    form: Topic(
        '{controller}', type_name, "the action in the form of the arm's controller", 'NEWEST',
        condition='with an `output`',
    )
    for form, type_name in {
        'joint_state': JOINT_STATE,
        'trajectory': 'trajectory_msgs/msg/JointTrajectory',
        'positions': 'std_msgs/msg/Float64MultiArray',
        'opening': 'std_msgs/msg/Float64MultiArray',
        'pose': POSE,
    }.items()
}  # fmt: skip
STOP = Service('~/stop', TRIGGER, 'stops the arm')
RESET = Service('~/reset', TRIGGER, 'lets commands pass again after a stop')

TOPICS = NodeTopics(
    publishes=(JOINT_COMMANDS, STATE, INTERVENTIONS, EPISODE_EVENTS, *CONTROLLERS.values()),
    subscribes=(
        POLICY_COMMANDS, TELEOP_COMMANDS, HEARTBEAT, JOINT_STATES, TAKEOVER, EPISODE_EVENTS,
        JOINT_COMMANDS,
    ),
    serves=(STOP, RESET),
)  # fmt: skip
