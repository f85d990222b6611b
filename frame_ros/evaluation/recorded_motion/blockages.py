# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joints of a recorded arm that are evidently blocked, by positions and goals alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from frame_ros.core.time import SECOND
from frame_ros.evaluation.recorded_motion.sage import EffortRecording

FAR = 0.13  # rad from its goal, to one side
LONG = 0.6  # s
STANDS = 0.1  # rad by which the joint moves in that time, at most
GOES_ON = 0.03  # rad by which its goal goes on away from it, at least


class Blockage(NamedTuple):
    """A joint that stands while its goal goes on.

    Attributes:
        joint: its name.
        begin, end: s since the first sample, between which it is FAR from its goal.
        distance: rad from its goal, the largest.
        effort: the largest, in the recording's unit.
    """

    joint: str
    begin: float
    end: float
    distance: float
    effort: float


def evident_blockages(recording: EffortRecording, but: str = 'gripper') -> list[Blockage]:
    """Returns them in the order of joints and times; but: a joint that may grasp."""
    times = (recording.stamps - recording.stamps[0]) / SECOND
    found = []
    for joint, name in enumerate(recording.joint_names):
        if name == but:
            continue
        q, goals = recording.positions[:, joint], recording.goals[:, joint]
        far = np.where(np.abs(goals - q) >= FAR, np.sign(goals - q), 0.0)
        for first, last in _runs(far):
            rows, side = slice(first, last + 1), far[first]
            is_long = times[last] - times[first] >= LONG
            goes_on = (side * (goals[rows] - goals[first])).max() >= GOES_ON
            if is_long and goes_on and np.ptp(q[rows]) <= STANDS:
                distance = float(np.abs(goals[rows] - q[rows]).max())
                effort = float(np.abs(recording.efforts[rows, joint]).max())
                found.append(
                    Blockage(name, float(times[first]), float(times[last]), distance, effort)
                )
    return found


def _runs(signs: np.typing.NDArray[np.float64]) -> Iterator[tuple[int, int]]:
    """Yields first and last index of each run of one sign other than 0."""
    ends = [0, *(np.flatnonzero(np.diff(signs)) + 1).tolist(), len(signs)]
    for first, end in zip(ends[:-1], ends[1:], strict=True):
        if end > first and signs[first]:
            yield first, end - 1
