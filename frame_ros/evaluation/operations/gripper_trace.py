# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Command and measured opening of the gripper of an episode, on one grid of times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.streams.form import Stream
from frame_ros.bags.streams.joints import STATE_TYPES
from frame_ros.bags.streams.table import read_stream
from frame_ros.core.errors import BagError, FrameRosError
from frame_ros.episodes.episode import Episode
from frame_ros.evaluation.operations.detector_options import DetectorOptions
from frame_ros.evaluation.operations.event_times import EventTimes
from frame_ros.robots import load_robot
from frame_ros.robots.robot import Robot

# Samples of the running median of the measured opening: single wrong ones are passed over.
WIDTH = 3
# Samples of an episode: with the default period 28 hours.
MOST = 5_000_000


@dataclass(frozen=True)
class GripperTrace:
    """The gripper over an episode; openings are shares from closed on nothing (0) to open (1).

    Attributes:
        times: (T,) s since the episode's start, evenly spaced.
        target: (T,) commanded opening; NaN before the first command.
        opening: (T,) measured; NaN where it is not known.
        closed_band: opening below which it is closed on nothing.
        is_commanded: whether the target is a command; False: the measured opening stands for it.
        notes: in words.
    """

    times: NDArray[np.float64]
    target: NDArray[np.float64]
    opening: NDArray[np.float64]
    closed_band: float
    is_commanded: bool = True
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class OpeningScale:
    """The gripper's joint, and the positions (rad or m) at which it is empty and open."""

    joint: str
    empty: float
    opened: float
    margin: float = 0.0  # rad or m

    def share(self, positions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Openings of positions (T,)."""
        return (positions - self.empty) / (self.opened - self.empty)


def gripper_trace(
    episode: Episode, options: DetectorOptions, times: EventTimes
) -> GripperTrace | str:
    """Returns the gripper's command and opening, or why there is none, in words."""
    from scipy.signal import medfilt

    scale = opening_scale(episode, options.joint)
    if isinstance(scale, str):
        return scale
    measured = _joint_samples(_measured(episode, scale.joint), scale.joint, times)
    if measured is None:
        return f'no joint state of {scale.joint} was recorded'
    count = int(times.duration / options.period + 0.5) + 1
    if count > MOST:
        return f'it lasts {times.duration:.4g} s by its stamps, too long to look at'
    grid: NDArray[np.float64] = np.arange(count, dtype=np.float64) * options.period
    opening = scale.share(_at(grid, *measured, options.gap))
    opening = medfilt(opening, WIDTH) if len(opening) >= WIDTH else opening
    commanded = _joint_samples(episode.streams.get('action'), scale.joint, times)
    notes = []
    if commanded is None:
        notes.append(f'no command of {scale.joint}: edges are those of the measured opening')
        target = opening
    else:
        target = scale.share(_at(grid, *commanded, np.inf))
    if is_lost := float(np.mean(np.isnan(opening))) if len(opening) else 0.0:
        notes.append(f'the opening of the gripper is not known in {is_lost:.0%} of the episode')
    margin = abs(scale.margin / (scale.opened - scale.empty))
    band = options.closed_band or margin
    return GripperTrace(grid, target, opening, band, commanded is not None, tuple(notes))


def opening_scale(episode: Episode, joint: str = '') -> OpeningScale | str:
    """Returns the scale of the opening by the episode's robot, or why there is none, in words.

    joint: '': that of the robot's profile.
    """
    name = episode.attributes.get('robot', '')
    if not name:
        return 'its robot is not known (--robot)'
    try:
        robot: Robot = load_robot(name)
    except (FrameRosError, ImportError) as error:
        return f'its robot cannot be loaded: {error}'
    gripper = robot.profile.gripper
    joint = joint or (gripper.joint if gripper else '')
    if joint not in robot.joint_limits:
        return f'the robot {name} has no gripper joint {joint!r}: give --joint'
    lower, upper = robot.joint_limits[joint]
    if gripper is None or gripper.joint != joint:
        return OpeningScale(joint, lower, upper)
    opened = upper if gripper.smaller_is_closed else lower
    return OpeningScale(joint, gripper.empty, opened, gripper.margin)


def _measured(episode: Episode, joint: str) -> Stream | None:
    """Returns the stream with the states of the gripper's joint: of the arm, or its own topic."""
    for role in ('joint_states', 'gripper'):
        stream = episode.streams.get(role)
        if stream is not None and stream.message_type in STATE_TYPES and _has(stream, joint):
            return stream
    bag = episode.open_bag()
    for name in sorted(bag.topics) if bag is not None else ():
        if bag is None or bag.topics[name].message_type not in STATE_TYPES or 'gripper' not in name:
            continue
        try:
            stream = read_stream(bag, 'joint_states', name)
        except BagError:
            continue
        if _has(stream, joint):
            return stream
    return None


def _has(stream: Stream, joint: str) -> bool:
    return bool((np.asarray(stream.values['names']) == joint).any())


def _joint_samples(
    stream: Stream | None, joint: str, times: EventTimes
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Returns times (s) and positions (rad or m) of one joint, by time; None without any."""
    if stream is None or not len(stream) or not _has(stream, joint):
        return None
    is_joint = np.asarray(stream.values['names']) == joint
    positions = np.asarray(stream.values['positions'], np.float64)
    width = min(is_joint.shape[1], positions.shape[1])
    is_joint, positions = is_joint[:, :width], positions[:, :width]
    place = is_joint.argmax(axis=1)
    found = positions[np.arange(len(positions)), place]
    is_used = is_joint.any(axis=1) & np.isfinite(found) & (stream.stamps > 0)
    seconds = times.of_stream(stream)[is_used]
    order = np.argsort(seconds, kind='stable')
    return (seconds[order], found[is_used][order]) if len(order) else None


def _at(
    grid: NDArray[np.float64],
    seconds: NDArray[np.float64],
    values: NDArray[np.float64],
    gap: float,
) -> NDArray[np.float64]:
    """Returns the newest value at each time of the grid (T,); NaN if it is older than `gap` (s)."""
    place = np.searchsorted(seconds, grid + 1e-9, side='right') - 1
    known = np.maximum(place, 0)
    is_known = (place >= 0) & (grid - seconds[known] <= gap)
    return np.where(is_known, values[known], np.nan)
