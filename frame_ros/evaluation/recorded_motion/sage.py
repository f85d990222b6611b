# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of a real SO-101 by SAGE, NVIDIA's Sim2Real Actuator Gap Estimator
(isaac-sim2real/sage on GitHub, Apache-2.0), at 50 Hz: folders with `state_motor.csv`.

As its `so101_lerobot_collector.py` writes them: angles in rad from the middle of the calibrated
range, the jaw from 0 to 1 of its range; per sample goals are sent first, then position, speed and
current of one servo after the other are read. Zeros and signs are those of the URDF.
"""

from __future__ import annotations

import csv
import hashlib
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.streams.form import Stream
from frame_ros.core.errors import BagError
from frame_ros.core.input_files import load_json, read_text
from frame_ros.core.time import SECOND
from frame_ros.evaluation.recorded_motion.foreign_sets import joint_stream

Array = NDArray[np.float64]
STATES, GOALS, JOINTS = 'state_motor.csv', 'control.csv', 'joint_list.txt'
TORQUE_STEP = 0.022814  # their N m per step of the register, which only stand for the step
CURRENT_STEP = 0.0065  # A, Feetech's memory table
LATEST = 5e9  # s: what comes later is no time
# Joint of SAGE's files -> the SO-101's.
SAGE_JOINTS = {
    'Rotation': 'shoulder_pan', 'Pitch': 'shoulder_lift', 'Elbow': 'elbow_flex',
    'Wrist_Pitch': 'wrist_flex', 'Wrist_Roll': 'wrist_roll', 'Jaw': 'gripper',
}  # fmt: skip


@dataclass(frozen=True)
class EffortRecording:
    """Joint states with efforts, and the goals that were sent.

    Attributes:
        name: of the motion.
        joint_names: N of the robot.
        stamps: (T,) ns, rising.
        positions: (T, N) rad.
        velocities: (T, N) rad/s.
        efforts: (T, N) A, see `signed_currents`.
        goals: (T, N) rad, the newest at each stamp.
    """

    name: str
    joint_names: tuple[str, ...]
    stamps: NDArray[np.int64]
    positions: Array
    velocities: Array
    efforts: Array
    goals: Array

    @property
    def seconds(self) -> float:
        """From the first to the last sample."""
        return float(self.stamps[-1] - self.stamps[0]) / SECOND if len(self.stamps) else 0.0


def sage_files(path: Path) -> list[Path]:
    """Returns the files of SAGE's motor states in a folder and its subfolders."""
    return sorted(path.rglob(STATES)) if path.is_dir() else []


def sage_stream(file: Path, jaw: tuple[float, float]) -> Stream:
    """Returns the joint states of one of SAGE's recordings of an SO-101, rad.

    Args:
        file: `state_motor.csv`, with `joint_list.txt` next to it.
        jaw: rad, closed and open.

    Raises:
        BagError: it cannot be read, or is of another robot.
    """
    names = _joint_names(file)
    times, (positions,) = _columns(file, len(names), 'positions')
    return joint_stream(names, times, _opened(names, positions, jaw))


def sage_efforts(file: Path, jaw: tuple[float, float]) -> EffortRecording:
    """Returns states, currents and goals of one of SAGE's recordings of an SO-101.

    Args:
        file: `state_motor.csv`, with `joint_list.txt` and `control.csv` next to it.
        jaw: rad, closed and open.

    Raises:
        BagError: they cannot be read, have no sample, or are of another robot.
    """
    names = _joint_names(file)
    times, found = _columns(file, len(names), 'positions', 'velocities', 'torques')
    sent, (targets,) = _columns(file.with_name(GOALS), len(names), 'positions')
    if not len(times) or not len(sent):
        raise BagError(f'{file.parent} holds no joint states with goals')
    if not _rise(times) or not _rise(sent):
        raise BagError(f'{file.parent}: its times do not rise')
    newest = np.searchsorted(sent, times, side='right') - 1
    goals = targets[newest.clip(min=0)]
    steps = np.rint(found[2] / TORQUE_STEP)
    # A stamp of 0 is taken for none.
    stamps = np.round(times * SECOND).astype(np.int64) + SECOND
    # A goal that was sent just before a sample is read does not show in its current yet.
    before = targets[np.concatenate((newest[:1], newest[:-1])).clip(min=0)]
    efforts = signed_currents(CURRENT_STEP * steps, before - found[0])
    return EffortRecording(
        file.parent.name, names, stamps, _opened(names, found[0], jaw), found[1], efforts,
        _opened(names, goals, jaw),
    )  # fmt: skip


