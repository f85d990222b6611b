# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Health of a node or a device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum


class Level(IntEnum):
    """Severity; the numbers are those of diagnostic_msgs/DiagnosticStatus."""

    OK = 0
    WARN = 1
    ERROR = 2


@dataclass(frozen=True)
class Status:
    """One line of diagnostics."""

    name: str  # the part's name; '' for the node itself
    level: Level
    message: str
    values: Mapping[str, str] = field(default_factory=dict)
    hardware_id: str = ''  # '' for that of the node
