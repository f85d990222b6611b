# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""From one command to the next: what is asked for, and what would be sent."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots.command_limits import Excess

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Proposal:
    """What would be sent for a command: positions (K,) of the K joints in it.

    excesses: the limits that the command does not keep to, the gravest first; none: it passes as it
    is. velocities: (K,) of the step, positions less those before over durations (K,), s. asked:
    (K,) the velocities requested. The rest
    is for `CommandLimiter.commit`.
    """

    indices: Indices
    positions: Array
    velocities: Array
    requested: Array
    asked: Array
    durations: Array
    saved: Array
    time: int
    excesses: tuple[Excess, ...] = ()
    is_repeat: bool = False


@dataclass
class Step:
    """From the last command to the next, of K joints.

    i: which. p, v: (K,) where they were sent, and how fast they move there. q: (K,) where they are
    to go. measured: (K,) where they are. others: (D,) velocities of all joints. h: (K,) s.
    """

    i: Indices
    p: Array
    v: Array
    q: Array
    measured: Array | None
    others: Array
    h: Array = field(default_factory=lambda: np.zeros(0))
