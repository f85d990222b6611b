# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Alarm thresholds and drift detection whose rate of false alarms is stated and holds."""
