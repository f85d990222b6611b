# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings to motions of a robot that has a depth world."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.find_bags import find_bags
from frame_ros.bags.findings import Note
from frame_ros.bags.reader import Bag
from frame_ros.bags.recording_options import RecordedUnits
from frame_ros.bags.streams.form import Stream
from frame_ros.bags.streams.joint_table import JointTable, state_table
from frame_ros.bags.streams.table import read_stream
from frame_ros.bags.streams.topic_map import TopicMap
from frame_ros.core.errors import BagError, ValueRangeError
from frame_ros.core.time import SECOND
from frame_ros.core.turns import continuous_among, unwrapped
from frame_ros.episodes.recorded.units import in_radians, joint_problems
from frame_ros.evaluation.recorded_motion.foreign_sets import (
    is_lerobot,
    lerobot_streams,
    lerobot_type,
)
from frame_ros.evaluation.recorded_motion.motion import Motion, pieces
from frame_ros.evaluation.recorded_motion.sage import sage_files, sage_stream
from frame_ros.evaluation.trials.worlds.robots import WORLD_ROBOTS
from frame_ros.robots import ROBOT_NAMES, Robot, load_robot
from frame_ros.robots.grippers import gripper_joints
from frame_ros.robots.likely_units import LEAST_MARGIN, MARGIN

ROLE = 'joint_states'
OLD_NAME = 'main_'  # how LeRobot's joints began, with other zeros and signs, until June 2025


@dataclass(frozen=True)
class _Episode:
    """name; states: of the joints; said: the robot that the recording names, '' if none."""

    name: str
    states: Stream
    said: str = ''


@dataclass(frozen=True)
class RecordedMotion:
    """A recording.

    Attributes:
        robot: whose depth world it moves, of WORLD_ROBOTS.
        motions: pieces without gaps, positions in the order of the world's joints.
        seconds: recorded.
        samples: joint states that were recorded.
        left_out: reason -> samples that gave no position.
        notes: what was assumed, and what is doubtful.
    """

    robot: str
    motions: tuple[Motion, ...]
    seconds: float
    samples: int
    left_out: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def read_motion(path: str | Path, units: RecordedUnits | None = None) -> RecordedMotion:
    """Reads the joint positions of a bag, a folder of bags, a LeRobot data set, or recordings of
    SAGE (`sage`).

    Args:
        path: of it.
        units: of bags and data sets; None: rad.

    Raises:
        BagError: it cannot be read, holds no joint positions, or is of another robot.
        ValueRangeError: positions outside of the robot's limits.
        MissingExtraError: what reads it is not installed.
    """
    path, units = Path(path), units or RecordedUnits()
    sage = [] if is_lerobot(path) else sage_files(path)
    if sage and units != RecordedUnits():
        raise ValueRangeError(f'{path}: recordings of SAGE are in rad, not in {units.units}')
    episodes = [each for each in _episodes(path, sage) if len(each.states)]
    if not episodes:
        raise BagError(f'{path} holds no joint positions')
    name = _robot_of(path, episodes)
    reading = _Reading(load_robot(name), tuple(WORLD_ROBOTS[name].joints.values()))
    for episode in episodes:
        reading.add(episode.name, episode.states, units)
    return reading.result()


def _episodes(path: Path, sage: list[Path]) -> Iterator[_Episode]:
    """Yields each recording."""
    if is_lerobot(path):
        said = lerobot_type(path)
        yield from (_Episode(name, states, said) for name, states in lerobot_streams(path))
    elif sage:
        jaw = load_robot('so101').grippers['gripper']
        yield from (_Episode(file.parent.name, sage_stream(file, jaw)) for file in sage)
    else:
        for bag_path in find_bags(path):
            bag = Bag(bag_path)
            topic = TopicMap(bag).find(ROLE)
            said = bag.metadata.get('robot', '')
            if topic is not None:
                # A description in a file may be of any robot: its joints say which.
                said = said if said in ROBOT_NAMES else ''
                yield _Episode(bag.name, read_stream(bag, ROLE, topic), said)


