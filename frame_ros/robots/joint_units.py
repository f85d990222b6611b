# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joint positions in the units of a policy's training, and back to radians.

LeRobot writes the joints of an SO-100 or SO-101 in one of two ways, by its option `use_degrees`:

- 'degrees' (`use_degrees=True`, the default since 0.4.4): 0 is the middle of the calibrated range.
- 'range_m100_100' (`use_degrees=False`, the default up to 0.4.3): -100 and 100 are the ends of the
  calibrated range. A data set or policy in these units means something only together with the
  calibration file of its arm; for another arm's the same number is another angle.

The gripper is 0 (closed) to 100 (open) in both. Source: lerobot/motors/motors_bus.py (`_normalize`)
and so_follower.py of 0.4.4; the defaults from the packages 0.3.3, 0.4.3, 0.4.4 and 0.6.1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.input_files import load_json, read_text
from frame_ros.robots.grippers import gripper_joints

UNITS = ('rad', 'degrees', 'range_m100_100')
# The joint whose calibrated range LeRobot sets to a full turn, whatever its mechanical limits.
FULL_TURN = 'wrist_roll'


@dataclass(frozen=True)
class JointUnits:
    """An affine map per joint: policy value = rad * scale + offset. scale, offset: (D,)."""

    scale: NDArray[np.float64]
    offset: NDArray[np.float64]
    is_identity: bool = False

    @property
    def of_changes(self) -> JointUnits:
        """The map of changes of positions, which have no offset."""
        return replace(self, offset=0.0 * self.offset)

    def to_policy(self, radians: NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns (..., D) positions in the policy's units."""
        return radians if self.is_identity else radians * self.scale + self.offset

    def to_radians(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns (..., D) positions in rad."""
        return values if self.is_identity else (values - self.offset) / self.scale


def joint_units(
    units: str,
    names: Sequence[str],
    gripper_limits: Mapping[str, tuple[float, float]] | None = None,
    joint_ranges: Mapping[str, tuple[float, float]] | None = None,
) -> JointUnits:
    """Returns the map between radians and a policy's units for the joints `names`.

    Args:
        units: 'rad'; or one of LeRobot's two conventions for arms like the SO-101, 'degrees' and
            'range_m100_100', with 0 (closed) to 100 (open) for a gripper.
        gripper_limits: gripper joint -> its closed and its open position, rad or m; None: there is
            no gripper, and no joint may be called like one.
        joint_ranges: for 'range_m100_100', other joint -> the angles in rad that are -100 and 100:
            see `calibrated_ranges`.

    Raises:
        ValueRangeError: the units are unknown, or limits or ranges are missing, unknown or empty.
    """
    if units not in UNITS:
        raise ValueRangeError(f'units are {units!r}; known: {", ".join(UNITS)}')
    if units == 'rad':
        return JointUnits(np.ones(len(names)), np.zeros(len(names)), is_identity=True)
    limits = dict(gripper_limits or {})
    unknown = [name for name in limits if name not in names]
    missing = list(gripper_joints(names)) if gripper_limits is None else []
    if unknown or missing:
        raise ValueRangeError(
            f'gripper_limits has {sorted(limits)}; for units {units!r} it must name the gripper '
            f'joints of {list(names)}' + (f' (missing: {missing})' if missing else '')
        )
    spans = {name: (*pair, 0.0, 100.0) for name, pair in limits.items()}
    for name in names:
        if name not in spans:
            spans[name] = _span(name, units, joint_ranges or {})
    pairs = [_line_through(name, *spans[name]) for name in names]
    scale, offset = (np.array(column, np.float64) for column in zip(*pairs, strict=True))
    return JointUnits(scale, offset)


def read_calibration(path: str | Path) -> Mapping[str, Mapping[str, int]]:
    """Returns a calibration file of LeRobot: joint -> its entry.

    Raises:
        ValueRangeError: it cannot be read, or is another file.
    """
    try:
        content = load_json(read_text(Path(path).expanduser()))
    except (OSError, ValueError) as error:
        raise ValueRangeError(f'the calibration file {path} cannot be read: {error}') from error
    entries = content.values() if isinstance(content, dict) else [None]
    if not all(isinstance(entry, dict) for entry in entries):
        raise ValueRangeError(
            f'{path} is not a calibration file of LeRobot, which has an entry with range_min and '
            'range_max for each motor'
        )
    found: Mapping[str, Mapping[str, int]] = content
    return found


def calibrated_ranges(
    calibration: Mapping[str, Mapping[str, int]], resolution: int = 4096
) -> dict[str, tuple[float, float]]:
    """Returns the angles in rad of LeRobot's -100 and 100, from an arm's calibration file.

    The middle of a range is 0 rad, as in the SO-101's URDF, which is not so of a gripper. A joint
    whose drive_mode is not 0 has -100 and 100 exchanged.

    Args:
        calibration: joint -> its entry, with range_min and range_max in steps of the encoder.
        resolution: steps per turn.

    Raises:
        ValueRangeError: an entry lacks its range, or the range is empty.
    """
    ranges = {}
    for name, entry in calibration.items():
        if not {'range_min', 'range_max'} <= set(entry):
            raise ValueRangeError(
                f'the calibration of {name} has {sorted(entry)}; range_min and range_max are needed'
            )
        half = (entry['range_max'] - entry['range_min']) * math.pi / (resolution - 1)
        if not half > 0:
            raise ValueRangeError(
                f'the calibration of {name} goes from {entry["range_min"]} to '
                f'{entry["range_max"]}; range_min must be below range_max'
            )
        ranges[name] = (half, -half) if entry.get('drive_mode') else (-half, half)
    return ranges


def approximate_ranges(
    joint_limits: Mapping[str, tuple[float, float]],
) -> dict[str, tuple[float, float]]:
    """Returns `calibrated_ranges` without a calibration file: from the limits of a URDF, in rad.

    Calibrations end where the user stopped turning, so expect errors of some degrees; joints of a
    full turn are exact.
    """
    full = (-math.pi, math.pi)
    return {n: full if n.endswith(FULL_TURN) else ends for n, ends in joint_limits.items()}


def _span(
    name: str, units: str, joint_ranges: Mapping[str, tuple[float, float]]
) -> tuple[float, float, float, float]:
    """Returns two angles in rad and their values."""
    if units == 'degrees':
        return 0.0, math.radians(100.0), 0.0, 100.0
    if name not in joint_ranges:
        raise ValueRangeError(
            f'joint_ranges has {sorted(joint_ranges)}; for units {units!r} it must also name {name}'
        )
    return (*joint_ranges[name], -100.0, 100.0)


def _line_through(
    name: str, first: float, last: float, first_value: float, last_value: float
) -> tuple[float, float]:
    """Returns scale and offset of the line through two angles (rad) and their values."""
    if not (math.isfinite(first) and math.isfinite(last)) or first == last:
        raise ValueRangeError(f'{name} goes from {first} to {last} rad; two angles are needed')
    scale = (last_value - first_value) / (last - first)
    return scale, first_value - first * scale
