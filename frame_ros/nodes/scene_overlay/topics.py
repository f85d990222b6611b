# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Topics and services of the scene_overlay node."""

from __future__ import annotations

from frame_ros.core.topics import NodeTopics, Service, Topic
from frame_ros.nodes.runtime.topics import (
    IMAGE,
    IMAGE_DEPTH,
    IMAGE_INFO,
    IMAGES,
    JOINT_STATES,
    OBJECT_POSE,
    SCENE,
    TF,
    TF_STATIC,
    TRIGGER,
)

OVERLAY = Topic(
    '~/image', IMAGE, "the camera's image with the objects of the scene, rgb8", depth=IMAGE_DEPTH
)
OBJECT = OBJECT_POSE.at('{object_topic}')
RUNNING = SCENE.at('{scene_topic}')
NEXT = Service('~/next_scene', TRIGGER, 'goes on to the next scene, after the last to the first')

TOPICS = NodeTopics(
    publishes=(OVERLAY,),
    subscribes=(
        IMAGES, IMAGE_INFO, JOINT_STATES.when('with a camera on the arm'),
        OBJECT.when('with `object_topic`'), RUNNING.when('with `scene_topic`'),
        TF.when('where tf2_msgs is installed'),
        TF_STATIC.when('where tf2_msgs is installed'),
    ),
    serves=(NEXT,),
    expects=(IMAGES,),
)  # fmt: skip
