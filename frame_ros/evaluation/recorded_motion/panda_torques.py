# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of real Pandas with the torques of their joints' sensors.

- MINDLab (ZHAW): an arm with its hand, at rest or not, that somebody touches with a glove which
  records when. CSV files with a column `label`, of MindLabZHAW/tactileGestureDetection (MIT; in its
  history, dataset/labeledData) and rezayati/contactInterpretation (MIT; dataset/franka_main) on
  GitHub.
- Gaz et al.: an arm without a hand in a motion that excites its dynamics, free of contact. Text
  files with a value per line, of marcocognetti/FrankaEmikaPandaDynModel on GitHub
  (matlab/data/Exciting_Traj).
"""

from __future__ import annotations

import csv
import hashlib
import io
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import BagError
from frame_ros.core.input_files import read_text
from frame_ros.core.time import SECOND

Array = NDArray[np.float64]
ROBOT, JOINTS = 'panda', tuple(f'panda_joint{i + 1}' for i in range(7))
COLUMNS = {'positions': 'q', 'velocities': 'dq', 'torques': 'tau_J'}  # and the number of the joint
HEADER = 'index,time,tau_J0,'
FREE_MOTION = 'free motion'
FREE = 'exciting_traj_{}.txt'  # time, positions, velocity, torques
FREE_PARTS = {'positions': 'positions', 'velocities': 'velocity', 'torques': 'torques'}


@dataclass(frozen=True)
class TorqueRecording:
    """Joint states of a Panda with torques.

    Attributes:
        place: what is touched, as the recording's folder says; FREE_MOTION: nothing.
        stamps: (T,) ns, rising; of samples of one time the first is taken, as the nodes do.
        positions: (T, 7) rad.
        velocities: (T, 7) rad/s.
        torques: (T, 7) N m, as the sensors have them.
        touches: (K, 2) s since the first sample, begin and end of each touch.
        has_hand: whether the arm carries Franka's hand.
    """

    place: str
    stamps: NDArray[np.int64]
    positions: Array
    velocities: Array
    torques: Array
    touches: Array
    has_hand: bool

    @property
    def seconds(self) -> float:
        """From the first to the last sample."""
        return float(self.stamps[-1] - self.stamps[0]) / SECOND


def torque_files(path: Path) -> list[Path]:
    """Returns the files of such recordings in a folder and its subfolders: CSV files by their first
    line, and of Gaz et al. that of the times.
    """
    found = [file for file in path.rglob('*.csv') if _begins_so(file)]
    return sorted([*found, *path.rglob(FREE.format('time'))]) if path.is_dir() else []


def _begins_so(file: Path) -> bool:
    with file.open('rb') as stream:
        return stream.read(len(HEADER)) == HEADER.encode()


def read_torques(file: Path) -> TorqueRecording:
    """Reads one of `torque_files`.

    Raises:
        BagError: it cannot be read, or its times fall.
    """
    try:
        found = _read_free(file) if file.name == FREE.format('time') else _read_labelled(file)
    except (OSError, ValueError, KeyError, TypeError, csv.Error) as error:
        raise BagError(f'{file} cannot be read: {error}') from error
    shapes = {found.positions.shape, found.velocities.shape, found.torques.shape}
    if shapes != {(len(found.stamps), len(JOINTS))} or len(found.stamps) < 2:
        raise BagError(f'{file}: {len(found.stamps)} times, and values of shape {sorted(shapes)}')
    steps = np.diff(found.stamps, prepend=found.stamps[0] - 1)
    if (steps < 0).any():
        raise BagError(f'{file}: its times fall')
    rows = {name: getattr(found, name)[steps > 0] for name in ('stamps', *COLUMNS)}
    return replace(found, **rows)


def _read_labelled(file: Path) -> TorqueRecording:
    rows = list(csv.DictReader(io.StringIO(read_text(file))))
    columns = {
        name: np.array([[float(row[f'{of}{i}']) for i in range(7)] for row in rows])
        for name, of in COLUMNS.items()
    }
    times = np.array([float(row['time']) for row in rows])
    touched = np.array([float(row['label']) != 0.0 for row in rows])
    # A touch lasts until the first sample without one.
    edges = np.flatnonzero(np.diff(touched, prepend=False, append=False))
    ends = np.append(times, times[-1:])[edges] - times[:1]
    folder = file.parent.name
    # MINDLab's folders are a4, a5, b6 ..., or link1 with files g1_2.csv ...
    place = folder.rstrip('0123456789') if file.stem == 'labeled_data' else folder
    return TorqueRecording(
        place, _stamps(times), **columns, touches=ends.reshape(-1, 2), has_hand=True
    )


def _read_free(file: Path) -> TorqueRecording:
    times = _numbers(file)
    columns = {
        name: _numbers(file.with_name(FREE.format(part))).reshape(-1, len(JOINTS))
        for name, part in FREE_PARTS.items()
    }
    return TorqueRecording(
        FREE_MOTION, _stamps(times), **columns, touches=np.zeros((0, 2)), has_hand=False
    )


def _numbers(file: Path) -> Array:
    return np.array(read_text(file).split(), np.float64)


def _stamps(times: Array) -> NDArray[np.int64]:
    if not np.isfinite(times).all():
        raise ValueError('a time is not finite')
    # A stamp of 0 is taken for none.
    return np.round((times - times[:1]) * SECOND).astype(np.int64) + SECOND


def digest_of(file: Path) -> str:
    """Returns a digest of a recording's files: what a result on it is of.

    Raises:
        BagError: one cannot be read.
    """
    is_free = file.name == FREE.format('time')
    files = [file.with_name(FREE.format(part)) for part in FREE_PARTS.values()] if is_free else []
    digest = hashlib.sha256()
    try:
        for each in (file, *files):
            digest.update(each.read_bytes())
    except OSError as error:
        raise BagError(f'{file} cannot be read: {error}') from error
    return digest.hexdigest()[:16]
