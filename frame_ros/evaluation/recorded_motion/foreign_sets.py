# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joint positions of LeRobot's data sets, as streams of joint states.

Codebase versions 2.0 to 3.0: `meta/info.json` and parquet files. Only the columns of the state are
read; LeRobot itself is not needed, its package pyarrow is.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.streams.form import Stream
from frame_ros.core.errors import BagError, MissingExtraError, install_hint
from frame_ros.core.input_files import load_json, read_text
from frame_ros.core.time import SECOND

Array = NDArray[np.float64]
INFO, STATE = Path('meta', 'info.json'), 'observation.state'
COLUMNS = (STATE, 'timestamp', 'episode_index')
LFS_POINTER = b'version https://git-lfs'


def is_lerobot(path: Path) -> bool:
    """Returns whether a folder is a LeRobot data set."""
    return (path / INFO).is_file()


def lerobot_type(path: Path) -> str:
    """Returns the robot type of a LeRobot data set; '' if it names none.

    Raises:
        BagError: its description cannot be read.
    """
    return str(_info(path).get('robot_type') or '')


def lerobot_streams(path: Path) -> Iterator[tuple[str, Stream]]:
    """Yields name and joint states of each episode of a LeRobot data set, in its own units.

    Raises:
        BagError: it has no state with names of joints, or a file cannot be read.
        MissingExtraError: pyarrow is not installed.
    """
    names = _state_names(path)
    files = sorted((path / 'data').rglob('*.parquet'))
    if not files:
        raise BagError(f'{path / "data"} has no parquet files: the data set is empty')
    for file in files:
        states, times, episodes = _parquet(file, len(names))
        for episode in np.unique(episodes):
            of = episodes == episode
            yield f'episode {episode}', joint_stream(names, times[of], states[of])


def _info(path: Path) -> dict[str, Any]:
    try:
        found = load_json(read_text(path / INFO))
    except (OSError, ValueError) as error:
        raise BagError(f'{path / INFO} cannot be read: {error}') from error
    if not isinstance(found, dict):
        raise BagError(f'{path / INFO} is no description of a data set')
    return found


def _state_names(path: Path) -> tuple[str, ...]:
    features = _info(path).get('features')
    feature = features.get(STATE) if isinstance(features, Mapping) else None
    names = feature.get('names') if isinstance(feature, Mapping) else None
    if isinstance(names, Mapping):  # versions 2.0 and 2.1: {'motors': [...]}
        names = next(iter(names.values()), None)
    if not isinstance(names, list) or not names:
        has = 'no names' if isinstance(feature, Mapping) else 'no feature'
        raise BagError(f'{path}: no joint positions: {INFO} has {has} {STATE}')
    return tuple(str(name).removesuffix('.pos') for name in names)


def _parquet(file: Path, width: int) -> tuple[Array, Array, NDArray[np.int64]]:
    """Returns states (T, D), times (T,) s, episodes (T,) of one file."""
    try:
        parquet: Any = importlib.import_module('pyarrow.parquet')
    except ImportError as error:
        raise MissingExtraError(
            f'{file} cannot be read without pyarrow: {install_hint("lerobot")}'
        ) from error
    try:
        with file.open('rb') as opened:
            if opened.read(len(LFS_POINTER)) == LFS_POINTER:
                raise BagError(f'{file} is only a pointer of Git LFS: git lfs pull fetches it')
        table = parquet.ParquetFile(file).read(columns=list(COLUMNS))
        states = np.array(table[STATE].to_pylist(), np.float64)
        times = np.array(table['timestamp'].to_pylist(), np.float64)
        episodes = np.array(table['episode_index'].to_pylist(), np.int64)
    except (OSError, KeyError, ValueError, TypeError) as error:  # pyarrow's own are among them
        raise BagError(f'{file} cannot be read: {error}') from error
    if len(states) and states.shape[1:] != (width,):
        raise BagError(f'{file}: states of the shape {states.shape[1:]}, named are {width} joints')
    return states.reshape(len(states), width), times.reshape(-1), episodes.reshape(-1)


def joint_stream(names: Sequence[str], times: Array, positions: Array) -> Stream:
    """Returns samples at `times` (T,), s, of positions (T, D) as a stream of joint states."""
    # A stamp of 0 is taken for none.
    stamps = np.round(times * SECOND).astype(np.int64) + SECOND
    count = np.full(len(stamps), len(names))
    values = {
        'names': np.tile(np.array(names, dtype=np.str_), (len(stamps), 1)),
        'names_count': count, 'positions': positions, 'positions_count': count,
    }  # fmt: skip
    return Stream('joint states', '', stamps, stamps, values)
