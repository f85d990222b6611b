# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Scenes drawn from seeds, and the simulated robot that stands in for hardware.

Needs the extra `sim` (mujoco).
"""

from frame_ros.scenes.generation.clutter import (
    Obstacle,
    draw_clutter,
)
from frame_ros.scenes.generation.layout import Placement, SceneLayout, draw_layout
from frame_ros.scenes.simulation.contacts import Contact
from frame_ros.scenes.simulation.distances import LeastDistance
from frame_ros.scenes.simulation.external_forces import ExternalForces
from frame_ros.scenes.simulation.noise.depth_noise import DepthNoise, DepthNoiseOptions
from frame_ros.scenes.simulation.noise.sensor_noise import JointNoise, JointTorqueNoise, WrenchNoise
from frame_ros.scenes.simulation.noise.servo_noise import CurrentNoise
from frame_ros.scenes.simulation.rendering import CameraFrame, Intrinsics, SceneRenderer
from frame_ros.scenes.simulation.robot_simulation import JointReadings
from frame_ros.scenes.simulation.scene_robot import SO101, SceneRobot, scene_robot
from frame_ros.scenes.simulation.simulation import JOINT_NAMES, PickPlaceSimulation
from frame_ros.scenes.simulation.state import SceneState
from frame_ros.scenes.simulation.task import TaskState
from frame_ros.scenes.simulation.visibility import VisibilityRule

__all__ = [
    'JOINT_NAMES',
    'SO101',
    'CameraFrame',
    'Contact',
    'CurrentNoise',
    'DepthNoise',
    'DepthNoiseOptions',
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
    'TaskState',
    'VisibilityRule',
    'WrenchNoise',
    'draw_clutter',
    'draw_layout',
    'scene_robot',
]
