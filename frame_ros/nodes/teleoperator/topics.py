# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Topics and services of the teleoperator."""

from __future__ import annotations

from frame_ros.core.topics import NodeTopics, Service, Topic
from frame_ros.nodes.runtime.topics import BOOL, JOINT_COMMANDS, JOINT_STATE, JOINT_STATES, SET_BOOL

TELEOP_COMMANDS = Topic('teleop_commands', JOINT_STATE, "the leader's joints")
TAKEOVER = Topic('takeover', BOOL, 'whether the user drives', 'STATE')
TAKE_OVER = Service('~/takeover', SET_BOOL, 'takes over, or hands back')

TOPICS = NodeTopics(
    publishes=(
        TELEOP_COMMANDS.when('in the modes takeover and always'),
        JOINT_COMMANDS.when('in the mode record'), TAKEOVER,
    ),
    subscribes=(JOINT_STATES,),
    serves=(TAKE_OVER,),
)  # fmt: skip
