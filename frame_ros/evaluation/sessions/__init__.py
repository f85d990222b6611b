# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Blinded sessions on a robot: which policy acts is drawn, and nobody knows it until the end."""
