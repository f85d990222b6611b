# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joint positions in the units a policy was trained on, and back to radians."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.errors import ValueRangeError

UNITS = ('rad', 'degrees')


@dataclass(frozen=True)
class JointUnits:
    """An affine map per joint: policy value = rad * scale + offset. scale, offset: (D,)."""

    scale: NDArray[np.float64]
    offset: NDArray[np.float64]
    is_identity: bool = False

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
) -> JointUnits:
    """Returns the map between radians and a policy's units for the joints `names`.

    units: 'rad'; or 'degrees', LeRobot's convention for arms like the SO-101: degrees, and 0
    (closed) to 100 (open) for a gripper. gripper_limits: gripper joint -> its lower (closed) and
    upper (open) limit in rad.

    Raises:
        ValueRangeError: the units are not known, or a gripper's limits are missing, unknown or
        empty.
    """
    if units not in UNITS:
        raise ValueRangeError(f'units are {units!r}; known: {", ".join(UNITS)}')
    scale, offset = np.ones(len(names)), np.zeros(len(names))
    if units == 'rad':
        return JointUnits(scale, offset, is_identity=True)
    limits = dict(gripper_limits or {})
    unknown = [name for name in limits if name not in names]
    missing = [name for name in names if 'gripper' in name and name not in limits]
    if unknown or missing:
        raise ValueRangeError(
            f'gripper_limits has {sorted(limits)}; for units {units!r} it must name the gripper '
            f'joints of {list(names)}' + (f' (missing: {missing})' if missing else '')
        )
    for i, name in enumerate(names):
        lower, upper = limits.get(name, (0.0, np.deg2rad(100.0)))
        if not lower < upper:
            raise ValueRangeError(
                f'gripper {name} has limits {lower} to {upper} rad; lower must be below upper'
            )
        scale[i] = 100.0 / (upper - lower)
        offset[i] = -lower * scale[i]
    return JointUnits(scale, offset)
