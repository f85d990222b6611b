# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""MuJoCo, as every simulation has it."""

from frame_ros.core.engine import load_mujoco

__all__ = ['load_mujoco']
