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
class DriverCounts:
    """Since a driver was activated, of any arm.

    Attributes:
        commands: received.
        sent: commands that the arm got: goals of a bus, motions begun or replaced of a Franka.
        refused: commands that were not followed.
        stale: commands that were too old.
        limited: goals that a limit or max_relative_target changed.
        holds: stops because no command came.
        losses: of the connection.
        reconnections: after that.
    """

    commands: int = 0
    sent: int = 0
    refused: int = 0
    stale: int = 0
    limited: int = 0
    holds: int = 0
    losses: int = 0
    reconnections: int = 0


@dataclass
class BusCounts(DriverCounts):
    """Of a bus of servos: also its cycles, reads and writes that were tried again, and motors that
    restarted while they were connected.
    """

    cycles: int = 0
    retries: int = 0
    restarts: int = 0


@dataclass(frozen=True)
class BusState:
    """State of the bus."""

    activity: Activity
    counts: BusCounts
    missed: int
    problem: str  # why it is lost, or why the last command was refused, in words
    reading: RobotReading | None
    limp: tuple[str, ...] = ()  # joints that lost their torque, but not their power
    fallen: tuple[str, ...] = ()  # that were without power, and went elsewhere


@dataclass(frozen=True)
class CameraState:
    """State of a camera."""

    frames: int  # images published
    problem: str  # why none are published now, in words
