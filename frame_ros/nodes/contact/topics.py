# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Topics and services of the contact node."""

from __future__ import annotations

from frame_ros.core.topics import NodeTopics, Service, Topic
from frame_ros.nodes.runtime.topics import (
    EPISODE_EVENTS,
    FRANKA_CONTACT,
    FRANKA_STATE,
    FRANKA_WRENCH,
    GRASP,
    JOINT_COMMANDS,
    JOINT_STATES,
    TF_STATIC,
    TRIGGER,
    WRENCH,
    WRENCH_STAMPED,
)

STATE = Topic('contact', 'frame_ros/msg/ContactState', 'contacts of the arm, and whether expected')
EVENTS = Topic(
    'contact_events', 'frame_ros/msg/ContactEvent', 'one as a contact begins, one as it ends'
)
EXTERNAL_WRENCH = Topic(
    'external_wrench', WRENCH_STAMPED, 'of the surroundings on the tip, while it is known'
)
TARE = Service('~/tare', TRIGGER, 'tares the force-torque sensor')
CONFIRM_WEIGHT = Service(
    '~/confirm_weight', TRIGGER, 'takes a weight that was found on the hand for part of the tool'
)
OF_WRENCH, OF_ROBOT = 'with the source wrench', 'with the source robot'

TOPICS = NodeTopics(
    publishes=(STATE, EVENTS, EXTERNAL_WRENCH),
    subscribes=(
        JOINT_STATES, GRASP, JOINT_COMMANDS.when('with the source joint_effort'),
        WRENCH.when(OF_WRENCH), TF_STATIC.when(OF_WRENCH), FRANKA_WRENCH.when(OF_ROBOT),
        FRANKA_STATE.when(OF_ROBOT), FRANKA_CONTACT.when(OF_ROBOT),
        EPISODE_EVENTS.when('with phases among the expectations'),
    ),
    serves=(TARE, CONFIRM_WEIGHT),
    expects=(STATE, WRENCH.when(OF_WRENCH)),
)  # fmt: skip
