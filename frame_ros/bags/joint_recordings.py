# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joints with their efforts, and wrenches, of bags: what identification needs."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.find_bags import find_bags
from frame_ros.bags.reader import Bag
from frame_ros.core.errors import SetupError
from frame_ros.core.time import SECOND, stamp_ns
from frame_ros.robots.joint_state_merge import JointMerger
from frame_ros.sensing.contact.joints.fitting.recording import (
    JointRecording,
    newest_commands,
    recording_of,
)

Array = NDArray[np.float64]
COMMANDS = 'joint_commands'  # end of the topic's name
JOINT_STATE, WRENCH = 'sensor_msgs/msg/JointState', 'geometry_msgs/msg/WrenchStamped'
BETWEEN = 10 * SECOND  # ns from one bag to the next
Rows = list[tuple[int, Array, Array, Array]]


def read_joints(
    paths: Iterable[str | Path],
    names: Sequence[str],
    topic: str,
    continuous: Collection[str] = (),
) -> JointRecording:
    """The joints of all bags, one bag after the other and a gap between, whatever their stamps.

    topic: '' takes the only one whose name ends with joint_states. Commands are those of the only
    one whose name ends with joint_commands, unknown in a bag without. continuous: joints that turn
    without end.

    Raises:
        SetupError: no bag has the topic with all joints and efforts.
        BagError: a bag cannot be read. ShapeError: too few samples.
    """
    rows: Rows = []
    goals: list[Array] = []
    for bag in _bags(paths):
        found = _rising(
            _joint_rows(bag, _topic(bag, topic, JOINT_STATE, 'joint_states'), names, continuous)
        )
        shift = rows[-1][0] + BETWEEN - found[0][0] if rows and found else 0
        goals.append(_commands(bag, names, [row[0] for row in found], continuous))
        rows += [(row[0] + shift, *row[1:]) for row in found]
    if not rows:
        raise SetupError(f'no joint state in the bags has all of {", ".join(names)}')
    stamps, q, dq, efforts = zip(*rows, strict=True)
    return recording_of(
        names, np.array(stamps, np.int64), np.array(q), np.array(dq), np.array(efforts),
        np.concatenate(goals), continuous,
    )  # fmt: skip


def read_wrenches(
    paths: Iterable[str | Path],
    names: Sequence[str],
    joint_topic: str,
    wrench_topic: str,
    continuous: Collection[str] = (),
) -> Iterator[tuple[int, Array | None, Array | None]]:
    """Yields (stamp, positions (N,), None) and (stamp, None, wrench (6,)) in the order of stamps.
    continuous: as of `read_joints`.

    Raises:
        SetupError: a bag lacks a topic. BagError: a bag cannot be read.
    """
    for bag in _bags(paths):
        topic = _topic(bag, joint_topic, JOINT_STATE, 'joint_states')
        joints = _joint_rows(bag, topic, names, continuous)
        found: list[tuple[int, Array | None, Array | None]] = [
            (stamp, positions, None) for stamp, positions, _, _ in joints
        ]
        for _, message in bag.messages(_topic(bag, wrench_topic, WRENCH, 'wrench')):
            force, torque = message.wrench.force, message.wrench.torque
            values = [force.x, force.y, force.z, torque.x, torque.y, torque.z]
            found.append((stamp_ns(message.header.stamp), None, np.array(values, np.float64)))
        yield from sorted(found, key=lambda row: row[0])


def _bags(paths: Iterable[str | Path]) -> Iterator[Bag]:
    for path in paths:
        yield from map(Bag, find_bags(path))


def _topic(bag: Bag, wanted: str, kind: str, ending: str) -> str:
    if wanted:
        if wanted not in bag.topics:
            raise SetupError(f'{bag.path} has no topic {wanted!r}; it has {_listed(bag.topics)}')
        return wanted
    found = [
        name
        for name, topic in bag.topics.items()
        if topic.message_type == kind and name.rsplit('/', 1)[-1] == ending
    ]
    if len(found) != 1:
        raise SetupError(
            f'{bag.path} has {len(found)} topics {ending} of {kind} ({_listed(found)}): name one; '
            f'it has {_listed(bag.topics)}'
        )
    return found[0]


def _listed(names: Iterable[str]) -> str:
    return ', '.join(sorted(names)) or 'none'


def _commands(
    bag: Bag, names: Sequence[str], stamps: Sequence[int], continuous: Collection[str]
) -> Array:
    """(T, N) rad, the newest commands at stamps, NaN where there are none."""
    unknown = np.full((len(stamps), len(names)), math.nan)
    found = [
        name
        for name, topic in bag.topics.items()
        if topic.message_type == JOINT_STATE and name.rsplit('/', 1)[-1] == COMMANDS
    ]
    if len(found) != 1:
        return unknown
    merger, sent = JointMerger(names, continuous=continuous), []
    for _, message in bag.messages(found[0]):
        state = merger.update(
            stamp_ns(message.header.stamp), tuple(message.name), message.position, (), ()
        )
        if state is not None:
            sent.append((merger.stamp, state.positions))
    sent.sort(key=lambda each: each[0])
    commands = newest_commands(
        np.array(stamps, np.int64),
        np.array([stamp for stamp, _ in sent], np.int64),
        np.array([positions for _, positions in sent]),
    )
    return unknown if commands is None else commands


def _joint_rows(bag: Bag, topic: str, names: Sequence[str], continuous: Collection[str]) -> Rows:
    """Positions, velocities and efforts of the joints, NaN where there are none, of all publishers
    of the topic.
    """
    rows: Rows = []
    merger = JointMerger(names, continuous=continuous)
    for _, message in bag.messages(topic):
        stamp = stamp_ns(message.header.stamp)
        state = merger.update(
            stamp, tuple(message.name), message.position, message.velocity, message.effort
        )
        if state is not None:
            missing = np.full(len(names), math.nan)
            velocities = missing if state.velocities is None else state.velocities
            efforts = missing if state.efforts is None else state.efforts
            rows.append((merger.stamp, state.positions, velocities, efforts))
    return rows


def _rising(rows: Rows) -> Rows:
    """In the order of the stamps; of equal ones the first."""
    ordered: Rows = []
    for row in sorted(rows, key=lambda each: each[0]):
        if row[0] > 0 and (not ordered or row[0] > ordered[-1][0]):
            ordered.append(row)
    return ordered
