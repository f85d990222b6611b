# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Topics and services of the simulator."""

from __future__ import annotations

from attrs import evolve

from frame_ros.core.topics import NodeTopics, Topic
from frame_ros.nodes.contact.topics import STATE as CONTACT
from frame_ros.nodes.proximity.topics import PROXIMITY
from frame_ros.nodes.runtime.topics import (
    DEPTH_IMAGES,
    DEPTH_INFO,
    EPISODE_EVENTS,
    FRANKA_CONTACT,
    FRANKA_STATE,
    FRANKA_WRENCH,
    GOAL_POSE,
    IMAGE_INFO,
    IMAGES,
    JOINT_COMMANDS,
    JOINT_STATE,
    JOINT_STATES,
    OBJECT_POSE,
    POSE,
    RESET_SCENE,
    TF_STATIC,
    WRENCH,
)

FRANKA_TIP_WRENCH = FRANKA_WRENCH.at('{broadcaster}/external_wrench_in_stiffness_frame')
FRANKA_TORQUES = Topic('{broadcaster}/external_joint_torques', JOINT_STATE, 'N m', 'ESTIMATES')
FRANKA_JOINTS = Topic('{broadcaster}/measured_joint_states', JOINT_STATE, 'rad', 'ESTIMATES')
FRANKA_POSE = Topic('{broadcaster}/current_pose', POSE, 'of the tip', 'ESTIMATES')
FRANKA = (
    FRANKA_WRENCH, FRANKA_TIP_WRENCH, FRANKA_TORQUES, FRANKA_JOINTS, FRANKA_POSE, FRANKA_CONTACT,
    FRANKA_STATE,
)  # fmt: skip
TRUE_CONTACT, TRUE_PROXIMITY, TRUE_OBJECT, TRUE_GOAL = TRUTH = tuple(
    evolve(topic, name=f'ground_truth/{topic.name}', text='as the simulation knows it')
    for topic in (CONTACT, PROXIMITY, OBJECT_POSE, GOAL_POSE)
)

TOPICS = NodeTopics(
    publishes=(
        JOINT_STATES, WRENCH, EPISODE_EVENTS, *TRUTH,
        *(topic.when('for each camera') for topic in (IMAGES, IMAGE_INFO)),
        *(topic.when('for each depth camera') for topic in (DEPTH_IMAGES, DEPTH_INFO)),
        *(topic.when('with `rates.franka`') for topic in FRANKA),
        TF_STATIC.when('where tf2_msgs is installed'),
    ),
    subscribes=(JOINT_COMMANDS, EPISODE_EVENTS),
    serves=(RESET_SCENE,),
    expects=(JOINT_STATES, WRENCH, IMAGES),
)  # fmt: skip
