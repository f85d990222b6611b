# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Signs that an arm's calibration or encoder is not what its joints' limits say.

lerobot-calibrate takes the middle of the recorded range for the joint's zero; of a joint that was
not moved to both stops, or whose encoder passed its end meanwhile, the middle is elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import SetupError
from frame_ros.core.turns import TURN
from frame_ros.hardware.device_error import DeviceError
from frame_ros.robots.joint_units import FULL_TURN

Array = NDArray[np.float64]

# Shares of a joint's range in the URDF that its recorded range may have. Of arms as they are built
# they are 1.0 to 1.2, for the URDF stops before the plastic does.
LEAST_SHARE, LARGEST_SHARE = 0.85, 1.35


def range_notes(
    calibration: Mapping[str, Any], joints: Mapping[str, str], limits: Array, resolution: int
) -> list[str]:
    """Returns what to look at, of motors whose recorded range is not their joint's, in words.

    Args:
        calibration: motor -> its entry, with range_min and range_max in steps.
        joints: motor -> joint, in the order of `limits`.
        limits: (D, 2) rad.
        resolution: steps per turn.
    """
    notes = []
    for (motor, joint), (lower, upper) in zip(joints.items(), limits, strict=True):
        has_range = math.isfinite(upper - lower)  # a joint that goes round has none
        if motor not in calibration or joint == FULL_TURN or not has_range:
            continue
        entry = calibration[motor]
        span = (entry.range_max - entry.range_min) * TURN / (resolution - 1)
        share = span / (upper - lower)
        found = f'{joint} was calibrated over {_degrees(span)} of {_degrees(upper - lower)} degrees'
        if share < LEAST_SHARE:
            off = _degrees((upper - lower - span) / 2.0)
            notes.append(
                f'{found}: unless that is from stop to stop, its zero is wrong by up to {off} '
                'degrees; calibrate again'
            )
        elif share > LARGEST_SHARE:
            notes.append(
                f'{found}: its encoder passed its end, so that its zero is wrong; calibrate again, '
                'beginning with the arm in the middle of its range'
            )
    return notes


def check_turns(joints: Sequence[str], positions: Array, limits: Array) -> None:
    """Raises SetupError for positions (D,) rad that are nearer to the limits (D, 2) a turn away;
    joints without limits are at no turn.
    """
    bounds = np.where(np.isfinite(limits).all(axis=1, keepdims=True), limits, positions[:, None])
    turns = np.round((positions - bounds.mean(axis=1)) / TURN)
    for i in np.flatnonzero(turns):
        lower, upper = (_degrees(limit) for limit in limits[i])
        raise SetupError(
            f'{joints[i]} reads {_degrees(positions[i])} degrees, a turn away from its range of '
            f'{lower} to {upper}: a command would turn it back. Its motor counts turns (bit 4 of '
            'the register Phase, address 18), which LeRobot 0.6 switches off, or its calibration '
            'passed the end of the encoder: calibrate again'
        )


def check_finite(joints: Sequence[str], positions: Array) -> None:
    """Raises DeviceError for positions (D,) that are no numbers: commands and holds would go by
    them.
    """
    for i in np.flatnonzero(~np.isfinite(positions)):
        raise DeviceError(f'{joints[i]} reads {positions[i]}, which is no position')


def check_answers(joints: Sequence[str], positions: Array, limits: Array) -> None:
    """Raises DeviceError for positions (D,) rad more than a turn beyond the limits (D, 2), where no
    joint gets: commands and holds would go by them.
    """
    beyond = np.maximum(limits[:, 0] - positions, positions - limits[:, 1])
    if (beyond > TURN).any():
        i = int(beyond.argmax())
        raise DeviceError(
            f'{joints[i]} reads {_degrees(positions[i])} degrees, which is impossible'
        )


def _degrees(angle: float) -> str:
    return f'{math.degrees(angle):.0f}'
