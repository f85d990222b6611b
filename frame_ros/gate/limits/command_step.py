# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One step of a command stream: the request, and the proposal made of it."""

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
    """A command to send: positions (K,) of the K joints `indices`.

    Attributes:
        excesses: the limits that the request exceeds, the gravest first; none: it passes unchanged.
        velocities: (K,) of the step: the change of positions over durations (K,), s.
        times: (K,) ns, the stream's time of arrival, never later than `time`, when they are sent.
        requested, asked: (K,) positions and velocities requested.
        is_there: (K,) whether a joint has come near the place where it starts again.
        is_repeat: whether a joint is sent the last place again, because the time was too short for
            a step.
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
    """A step from the last command to the next, of K joints.

    Attributes:
        i: their indices.
        p, v: (K,) last commanded positions and velocities.
        q: (K,) requested positions; NaN: come to rest.
        before, asked: (K,) positions requested by the last command, and their velocities.
        measured: (K,) measured positions.
        others: (D,) velocities of all joints.
        available: (K,) ns since the last command.
        base: (K,) where a joint starts again; NaN: it goes on.
        center, room: (K,) where a joint begins, and how far from there it may be sent at once;
            infinite where the stream goes on.
        h: (K,) s that the step takes.
        lower, upper: (K,) range in which it may end.
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
