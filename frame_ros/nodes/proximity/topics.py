# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Topics and services of the proximity node."""

from __future__ import annotations

from frame_ros.core.topics import NodeTopics, Topic
from frame_ros.nodes.runtime.topics import (
    DEPTH_IMAGES,
    DEPTH_INFO,
    GRASP,
    JOINT_STATES,
    SCENE,
    TF,
    TF_STATIC,
)

PROXIMITY = Topic(
    'proximity', 'frame_ros/msg/Proximity', 'least distances, of all cameras and known obstacles'
)
ALIGNMENT = Topic(
    'camera_alignment', 'frame_ros/msg/CameraAlignment',
    'where a depth camera sees the arm, against kinematics', depth=10,
)  # fmt: skip
POINTS = Topic(
    'proximity/points', 'sensor_msgs/msg/PointCloud2', 'subsampled, while somebody listens', depth=2
)
SCENE_OF_CAMERAS = SCENE.at('{scene_topic}')
GRIPPER_STATES = JOINT_STATES.at('{gripper_topic}')
SCENES = Topic('{planning_scene}', 'moveit_msgs/msg/PlanningScene', 'obstacles known to MoveIt')
OBJECTS = Topic('{collision_object}', 'moveit_msgs/msg/CollisionObject', 'one of them')

TOPICS = NodeTopics(
    publishes=(PROXIMITY, ALIGNMENT, POINTS),
    subscribes=(
        JOINT_STATES, GRASP, GRIPPER_STATES.when('with `gripper_topic`'),
        DEPTH_IMAGES.when('for each camera'), DEPTH_INFO.when('for each camera'),
        TF.when('where tf2_msgs is installed'), TF_STATIC.when('where tf2_msgs is installed'),
        SCENE_OF_CAMERAS.when('with `scene_topic`'),
        SCENES.when('with `obstacles.planning_scene_topics`'),
        OBJECTS.when('with `obstacles.collision_object_topics`'),
    ),
    expects=(PROXIMITY, DEPTH_IMAGES),
)  # fmt: skip
