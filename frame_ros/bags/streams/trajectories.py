# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Trajectories of joints (JointTrajectory) as commands: each point is a step, from the moment at
which the controller sets out for it.

That moment is the start of the trajectory for its first point, and the time of the point before for
all others: of a policy that sends one point a message each message is a step. The start is
`header.stamp`, where zero means now, for which the receive time stands. A later trajectory replaces
what is left of the one before from its start on, and one without points ends it. So does
joint_trajectory_controller of ros2_controllers ("Trajectory Replacement" in its doc/trajectory.rst,
and `allow_trajectory_replacement`), whose checks of a message (`validate_trajectory_msg`) are also
those here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.cdr import stack_rows
from frame_ros.bags.findings import MOST_LOST, Note
from frame_ros.bags.message_table import MessageTable
from frame_ros.bags.reader import Bag
from frame_ros.bags.repeated_rows import repeated
from frame_ros.bags.streams.poses import LARGEST
from frame_ros.core.plain_text import counted
from frame_ros.core.stamps import SET_BACK
from frame_ros.core.time import SECOND, stamp_ns

TRAJECTORY_TYPE = 'trajectory_msgs/msg/JointTrajectory'
MOST_JOINTS = 256  # of a message; more are an error of it
# ns: a start further from the receipt is of another clock.
FARTHEST_START = 60 * SECOND
NO_POINTS = 'without points, which ends the one before'


@dataclass(frozen=True)
class Trajectory:
    """One message.

    Attributes:
        start: ns, by its stamp, or its receipt where that is zero.
        received: ns.
        times: (P,) ns after the start at which the points are to be reached, increasing.
        positions: (P, D) rad or m.
    """

    start: int
    received: int
    names: tuple[str, ...]
    times: NDArray[np.int64]
    positions: NDArray[np.float64]


class TrajectoryStep(NamedTuple):
    """One point, at the time from which the controller goes there."""

    stamp: int  # ns
    arrival: int  # ns, the receive time that a command sent at the stamp would have had
    names: tuple[str, ...]
    positions: NDArray[np.float64]  # (D,) rad or m


def read_trajectories(bag: Bag, topic: str) -> tuple[NDArray, dict[str, NDArray]]:
    """Returns arrivals and steps of a topic of trajectories, in the form of joint commands. What
    cannot be used is reported.
    """
    found: list[Trajectory] = []
    left_out: Counter[str] = Counter()
    unstamped = 0
    for received, message in bag.messages(topic):
        start = stamp_ns(message.header.stamp)
        problem = trajectory_problem(message)
        if problem:
            left_out[problem] += 1
            if problem != NO_POINTS:
                continue
        unstamped += start == 0
        found.append(_trajectory(message, start or received, received))
    end = max((int(t.received.max()) for t in _tables(bag)), default=0)
    steps = [step for step in steps_of(found) if step.arrival <= end]
    _report(bag, topic, found, len(steps), left_out, unstamped)
    return np.array([step.arrival for step in steps], np.int64), _columns(steps)


def _tables(bag: Bag) -> list[MessageTable]:
    return [table for topic in bag.topics.values() for table in topic.tables if len(table)]


def trajectory_problem(message: Any) -> str:
    """Returns why a JointTrajectory gives no steps, in words; '' if it gives some."""
    names, points = message.joint_names, message.points
    if not len(points):
        return NO_POINTS
    if not len(names) or '' in names or len(set(names)) < len(names):
        return 'that do not name each joint once'
    if len(names) > MOST_JOINTS:
        return f'of more than {MOST_JOINTS} joints'
    sizes = {len(point.positions) for point in points}
    if sizes == {0}:
        return 'without positions'
    if sizes != {len(names)}:
        return 'with another number of positions than of joints'
    if not all(np.abs(point.positions).sum() < LARGEST for point in points):
        return 'with a position that is not finite'
    times = [stamp_ns(point.time_from_start) for point in points]
    if times[0] < 0 or any(after <= before for before, after in zip(times, times[1:])):
        return 'whose points are not in the order of time'
    return ''


def _trajectory(message: Any, start: int, received: int) -> Trajectory:
    names = tuple(map(str, message.joint_names))
    times = np.array([stamp_ns(point.time_from_start) for point in message.points], np.int64)
    rows = [np.asarray(point.positions, np.float64) for point in message.points]
    return Trajectory(start, received, names, times, np.stack(rows) if rows else np.zeros((0, 0)))


