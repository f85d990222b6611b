# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What `frame-ros report` needs for a bag with joint states at 1 kHz, of which each is a step and
gives a pose."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from frame_ros.core.time import SECOND

RATE = 1000  # Hz
T0 = 1_700_000_000 * SECOND
ROBOT = 'so101'
JOINTS = ('shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll', 'gripper')
TYPE = 'sensor_msgs/msg/JointState'
REPORT = ('frame-ros', 'report', '-q', '--robot', ROBOT, '--topic', 'action=/joint_states')


@dataclass(frozen=True)
class Need:
    """What one report took. memory: bytes, at most at once; cpu: s; size: bytes of the bag."""

    steps: int
    memory: int
    cpu: float
    size: int


def write_long_bag(folder: Path, steps: int) -> Path:
    """Writes an MCAP bag of so many steps with rosbags, uncompressed, and returns its folder."""
    store = get_typestore(Stores.ROS2_JAZZY)
    state, header, time = (
        store.types[name] for name in (TYPE, 'std_msgs/msg/Header', 'builtin_interfaces/msg/Time')
    )
    still = np.zeros(len(JOINTS))
    noise = np.random.default_rng(1).normal(size=(steps, len(JOINTS)))
    with Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        topic = writer.add_connection('/joint_states', TYPE, typestore=store)
        for step in range(steps):
            at = T0 + step * SECOND // RATE
            swing = 0.3 * np.sin(0.7 * step / RATE * np.arange(1, len(JOINTS) + 1))
            stamped = header(time(*divmod(at, SECOND)), 'base')
            message = state(stamped, list(JOINTS), swing + 1e-4 * noise[step], still, still)
            writer.write(topic, at + SECOND // 5000, store.serialize_cdr(message, TYPE))
    return folder


def need_of(steps: int) -> Need:
    """Returns what the report on a bag of so many steps takes, in a process of its own."""
    with tempfile.TemporaryDirectory(prefix='frame_ros_long_bag_') as temporary:
        bag = write_long_bag(Path(temporary) / 'bag', steps)
        size = sum(file.stat().st_size for file in bag.iterdir())
        command = [*REPORT, str(bag), '-o', str(bag.parent / 'report.html')]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f'{" ".join(command)} ended with {process.returncode}')
    return Need(steps, used.ru_maxrss * 1024, used.ru_utime + used.ru_stime, size)


def print_needs(short: int, long: int) -> float:
    """Prints what two lengths need, in steps, and returns the memory in bytes per further step."""
    first, last = need_of(short), need_of(long)
    more = last.steps - first.steps
    each = (last.memory - first.memory) / more
    mapped = (last.size - first.size) / more
    for need in (first, last):
        print(
            f'report of {need.steps / RATE:.0f} s at {RATE} Hz, {need.size / 1e6:.0f} MB: '
            f'{need.memory / 1e6:.0f} MB of memory, {need.cpu:.1f} s of CPU',
            file=sys.stderr,
        )
    print(
        f'each further step: {each:.0f} bytes, {mapped:.0f} of which the mapped file, and '
        f'{(last.cpu - first.cpu) / more * 1e6:.0f} us of CPU; an hour at {RATE} Hz: '
        f'{(first.memory + each * (3600 * RATE - first.steps)) / 1e9:.1f} GB',
        file=sys.stderr,
    )
    return each
