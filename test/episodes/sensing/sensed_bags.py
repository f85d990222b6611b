# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags that another library wrote: an FR3 with a force-torque sensor that is pushed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from bag_making import STORE, T0, message, stamp
from rosbags.rosbag2 import StoragePlugin, Writer
from scipy.spatial.transform import Rotation

from frame_ros.core.time import SECOND
from frame_ros.robots import load_robot

FRAME, STEP = 'fr3_hand', SECOND // 250
MASS, CENTRE = 0.8, np.array([0.01, 0.0, 0.06])
BIAS = np.array([1.5, -2.0, 0.7, 0.02, -0.05, 0.01])
REST, SECONDS = 1.2, 4.4  # s that it stands before it moves; s of the recording
PUSH = (3.2, 3.8, np.array([0.0, 6.0, 0.0]))  # s and N, on the hand, in axes of the base
ROBOT = load_robot('fr3', FRAME)
TOOL = [
    '--parameter', f'tool.mass={MASS}', '--parameter', f'tool.centre_of_mass={CENTRE.tolist()}',
]  # fmt: skip
JOINT_STATES, WRENCH = '/arm/joint_states', '/ft_sensor/data'


def positions(time: float) -> np.ndarray:
    """(7,) rad: at rest first, then slowly to and fro."""
    home = 0.5 * (ROBOT.lower + ROBOT.upper)
    return home + 0.1 * (1.0 - np.cos(max(time - REST, 0.0)))


def velocities(time: float) -> np.ndarray:
    """(7,) rad/s."""
    return np.full(7, 0.1 * np.sin(max(time - REST, 0.0)))


def wrench(time: float, noise: np.ndarray) -> np.ndarray:
    """(6,) as the sensor reads it: weight of the tool and push, by Newton alone, bias and noise."""
    turn = Rotation.from_quat(ROBOT.forward(positions(time))[1]).as_matrix()
    force = turn.T @ np.array([0.0, 0.0, -9.80665 * MASS])
    torque = np.cross(CENTRE, force)
    begin, end, push = PUSH
    if begin <= time < end:
        force = force + turn.T @ push
    return np.concatenate((force, torque)) + BIAS + noise


def foreign_bag(
    folder: Path,
    has_wrench: bool = True,
    effort: bool = False,
    storage: StoragePlugin = StoragePlugin.MCAP,
    names: Callable[[str], str] = str,
    rest: float = 0.0,
    has_stamps: bool = True,
) -> Path:
    """A bag that rosbags wrote. rest: s left out at the beginning. names: joint -> its name."""
    rng = np.random.default_rng(3)
    deviations = np.array([0.05] * 3 + [0.003] * 3)
    with Writer(folder, version=9, storage_plugin=storage) as writer:
        kinds = {
            JOINT_STATES: 'sensor_msgs/msg/JointState', WRENCH: 'geometry_msgs/msg/WrenchStamped',
            '/camera/note': 'std_msgs/msg/String',
        }  # fmt: skip
        topics = {
            topic: writer.add_connection(topic, kind, typestore=STORE)
            for topic, kind in kinds.items()
        }

        def put(topic: str, at: int, content) -> None:
            data = STORE.serialize_cdr(content, kinds[topic])
            writer.write(topics[topic], at, data)

        put('/camera/note', T0, message('std_msgs/msg/String', data='hello'))
        for step in range(round(SECONDS * SECOND / STEP)):
            time, at = step * STEP / SECOND, T0 + step * STEP
            noise = deviations * rng.normal(size=6)
            if time < rest:
                continue
            set_at = stamp(at if has_stamps else 0)
            q = positions(time)
            put(JOINT_STATES, at + 1_000_000, message(
                kinds[JOINT_STATES], header__stamp=set_at, position=q,
                name=[names(joint) for joint in ROBOT.joint_names],
                velocity=velocities(time), effort=np.ones(7) if effort else np.zeros(0),
            ))  # fmt: skip
            if has_wrench:
                x = wrench(time, noise)
                parts = {f'wrench__force__{axis}': x[i] for i, axis in enumerate('xyz')}
                parts |= {f'wrench__torque__{axis}': x[3 + i] for i, axis in enumerate('xyz')}
                put(WRENCH, at + 1_500_000, message(
                    kinds[WRENCH], header__stamp=set_at, header__frame_id=FRAME, **parts,
                ))  # fmt: skip
    return folder