def _is_late(each: Trajectory, point: int) -> bool:
    """Returns whether one of the points was due before the receipt, by the same clock. The first
    point of a plan may be where it starts.
    """
    if not len(each.times):
        return False
    due = each.times[point] or each.times[min(1, len(each.times) - 1)]
    return each.start + int(due) < each.received < each.start + FARTHEST_START


def steps_of(trajectories: Sequence[Trajectory]) -> list[TrajectoryStep]:
    """Returns the steps of trajectories, given in the order of their receipt.

    A clock that was set back begins again: what was under way then goes on until the receipt of the
    next trajectory. So it does where all have the same stamp, which is none.
    """
    steps: list[TrajectoryStep] = []
    is_stamped = len({each.start for each in trajectories}) > 1
    epoch = last = 0  # the first step of the present clock; the start before, ns
    for each in trajectories:
        is_ahead = 0 < each.start - each.received < FARTHEST_START
        arrival = each.start if is_ahead else each.received
        if is_stamped and each.start > last - SET_BACK:
            while len(steps) > epoch and steps[-1].stamp >= each.start:
                steps.pop()
        else:
            while steps and steps[-1].arrival >= arrival:
                steps.pop()
            epoch = len(steps)
        last = each.start
        steps += _own_steps(each, arrival)
    arrivals = np.array([step.arrival for step in steps], np.int64)
    # A simulated clock may go faster or slower than that of the receive times.
    ordered = np.minimum.accumulate(arrivals[::-1])[::-1].tolist()
    return [step._replace(arrival=at) for step, at in zip(steps, ordered)]


def _own_steps(each: Trajectory, arrival: int) -> list[TrajectoryStep]:
    begins = [0, *each.times[:-1].tolist()]
    # A first point that is to be reached at once leads nowhere if another follows.
    first = int(len(begins) > 1 and each.times[0] == 0)
    return [
        TrajectoryStep(each.start + begin, arrival + begin, each.names, row)
        for begin, row in list(zip(begins, each.positions))[first:]
    ]


def _columns(steps: Sequence[TrajectoryStep]) -> dict[str, NDArray]:
    count = len(steps)
    sizes = np.array([len(step.names) for step in steps], np.int64)
    if len({step.names for step in steps}) == 1:
        names = repeated(np.array(steps[0].names), count)
    else:
        names = stack_rows([np.array([step.names]) for step in steps] or [np.zeros((0, 0), '<U1')])
    rows: list[NDArray] = [step.positions[None, :] for step in steps]
    return {
        'header.stamp': np.array([step.stamp for step in steps], np.int64),
        'name': names,
        'name.count': sizes,
        'position': stack_rows(rows or [np.zeros((0, 0))]),
        'position.count': sizes,
    }


def _report(
    bag: Bag,
    topic: str,
    found: Sequence[Trajectory],
    steps: int,
    left_out: Counter[str],
    unstamped: int,
) -> None:
    """Reports what was left out, and how steps were made of the rest."""
    ended = left_out.pop(NO_POINTS, 0)
    lost = left_out.total()
    if lost:
        count = lost + len(found)
        why = ', '.join(f'{number:,} {what}' for what, number in left_out.items())
        text = f'{topic}: of {counted(count, "message")} {lost:,} left out: {why}'
        bag.report(text if lost > MOST_LOST * count else Note(text))
    if ended:
        bag.report(Note(f'{topic}: {counted(ended, "message")} {NO_POINTS}'))
    if unstamped:
        bag.report(
            Note(
                f'{topic}: {unstamped:,} of {counted(len(found), "message")} without a stamp: '
                'it means now, so the times at which they were received count'
            )
        )
    _report_late(bag, topic, found)
    points = sum(len(each.times) for each in found)
    if any(len(each.times) > 1 for each in found):
        bag.report(
            Note(
                f'{topic}: {counted(points, "point")} of {counted(len(found), "message")} give '
                f'{counted(steps, "step")}, each from the time at which the controller sets out '
                'for it; those that a later trajectory replaced, or behind the end of the '
                'recording, are none'
            )
        )


def _report_late(bag: Bag, topic: str, found: Sequence[Trajectory]) -> None:
    """Reports trajectories that the controller had not taken as they are; few of them in a note."""
    over = sum(_is_late(each, -1) for each in found)
    late = over or sum(_is_late(each, 0) for each in found)
    if not late:
        return
    when = 'the last point was' if over else 'points were'
    what = 'refuses such' if over else 'begins behind these points'
    text = (
        f'{topic}: {late:,} of {counted(len(found), "message")} received when {when} due already: '
        f'joint_trajectory_controller {what}, which are steps here; or two clocks differ'
    )
    bag.report(text if late > MOST_LOST * len(found) else Note(text))
