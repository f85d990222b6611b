# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Stall of a joint: it pushes hard away from its commanded position, and that lasts."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.options import option, options
from frame_ros.core.time import SECOND
from frame_ros.sensing.contact.threshold import LONGEST

Array = NDArray[np.float64]


@options
class StallOptions:
    """Stall of a joint, of which all criteria must hold.

    The defaults suit an STS3215 servo: half of the 2.9 N m (30 kg cm at 12 V, by its data sheet) at
    which it stalls, 3 degrees, and a fifth of the 2 s after which its own overload protection,
    as LeRobot sets it, lets go.
    """

    torque: float = option(1.45, 'smallest torque of the motor', unit='N m', above=0.0, live=True)
    position_error: float = option(
        0.05, 'smallest distance from the commanded position', unit='rad', above=0.0, live=True
    )
    time: float = option(
        0.4, 'time for which both last', unit='s', above=0.0, at_most=LONGEST, live=True
    )
    speed: float = option(0.1, 'largest speed when it begins', unit='rad/s', above=0.0, live=True)
    release: float = option(
        0.7,
        'share of torque and error below either of which it ends',
        above=0.0,
        at_most=1.0,
        live=True,
    )


class StallDetector:
    """Stalls per joint: `is_stalled`. Missing samples end none, but restart the time."""

    def __init__(self, count: int, settings: StallOptions | None = None) -> None:
        """Takes the number of joints and the criteria."""
        self._count = count
        self._none = (False,) * count
        self.change(settings or StallOptions())
        self.reset()

    def change(self, settings: StallOptions) -> None:
        """Takes other criteria from the next sample on."""
        self.settings = settings
        self._time = round(settings.time * SECOND)

    def reset(self) -> None:
        """Forgets everything: nothing is stalled."""
        self.is_stalled: tuple[bool, ...] = self._none
        self._since: list[int | None] = [None] * self._count
        self._is_quiet = True

    def update(
        self, stamp: int, torque: Array, q: Array, dq: Array, command: Array | None
    ) -> tuple[bool, ...]:
        """Takes one sample, at a stamp later than the last.

        Args:
            stamp: ns.
            torque: (N,) N m of the motors.
            q, dq: (N,) rad, rad/s.
            command: (N,) rad; None, or NaN: unknown, which begins no stall, and ends none as long
                as the torque is there.
        """
        settings = self.settings
        effort = np.abs(torque)
        if self._is_quiet and not np.maximum.reduce(effort) >= settings.torque:
            return self.is_stalled
        error = np.abs(position_error(q, command))
        pushes = (effort >= settings.torque) & (error >= settings.position_error)
        pushes &= np.abs(dq) <= settings.speed
        share = settings.release
        # An unknown value, NaN, ends nothing.
        goes_on = ~(effort < share * settings.torque) & ~(error < share * settings.position_error)
        self.is_stalled = tuple(
            self._judge(joint, stamp, bool(pushes[joint]), bool(goes_on[joint]))
            for joint in range(self._count)
        )
        stalled = self.is_stalled
        self._is_quiet = not any(stalled) and all(since is None for since in self._since)
        return self.is_stalled

    def interrupt(self) -> None:
        """Notes missing samples: stalled joints stay so, the others' time starts again."""
        self._since = [None] * self._count

    def _judge(self, joint: int, stamp: int, pushes: bool, goes_on: bool) -> bool:
        if self.is_stalled[joint] and goes_on:
            return True
        since = self._since[joint]
        if not pushes:
            self._since[joint] = None
            return False
        if since is None:
            self._since[joint] = since = stamp
        return stamp - since >= self._time


def position_error(q: Array, command: Array | None) -> Array:
    """Returns (N,) rad from the joints' positions to the commanded ones; NaN where unknown."""
    return np.full(len(q), math.nan) if command is None else command - q
