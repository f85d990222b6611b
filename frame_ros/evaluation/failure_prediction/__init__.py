# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Prediction of a policy's failures from its scores, on simulated episodes in which something goes
wrong.
"""
