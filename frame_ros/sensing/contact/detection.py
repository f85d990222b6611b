# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A contact detector's result for one sample of its sensor."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def unknown(size: int) -> Array:
    """Returns (size,) of NaN: not measured."""
    return np.full(size, nan)


@dataclass(frozen=True)
class Detection:
    """One sample of a contact sensor, all in the robot's base frame.

    Attributes:
        stamp: ns.
        source: one of ContactState.SOURCE_*.
        is_contact: after thresholds, hysteresis and debounce; None: unknown, for the reason in
            `unavailable`.
        force: N, norm of the external force; NaN if not measured.
        wrench: (6,) external force (N) and torque (N m) about the tip.
        link: the touched link of the robot, '' if unknown.
        position: (3,) m; NaN if unknown.
        normal: (3,) unit vector of the force on the robot.
        residuals, thresholds: (J,) N m of the joints in `joint_names`.
        is_stalled: (J,) of the same joints.
        share: of the threshold that the sample reached; NaN if unknown.
    """

    stamp: int
    source: int
    is_contact: bool | None
    force: float = nan
    wrench: Array = field(default_factory=lambda: unknown(6))
    link: str = ''
    position: Array = field(default_factory=lambda: unknown(3))
    normal: Array = field(default_factory=lambda: unknown(3))
    unavailable: str = ''
    joint_names: tuple[str, ...] = ()
    residuals: Array = field(default_factory=lambda: unknown(0))
    thresholds: Array = field(default_factory=lambda: unknown(0))
    is_stalled: tuple[bool, ...] = ()
    share: float = nan