def _robot_of(path: Path, episodes: list[_Episode]) -> str:
    """Returns the robot whose joints, but for grippers, are all recorded."""
    names = {str(name) for each in episodes for name in np.unique(each.states.values['names'])}
    needed = {
        robot: [name for name in each.joints.values() if not gripper_joints([name])]
        for robot, each in WORLD_ROBOTS.items()
    }
    for robot, joints in needed.items():
        if names.issuperset(joints):
            said = sorted({each.said for each in episodes} - {'', *WORLD_ROBOTS[robot].called})
            if said:
                raise BagError(
                    f'{path} is of another robot: {", ".join(said)}, whose joints have the names '
                    f"of {robot}'s"
                )
            return robot
    hint = ''
    if any(name.startswith(OLD_NAME) for name in names):
        hint = '; they are of LeRobot before June 2025, whose zeros and signs were others'
    known = ' and '.join(f'{robot} ({", ".join(joints)})' for robot, joints in needed.items())
    listed = ', '.join(sorted(names - {''})[:10])
    raise BagError(
        f'{path} is of another robot: joints {listed}; there are worlds of {known}{hint}'
    )


class _Reading:
    """Pieces, counts and notes of the episodes that were read so far."""

    def __init__(self, robot: Robot, joints: tuple[str, ...]) -> None:
        self.robot, self.joints = robot, joints
        self._motions: list[Motion] = []
        self._left_out: dict[str, int] = {}
        self._notes: dict[str, None] = {}
        self._samples, self._seconds = 0, 0.0

    def add(self, name: str, stream: Stream, units: RecordedUnits) -> None:
        """Takes the joint states of an episode."""
        converted, notes = in_radians({ROLE: stream}, units, self.robot)
        stream = converted[ROLE]
        problems = joint_problems(converted, self.robot)
        if serious := [text for text in problems if not isinstance(text, Note)]:
            raise ValueRangeError(f'{name}: {serious[0]}')
        table = state_table(stream, self.robot.continuous)
        self._samples += len(stream)
        for reason, count in table.left_out.items():
            self._leave_out(reason, count)
        self._notes.update(dict.fromkeys([*map(str, notes), *map(str, problems)]))
        if len(table):
            is_continuous = continuous_among(self.joints, self.robot.continuous)
            positions = unwrapped(self._columns(name, table), is_continuous)
            self._take(Motion(name, (table.stamps - table.stamps[0]) / SECOND, positions))

    def _take(self, motion: Motion) -> None:
        self._seconds += motion.duration
        is_inside = _is_inside(motion.positions, self.joints, self.robot)
        self._leave_out('outside of the limits', int((~is_inside).sum()))
        self._motions += pieces(motion, is_inside)

    def _columns(self, name: str, table: JointTable) -> NDArray[np.float64]:
        """Returns (T, J) of the world's joints; a gripper that was not recorded is half open."""
        columns = []
        for joint in self.joints:
            if joint in table.names:
                columns.append(table.positions[:, table.names.index(joint)])
                continue
            if not gripper_joints([joint]):
                raise BagError(f'{name} has no positions of {joint}; it has {list(table.names)}')
            self._notes[f'{joint} was not recorded: it is taken as half open'] = None
            columns.append(np.full(len(table), float(np.mean(self.robot.joint_limits[joint]))))
        return np.stack(columns, axis=1)

    def _leave_out(self, reason: str, count: int) -> None:
        if count:
            self._left_out[reason] = self._left_out.get(reason, 0) + count

    def result(self) -> RecordedMotion:
        """Of all episodes."""
        return RecordedMotion(
            self.robot.name, tuple(self._motions), self._seconds, self._samples,
            dict(self._left_out), tuple(self._notes),
        )  # fmt: skip


def _is_inside(
    positions: NDArray[np.float64], joints: tuple[str, ...], robot: Robot
) -> NDArray[np.bool_]:
    """Returns (T,) whether each joint is within its limits, by the margin of `joint_problems`."""
    limits = np.array([robot.joint_limits[joint] for joint in joints])
    margin = np.maximum(MARGIN * np.ptp(limits, axis=1), LEAST_MARGIN)
    inside = (positions >= limits[:, 0] - margin) & (positions <= limits[:, 1] + margin)
    return np.asarray(inside.all(axis=1))
