# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Motion of the robot's joints, by their own states: the witness of the other streams."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import inf

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND

Array = NDArray[np.float64]
LOOK_BACK = SECOND // 10  # ns over which positions are compared
MOVED = 0.004  # rad (m) in that time: more than two steps of an encoder of 4096
FAST = 0.1  # rad/s (m/s) that is reported
AGE = SECOND // 4  # ns for which what the joints do is known
SPEED_SPACING = SECOND // 100  # ns between two samples of the speed


class JointMotion:
    """Follows joint states, which may come in parts."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """The clock was set back or forward."""
        self._history: dict[str, deque[tuple[int, Array]]] = {}
        self._moved: dict[str, int] = {}
        self._newest: dict[str, int] = {}
        self._positions: dict[str, float] = {}
        self._speeds: dict[str, tuple[int, Array]] = {}
        # The newest of all parts, ns; None: of none.
        self._last: int | None = None
        self._last_moved: int | None = None

    def add(
        self, part: str, stamp: int, names: Sequence[str], positions: Array, velocities: Array
    ) -> bool:
        """Takes positions (K,) and velocities, (K,) or empty, at `stamp`, ns; returns whether these
        joints move.
        """
        history = self._history.setdefault(part, deque())
        if history and len(history[-1][1]) != len(positions):
            history.clear()
        while len(history) > 1 and stamp - history[1][0] >= LOOK_BACK:
            history.popleft()
        history.append((stamp, positions))
        change = np.abs(positions - history[0][1])
        is_moving = bool((change > MOVED).any() or (np.abs(velocities) > FAST).any())
        if is_moving:
            self._moved[part] = stamp
            self._last_moved = max(self._moved.values())
        self._newest[part] = stamp
        self._last = max(self._newest.values())
        self._positions.update(zip(names, positions.tolist(), strict=False))
        return is_moving

    def doubt(self, part: str) -> None:
        """The states of a part are not true: it witnesses nothing until the next."""
        self._newest.pop(part, None)
        self._last = max(self._newest.values(), default=None)

    def is_moving(self, stamp: int) -> bool | None:
        """Returns whether any joint moves at `stamp`, ns; None: not known."""
        if self._last is None or stamp - self._last > AGE:
            return None
        return self._last_moved is not None and stamp - self._last_moved <= LOOK_BACK

    def positions(self, names: Sequence[str]) -> Array | None:
        """Returns the newest positions (N,) of joints; None while one is unknown."""
        found = [self._positions.get(name, inf) for name in names]
        return None if inf in found else np.array(found)

    def new_speed(self, part: str, stamp: int) -> tuple[int, Array] | None:
        """Returns the speed (1,) of a part, as the norm of its joints', and the stamp (ns) in the
        middle of the time that it is of; None: not again yet.
        """
        history = self._history.get(part)
        if not history:
            return None
        before = self._speeds.get(part)
        positions = history[-1][1]
        if before is not None and stamp - before[0] < SPEED_SPACING:
            return None
        self._speeds[part] = stamp, positions
        if before is None or len(before[1]) != len(positions) or stamp - before[0] > AGE:
            return None
        change = np.nan_to_num(positions - before[1])  # a finger that is not measured stands
        speed = float(np.sqrt(change @ change)) * SECOND / (stamp - before[0])
        return (stamp + before[0]) // 2, np.array([speed])
