# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The halt monitor: a policy's scores against their thresholds, and what is near the robot."""

from frame_ros.confidence.monitor.halt_monitor import HaltMonitor
from frame_ros.confidence.monitor.options import MonitorOptions
from frame_ros.confidence.monitor.records import (
    Cause,
    Level,
    MonitorSample,
    MonitorVerdict,
    Reason,
)

__all__ = [
    'Cause',
    'HaltMonitor',
    'Level',
    'MonitorOptions',
    'MonitorSample',
    'MonitorVerdict',
    'Reason',
]
