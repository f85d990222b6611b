# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Topics and services of the simulator."""

from __future__ import annotations

from attrs import evolve

from frame_ros.core.topics import NodeTopics
from frame_ros.nodes.contact.topics import STATE as CONTACT
from frame_ros.nodes.proximity.topics import PROXIMITY
from frame_ros.nodes.runtime.topics import (
    DEPTH_IMAGES,
    DEPTH_INFO,
    EPISODE_EVENTS,
    FRANKA,
    GOAL_POSE,
    IMAGE_INFO,
    IMAGES,
    JOINT_COMMANDS,
    JOINT_STATES,
    OBJECT_POSE,
    RESET_SCENE,
    SCENE,
    TF_STATIC,
    WRENCH,
)

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
        SCENE.when('with `scenes_file`'), TF_STATIC.when('where tf2_msgs is installed'),
    ),
    subscribes=(JOINT_COMMANDS, EPISODE_EVENTS),
    serves=(RESET_SCENE,),
    expects=(JOINT_STATES, WRENCH, IMAGES),
)  # fmt: skip
