# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Scenes drawn from seeds, and the simulated robot that stands in for hardware.

Needs the extra `sim` (mujoco).
"""

from frame_ros.scenes.contacts import Contact
from frame_ros.scenes.distances import LeastDistance
from frame_ros.scenes.layout import Placement, SceneLayout, draw_layout
from frame_ros.scenes.rendering import CameraFrame, Intrinsics, SceneRenderer
from frame_ros.scenes.simulation import JOINT_NAMES, JointReadings, PickPlaceSimulation, SceneState
from frame_ros.scenes.task import TaskState

__all__ = [
    'JOINT_NAMES',
    'CameraFrame',
    'Contact',
    'Intrinsics',
    'JointReadings',
    'LeastDistance',
    'PickPlaceSimulation',
    'Placement',
    'SceneLayout',
    'SceneRenderer',
    'SceneState',
    'TaskState',
    'draw_layout',
]
