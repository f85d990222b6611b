# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""State of a driver's bus and cameras."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from frame_ros.hardware.lerobot.robot import RobotReading


class Activity(Enum):
    """A driver's action on the arm."""

    HOLDING = 'holding'
    FOLLOWING = 'following commands'
    RELEASED = 'torque is off'
    LOST = 'not connected'
    ABORTED = 'stopped by the arm itself'


@dataclass
class BusCounts:
    """Since it was activated. limited: goals that max_relative_target or a limit changed."""

    cycles: int = 0
    commands: int = 0
    sent: int = 0
    refused: int = 0
    stale: int = 0
    limited: int = 0
    holds: int = 0
    retries: int = 0
    losses: int = 0
    reconnections: int = 0


@dataclass(frozen=True)
class BusState:
    """State of the bus."""

    activity: Activity
    counts: BusCounts
    missed: int
    problem: str  # why it is lost, or why the last command was refused, in words
    reading: RobotReading | None


@dataclass(frozen=True)
class CameraState:
    """State of a camera."""

    frames: int  # images published
    problem: str  # why none are published now, in words
