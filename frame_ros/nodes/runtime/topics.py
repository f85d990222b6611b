# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Topics that several nodes publish, or that come from outside."""

from __future__ import annotations

from frame_ros.core.topics import Service, Topic
from frame_ros.sensing.stream_health.readiness import READINESS_TOPIC

JOINT_STATE = 'sensor_msgs/msg/JointState'
IMAGE = 'sensor_msgs/msg/Image'
CAMERA_INFO = 'sensor_msgs/msg/CameraInfo'
POSE = 'geometry_msgs/msg/PoseStamped'
WRENCH_STAMPED = 'geometry_msgs/msg/WrenchStamped'
TRANSFORMS = 'tf2_msgs/msg/TFMessage'
PATH = 'nav_msgs/msg/Path'
BOOL = 'std_msgs/msg/Bool'
STRING = 'std_msgs/msg/String'
TRIGGER = 'std_srvs/srv/Trigger'
SET_BOOL = 'std_srvs/srv/SetBool'
IMAGE_DEPTH = 5

READINESS = Topic(
    READINESS_TOPIC, 'frame_ros/msg/NodeReadiness',
    'inputs that are connected and have delivered, with counts; at change and every 2 s',
    'STATE',
)  # fmt: skip
DIAGNOSTICS = Topic(
    '/diagnostics', 'diagnostic_msgs/msg/DiagnosticArray',
    'once a second: rates, lateness, readiness, and what the node looks after', depth=10,
)  # fmt: skip
OF_EVERY_NODE = (READINESS, DIAGNOSTICS)
CLOCK = Topic('/clock', 'rosgraph_msgs/msg/Clock', 'simulated time')

# Of the robot, its sensors and its surroundings.
JOINT_STATES = Topic('joint_states', JOINT_STATE, 'measured joints')
JOINT_COMMANDS = Topic(
    'joint_commands', JOINT_STATE, 'the executed action, one per control tick; rad, m'
)
POLICY_COMMANDS = Topic('policy_commands', JOINT_STATE, 'the action that the policy asks for')
WRENCH = Topic('wrench', WRENCH_STAMPED, 'of a force-torque sensor')
IMAGES = Topic('{camera}/image_raw', IMAGE, 'colour, rgb8', depth=IMAGE_DEPTH)
IMAGE_INFO = Topic('{camera}/camera_info', CAMERA_INFO, 'intrinsics', depth=IMAGE_DEPTH)
DEPTH_IMAGES = Topic(
    '{camera}/depth/image_raw', IMAGE, 'depth, 16UC1 in mm or 32FC1 in m', depth=IMAGE_DEPTH
)
DEPTH_INFO = Topic('{camera}/depth/camera_info', CAMERA_INFO, 'intrinsics', depth=IMAGE_DEPTH)
OBJECT_POSE = Topic('object_pose', POSE, 'the object, in the frame of ee_pose, for `ot`')
GOAL_POSE = Topic('goal_pose', POSE, 'where the object has to go, likewise')
TF = Topic('/tf', TRANSFORMS, 'transforms that move', depth=100)
TF_STATIC = Topic('/tf_static', TRANSFORMS, 'fixed transforms', 'STATE')

# Estimates of a Franka arm, under franka_ros2's names: best effort but for its full state, which
# has the system's defaults. Theirs are one deep; these are deeper, so that a busy recorder gets all
# of ours.
BROADCASTER = 'franka_robot_state_broadcaster'
FRANKA_WRENCH = Topic(
    '{broadcaster}/external_wrench_in_base_frame', WRENCH_STAMPED,
    "the arm's estimate of the external wrench", 'ESTIMATES',
)  # fmt: skip
FRANKA_STATE = Topic(
    '{broadcaster}/robot_state', 'franka_msgs/msg/FrankaRobotState',
    'state with the flags of contact and collision', depth=10,
)  # fmt: skip
FRANKA_CONTACT = Topic(
    '{broadcaster}/contact', 'frame_ros/msg/ContactState',
    'the flags where franka_msgs is not installed', depth=10,
)  # fmt: skip
FRANKA_TIP_WRENCH = FRANKA_WRENCH.at('{broadcaster}/external_wrench_in_stiffness_frame')
FRANKA_TORQUES = Topic('{broadcaster}/external_joint_torques', JOINT_STATE, 'N m', 'ESTIMATES')
FRANKA_JOINTS = Topic('{broadcaster}/measured_joint_states', JOINT_STATE, 'rad', 'ESTIMATES')
FRANKA_POSE = Topic('{broadcaster}/current_pose', POSE, 'of the tip', 'ESTIMATES')
FRANKA = (
    FRANKA_WRENCH, FRANKA_TIP_WRENCH, FRANKA_TORQUES, FRANKA_JOINTS, FRANKA_POSE, FRANKA_CONTACT,
    FRANKA_STATE,
)  # fmt: skip

# Of the kinematics node, for all that ask what the gripper holds.
GRASP = Topic(
    'grasp', 'frame_ros/msg/GraspState', 'what the gripper holds; at change and 50 times a second'
)

# Of an episode.
EPISODE_EVENTS = Topic(
    'episode_events', 'frame_ros/msg/EpisodeEvent', 'start, end, operations, stops, notes', 'EVENTS'
)
SCENE = Topic(
    'scene', STRING,
    'the scene of a file that is simulated, JSON: number, name, instruction, target, mounts of '
    'cameras',
    'STATE',
)  # fmt: skip
RESET_SCENE = Service('reset_scene', 'frame_ros/srv/ResetScene', 'places object and goal again')
