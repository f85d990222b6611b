# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The Franka Emika Panda with its hand."""

from frame_ros.robots.franka import franka_profile

PROFILE = franka_profile(
    'panda', 'Panda', (15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0), generic_motors='fr3'
)
