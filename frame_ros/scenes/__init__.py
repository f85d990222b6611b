# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Scenes drawn from seeds, and the simulated robot that stands in for hardware.

Needs the extra `sim` (mujoco).
"""

from frame_ros.scenes.clutter import Obstacle, SwayPath, draw_clutter, draw_moving_obstacle
from frame_ros.scenes.contacts import Contact
from frame_ros.scenes.depth_noise import DepthNoise, DepthNoiseSettings
from frame_ros.scenes.distances import LeastDistance
from frame_ros.scenes.external_forces import ExternalForces
from frame_ros.scenes.layout import Placement, SceneLayout, Worktable, draw_layout
from frame_ros.scenes.rendering import CameraFrame, Intrinsics, SceneRenderer
from frame_ros.scenes.scene_cameras import SceneState
from frame_ros.scenes.scene_robot import FR3, ROBOTS, SO101, SceneRobot, scene_robot
from frame_ros.scenes.sensor_noise import JointNoise, JointTorqueNoise, WrenchNoise
from frame_ros.scenes.servo_noise import CurrentNoise
from frame_ros.scenes.simulation import JOINT_NAMES, JointReadings, PickPlaceSimulation
from frame_ros.scenes.task import TaskState
from frame_ros.scenes.visibility import VisibilityRule

__all__ = [
    'FR3',
    'JOINT_NAMES',
    'ROBOTS',
    'SO101',
    'CameraFrame',
    'Contact',
    'CurrentNoise',
    'DepthNoise',
    'DepthNoiseSettings',
    'ExternalForces',
    'Intrinsics',
    'JointNoise',
    'JointReadings',
    'JointTorqueNoise',
    'LeastDistance',
    'Obstacle',
    'PickPlaceSimulation',
    'Placement',
    'SceneLayout',
    'SceneRenderer',
    'SceneRobot',
    'SceneState',
    'SwayPath',
    'TaskState',
    'VisibilityRule',
    'Worktable',
    'WrenchNoise',
    'draw_clutter',
    'draw_layout',
    'draw_moving_obstacle',
    'scene_robot',
]
