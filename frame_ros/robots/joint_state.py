# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A joint state as arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class FullJointState(NamedTuple):
    """A joint state as received; arrays that are absent are empty."""

    stamp: int  # ns
    names: tuple[str, ...]
    positions: NDArray[np.float64]
    velocities: NDArray[np.float64]
    efforts: NDArray[np.float64]
