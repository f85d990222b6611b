# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Comparing two policies pair by pair, with an error rate that holds although the study is stopped
early.
"""
