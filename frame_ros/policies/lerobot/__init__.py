# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""LeRobot policies from a local folder, by LeRobot's own configuration, weights and processors."""

from frame_ros.policies.lerobot.loading import LeRobotCheckpoint, load_lerobot_policy
from frame_ros.policies.lerobot.policy import LeRobotPolicy

__all__ = ['LeRobotCheckpoint', 'LeRobotPolicy', 'load_lerobot_policy']
