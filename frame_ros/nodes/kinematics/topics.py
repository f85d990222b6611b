# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Topics and services of the kinematics node."""

from __future__ import annotations

from frame_ros.core.topics import NodeTopics, Topic
from frame_ros.nodes.contact.topics import STATE as CONTACT
from frame_ros.nodes.runtime.topics import GRASP, JOINT_STATES, PATH, POSE, TF, TF_STATIC

# All that has waited goes out at once.
EE_POSE = Topic('ee_pose', POSE, 'pose of the tip, at every joint state', depth=2000)
EE_TWIST = Topic('ee_twist', 'geometry_msgs/msg/TwistStamped', 'velocity of the tip')
TIP_PATH = Topic('path', PATH, 'where the tip has been', 'NEWEST')
DESCRIPTION = Topic('robot_description', 'std_msgs/msg/String', 'the URDF', 'STATE')
GRIPPER_STATES = JOINT_STATES.at('{gripper_topic}')
UNPUBLISHED = 'while nobody else publishes it'

TOPICS = NodeTopics(
    publishes=(
        EE_POSE, EE_TWIST, GRASP, TIP_PATH, DESCRIPTION.when(UNPUBLISHED), TF.when(UNPUBLISHED),
        TF_STATIC.when(UNPUBLISHED),
    ),
    subscribes=(
        JOINT_STATES, GRIPPER_STATES.when('with `gripper_topic`'),
        CONTACT.when('with `grasp.source` contact'), TF.when('while others publish it'),
        TF_STATIC.when('while others publish it'),
    ),
    expects=(JOINT_STATES,),
)  # fmt: skip
