# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags of an arm behind controllers of ros2_controllers, written by rosbags alone: its own writer,
types and serialisation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

T0 = 1_700_000_000 * 10**9
PANDA = tuple(f'panda_joint{number}' for number in range(1, 8))
POSTURE = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.7])
TRAJECTORY, STATE = '/arm_controller/joint_trajectory', '/arm_controller/controller_state'
FORWARD = '/forward_position_controller/commands'
CONTROLLER = 'control_msgs/msg/JointTrajectoryControllerState'
# The names of set point and measured point, by distribution.
POINTS = {
    'humble': ('desired', 'actual'),
    'iron': ('reference', 'feedback', 'desired', 'actual'),
    'jazzy': ('reference', 'feedback'),
}


def typestore(points: Sequence[str] = POINTS['jazzy']) -> Any:
    """Types of Jazzy, and the state of a controller with these points."""
    store = get_typestore(Stores.ROS2_JAZZY)
    fields = [f'trajectory_msgs/JointTrajectoryPoint {point}' for point in (*points, 'error')]
    text = '\n'.join(['std_msgs/Header header', 'string[] joint_names', *fields])
    store.register(get_types_from_msg(text, CONTROLLER))
    return store


STORE = typestore()


def header(at: int, store: Any = STORE) -> Any:
    time = store.types['builtin_interfaces/msg/Time'](sec=at // 10**9, nanosec=at % 10**9)
    return store.types['std_msgs/msg/Header'](stamp=time, frame_id='')


def joint_state(at: int, row: Iterable[float], names: Sequence[str] = PANDA) -> Any:
    empty = np.zeros(0)
    return STORE.types['sensor_msgs/msg/JointState'](
        header(at), list(names), np.array(row, float), empty, empty
    )


def point(row: Iterable[float], after: int = 0, speeds: Iterable[float] = ()) -> Any:
    """A JointTrajectoryPoint to be reached `after` ns."""
    empty = np.zeros(0)
    duration = STORE.types['builtin_interfaces/msg/Duration'](after // 10**9, after % 10**9)
    kind = STORE.types['trajectory_msgs/msg/JointTrajectoryPoint']
    return kind(np.array(row, float), np.array(speeds, float), empty, empty, duration)


def trajectory(
    at: int,
    rows: Sequence[Iterable[float]],
    times: Sequence[int] = (),
    names: Sequence[str] = PANDA,
) -> Any:
    """A JointTrajectory; times: ns after its start, by default 100 ms apart from 100 ms on."""
    times = times or [(i + 1) * 10**8 for i in range(len(rows))]
    points = [point(row, after) for row, after in zip(rows, times, strict=True)]
    return STORE.types['trajectory_msgs/msg/JointTrajectory'](header(at), list(names), points)


def values(row: Iterable[float]) -> Any:
    """A Float64MultiArray."""
    layout = STORE.types['std_msgs/msg/MultiArrayLayout'](dim=[], data_offset=0)
    return STORE.types['std_msgs/msg/Float64MultiArray'](layout, np.array(row, float))


def controller_state(
    at: int,
    wanted: Iterable[float],
    measured: Iterable[float],
    points: Sequence[str] = POINTS['jazzy'],
    filled: Sequence[str] | None = None,
    names: Sequence[str] = PANDA,
) -> Any:
    """A JointTrajectoryControllerState. filled: the points that have values, by default all."""
    rows = {
        name: point(row if filled is None or name in filled else ())
        for name, row in zip(points, [wanted, measured] * 2)
    }
    store = typestore(points)
    return store.types[CONTROLLER](
        header=header(at), joint_names=list(names), error=point(()), **rows
    )


def write(
    folder: Path,
    sent: Iterable[tuple[str, int, Any]],
    points: Sequence[str] = (),
    plugin: StoragePlugin = StoragePlugin.MCAP,
) -> Path:
    """Writes topic, receive time (ns) and message as a bag of rosbag2."""
    store = typestore(points or POINTS['jazzy'])
    with Writer(folder, version=9, storage_plugin=plugin) as writer:
        known: dict[str, Any] = {}
        for topic, received, message in sorted(sent, key=lambda each: each[1]):
            kind = message.__msgtype__
            if topic not in known:
                known[topic] = writer.add_connection(topic, kind, typestore=store)
            writer.write(known[topic], received, store.serialize_cdr(message, kind))
    return folder


def path_of(count: int, rate: float = 30.0) -> tuple[np.ndarray, np.ndarray]:
    """Times (count,), ns, and positions (count, 7) of a motion."""
    seconds = np.arange(count) / rate
    turns = 0.2 * np.sin(1.5 * seconds)[:, None] * np.linspace(0.5, 1.0, len(PANDA))
    return T0 + np.round(seconds * 1e9).astype(np.int64), POSTURE + turns


def measured_joints(stamps: np.ndarray, rows: np.ndarray) -> list[tuple[str, int, Any]]:
    """Joint states on /joint_states, received 1 ms after their stamps."""
    return [
        ('/joint_states', at + 10**6, joint_state(at, row))
        for at, row in zip(stamps.tolist(), rows)
    ]
