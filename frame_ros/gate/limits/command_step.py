# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""From one command to the next: what is asked for, and what would be sent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.gate.limits.command_limits import Excess

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Times = NDArray[np.int64]


@dataclass(frozen=True)
class Proposal:
    """What would be sent: positions (K,) of the K joints `indices`.

    excesses: the limits that the command does not keep to, the gravest first; none: it passes as it
    is. velocities: (K,) of the step: positions less those before over durations (K,), s. times:
    (K,) ns, the stream's time at which the joints are there; never later than `time`, when they are
    sent. requested, asked: (K,) positions and velocities requested. is_there: (K,) whether a joint
    has come near the place where it starts again. is_repeat: whether a joint is sent the last place
    once more, because the time was too short for a step.
    """

    indices: Indices
    positions: Array
    velocities: Array
    requested: Array
    asked: Array
    durations: Array
    times: Times
    time: int
    excesses: tuple[Excess, ...] = ()
    is_there: NDArray[np.bool_] | None = None
    is_repeat: bool = False


@dataclass
class Step:
    """From the last command to the next, of K joints.

    i: which. p, v: (K,) where they were sent, and how fast they move there. q: (K,) where they are
    to go; NaN: to rest. before, asked: (K,) where they were to go with the last command, and how
    fast that was requested. measured: (K,) where they are. others: (D,) velocities of all joints.
    available: (K,) ns since they were sent to p. base: (K,) where a joint starts again; NaN: it
    goes on. center, room: (K,) around where it begins, and how far from there it may be sent at
    once; room is infinite where the stream goes on. h: (K,) s that the step takes. lower, upper:
    (K,) between which it may end.
    """

    i: Indices
    p: Array
    v: Array
    q: Array
    before: Array
    asked: Array
    measured: Array | None
    others: Array
    available: Times
    base: Array
    center: Array
    room: Array
    h: Array
    lower: Array
    upper: Array
