# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a user may ask of a LeRobot policy, checked before anything is loaded.

Options come from parameters and command lines too, where 'False' is a text and so would be true.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from frame_ros.core.errors import CheckpointError
from frame_ros.core.input_files import load_json, read_text
from frame_ros.policies.lerobot.columns import JointScales
from frame_ros.policies.lerobot.families.family import FamilyOptions
from frame_ros.robots.joint_units import approximate_ranges, calibrated_ranges

RANGE = 'range_m100_100'
APPROXIMATE = (
    'units are range_m100_100, whose angles only the calibration of the arm of the data set tells; '
    'the limits of the URDF stand in, with errors of some degrees. Give its calibration file: '
    'calibration=FILE'
)


def family_options(
    samples: int,
    temperatures: Sequence[float],
    sample_temperature: float,
    trust_remote_code: bool,
    **folders: str,
) -> FamilyOptions:
    """Raises CheckpointError if one is of another type or out of its range."""
    if not _is_whole(samples) or samples < 0 or samples == 1:
        raise CheckpointError(f'samples is {samples!r}; it is 0, or 2 or more')
    if not isinstance(trust_remote_code, bool):
        raise CheckpointError(
            f'trust_remote_code is {trust_remote_code!r}; it must be true or false, in lower case'
        )
    for name, folder in folders.items():
        if not isinstance(folder, str | Path):
            raise CheckpointError(f'{name} is {folder!r}; it must be the path of a folder')
    values = (*temperatures, sample_temperature)
    if not all(_is_number(value) and value > 0 for value in values):
        raise CheckpointError(
            f'temperatures are {list(temperatures)} and {sample_temperature!r}; all must be above 0'
        )
    return FamilyOptions(
        samples=int(samples),
        temperatures=tuple(map(float, temperatures)),
        sample_temperature=float(sample_temperature),
        trust_remote_code=trust_remote_code,
        **{name: str(folder) for name, folder in folders.items()},
    )


def check_run(action_rate: float, seed: int | None, robot_joint_names: Sequence[str]) -> None:
    """Raises CheckpointError if one is of another type or out of its range."""
    if not (_is_number(action_rate) and action_rate > 0):
        raise CheckpointError(f'action_rate is {action_rate!r} Hz; it must be positive')
    if seed is not None and not (_is_whole(seed) and 0 <= seed < 2**63):
        raise CheckpointError(f'seed is {seed!r}; it must be a whole number, not negative, or None')
    if len(set(robot_joint_names)) != len(robot_joint_names):
        raise CheckpointError(f'a joint of the robot is named twice: {list(robot_joint_names)}')


def texts(option: str, value: str | Sequence[str]) -> tuple[str, ...]:
    """A list of texts, or one text with commas between them.

    Raises:
        CheckpointError: it is something else.
    """
    found = [part.strip() for part in value.split(',')] if isinstance(value, str) else value
    if found == ['']:
        return ()
    if not isinstance(found, list | tuple) or not all(isinstance(part, str) for part in found):
        raise CheckpointError(f'{option} is {value!r}; it must be texts with commas, or a list')
    if not all(found):
        raise CheckpointError(f'{option} holds an empty text: {list(found)}')
    return tuple(found)


def joint_scales(
    units: str,
    joints: tuple[str, ...],
    gripper_limits: Mapping[str, tuple[float, float]] | None,
    joint_limits: Mapping[str, tuple[float, float]] | None,
    calibration: str | Path,
) -> tuple[JointScales, list[str]]:
    """How the checkpoint writes joints, and what a person should know about it.

    calibration: LeRobot's calibration file of the arm; empty: none.

    Raises:
        CheckpointError: the file is none. ValueRangeError: it lacks a range.
    """
    ranges: dict[str, tuple[float, float]] | None = None
    notes = []
    if calibration:
        ranges = calibrated_ranges(_read_calibration(calibration))
    elif units == RANGE and joint_limits:
        ranges, notes = approximate_ranges(joint_limits), [APPROXIMATE]
    return JointScales(units, joints, gripper_limits, ranges), notes


def _read_calibration(path: str | Path) -> Mapping[str, Mapping[str, int]]:
    try:
        content = load_json(read_text(Path(path).expanduser()))
    except (OSError, ValueError, TypeError) as error:
        raise CheckpointError(f'the calibration file {path} cannot be read: {error}') from error
    entries = content.values() if isinstance(content, dict) else [None]
    if not all(isinstance(entry, dict) for entry in entries):
        raise CheckpointError(
            f'{path} is not a calibration file of LeRobot, which has an entry with range_min and '
            'range_max for each motor'
        )
    found: Mapping[str, Mapping[str, int]] = content
    return found


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    is_real = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return is_real and bool(np.isfinite(value))
