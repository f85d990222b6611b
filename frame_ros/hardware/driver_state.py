# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""State of a driver's bus and cameras."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from frame_ros.hardware.lerobot.robot import RobotReading


class Activity(Enum):
    """What the driver does with the arm."""

    HOLDING = 'holding'
    FOLLOWING = 'following commands'
    RELEASED = 'torque is off'
    LOST = 'not connected'


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
    """What there is to tell about the robot. problem: why it is lost, or why a command was refused
    last; in words.
    """

    activity: Activity
    counts: BusCounts
    missed: int
    problem: str
    reading: RobotReading | None


@dataclass(frozen=True)
class CameraState:
    """frames: images published. problem: why there are none now, in words."""

    frames: int
    problem: str