def signed_currents(sizes: Array, errors: Array) -> Array:
    """Returns currents (T, N) with the sign of the drive.

    The register holds a size without a sign. A servo with a proportional gain drives towards its
    goal, so the sign is that of the goal's distance from the position; where there is none, that of
    before.

    Args:
        sizes: (T, N) A.
        errors: (T, N) rad, goals that the servo had less positions.
    """
    signs = np.sign(errors)
    row = np.where(signs != 0.0, np.arange(len(signs))[:, None], 0)
    np.maximum.accumulate(row, axis=0, out=row)
    signed: Array = np.abs(sizes) * np.take_along_axis(signs, row, axis=0)
    return signed


def digest_of(file: Path) -> str:
    """Returns a digest of a recording's files: what a result on it is of.

    Raises:
        BagError: one cannot be read.
    """
    digest = hashlib.sha256()
    try:
        for name in (STATES, GOALS, JOINTS):
            digest.update(file.with_name(name).read_bytes())
    except OSError as error:
        raise BagError(f'{file.parent} cannot be read: {error}') from error
    return digest.hexdigest()[:16]


def _joint_names(file: Path) -> tuple[str, ...]:
    try:
        listed = read_text(file.with_name(JOINTS)).split()
    except (OSError, ValueError) as error:
        raise BagError(f'{file} cannot be read: {error}') from error
    if unknown := [name for name in listed if name not in SAGE_JOINTS]:
        raise BagError(
            f"{file}: its joints are {', '.join(listed)}; of SAGE's robots only the SO-101 "
            f'({", ".join(SAGE_JOINTS)}) is known, not {unknown[0]}'
        )
    if twice := [name for name in listed if listed.count(name) > 1]:
        raise BagError(f'{file}: it has {twice[0]} more than once')
    return tuple(SAGE_JOINTS[name] for name in listed)


def _rise(times: Array) -> bool:
    return bool((np.diff(times) > 0.0).all() and np.abs(times).max() < LATEST)


def _columns(file: Path, width: int, *names: str) -> tuple[Array, list[Array]]:
    """Returns times (T,) s, and the named columns, each (T, width)."""
    try:
        rows = list(csv.DictReader(io.StringIO(read_text(file))))
        times = np.array([float(row['timestamp']) for row in rows]) * 1e-6
        # A line that was cut has none in its last columns.
        cells = [[load_json(row[name] or '') for row in rows] for name in names]
        found = [np.array(each, np.float64) for each in cells]
    except (OSError, ValueError, KeyError, TypeError, csv.Error) as error:
        raise BagError(f'{file} cannot be read: {error}') from error
    for name, values in zip(names, found, strict=True):
        if len(rows) and values.shape[1:] != (width,):
            raise BagError(f'{file}: {values.shape[1:]} {name} of {width} joints')
    return times, [values.reshape(len(rows), width) for values in found]


def _opened(names: tuple[str, ...], values: Array, jaw: tuple[float, float]) -> Array:
    """Returns positions with that of the jaw in rad."""
    result = values.copy()
    for column in [i for i, name in enumerate(names) if name == SAGE_JOINTS['Jaw']]:
        result[:, column] = jaw[0] + (jaw[1] - jaw[0]) * values[:, column]
    return result
