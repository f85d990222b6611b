# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""State of the driver of a Franka arm, and its diagnostics."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from frame_ros.core.health import Level, Status
from frame_ros.hardware.driver_state import Activity, DriverCounts
from frame_ros.hardware.franky.reading import FrankaReading

FEWEST_IN_TIME = 0.95  # share of commands that reach the arm in time below which it is a warning


@dataclass
class FciCounts(DriverCounts):
    """Of a Franka arm.

    Attributes:
        states: read from the arm.
        states_missed: that the arm sent and this driver would have read, had it been in time.
        aborts: motions that the arm ended itself.
    """

    states: int = 0
    states_missed: int = 0
    aborts: int = 0


@dataclass(frozen=True)
class FciState:
    """State of the driver. problem: why the arm does not follow, in words."""

    activity: Activity
    counts: FciCounts
    problem: str
    reading: FrankaReading | None


def fci_statuses(state: FciState, hand_problem: str | None) -> list[Status]:
    """Returns one status of the arm, one of the hand. hand_problem: None without a hand."""
    hand = [] if hand_problem is None else [_hand_status(hand_problem)]
    return [_arm_status(state), *hand]


def _hand_status(problem: str) -> Status:
    return Status('hand', Level.ERROR if problem else Level.OK, problem or 'it answers', {})


def _arm_status(state: FciState) -> Status:
    values = {key: str(value) for key, value in asdict(state.counts).items()}
    activity, reading = state.activity, state.reading
    if reading is not None:
        values |= {'mode': reading.mode, 'commands in time': f'{reading.success_rate:.2f}'}
    if activity in (Activity.LOST, Activity.ABORTED):
        return Status('robot', Level.ERROR, f'{activity.value}: {state.problem}', values)
    if reading is not None and 0.0 < reading.success_rate < FEWEST_IN_TIME:
        text = f'{reading.success_rate:.0%} of the commands reach the arm in time'
        return Status('robot', Level.WARN, text, values)
    return Status('robot', Level.OK, activity.value, values)
