# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Measured joint positions as they come in: which of them can be true."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.robots.command_limits import JointLimits
from frame_ros.robots.gate_causes import Cause
from frame_ros.robots.gate_records import SECOND, Moment, Reason
from frame_ros.robots.sent_path import SentPath

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

DELAY = 0.5  # s that a measurement may have been on its way; an older stamp counts as this old
TIMING = 0.05  # s by which the times of two measurements may be wrong
BEYOND = 0.1  # of a joint's range by which it may be measured outside of it
DISAGREEMENT = 1.5  # of the step limit: how far a joint may be from where it was sent
LAG = 0.5  # s by which an arm may be late


class MeasuredJoints:
    """The positions of a robot's joints, from plausible measurements only.

    limits: of its D joints. timeout: s of silence after which another publisher may take the place
    of one. path: where they were sent.

    positions: (D,) rad or m, NaN where not known. times: (D,) ns on the caller's clock, when each
    was measured.
    """

    def __init__(self, limits: JointLimits, timeout: float, path: SentPath) -> None:
        self.positions: Array = np.full(len(limits.names), math.nan)
        self.times = np.zeros(len(limits.names), dtype=np.int64)
        self._limits, self._timeout, self._path = limits, int(timeout * SECOND), path
        self._astray = DISAGREEMENT * limits.step
        self._at_once = limits.fastest * TIMING  # rad (m) that a joint may go in any time
        self._beyond = BEYOND * (limits.ends[1] - limits.ends[0])
        self._index = {name: i for i, name in enumerate(limits.names)}
        self._publishers: list[Hashable] = [None] * len(limits.names)
        self._heard = [-self._timeout - 1] * len(limits.names)
        self._names: Sequence[str] | None = None
        self._found: Indices = np.zeros(0, dtype=np.intp)
        self._places: Indices = np.zeros(0, dtype=np.intp)

    def take(
        self,
        names: Sequence[str],
        positions: ArrayLike,
        measured: int,
        now: int,
        moment: Moment,
        publisher: Hashable,
    ) -> Indices | Reason | None:
        """Takes positions (K,) of some joints if all of them can be true.

        measured, now: ns, see `measured_at`. publisher: whose message it is.

        Returns:
            The joints taken; why they cannot be true; or None: the robot has none of them.
        """
        if names != self._names:
            self._names = names
            found = [(self._index[n], k) for k, n in enumerate(names) if n in self._index]
            pairs = np.array(found, dtype=np.intp).reshape(-1, 2)
            self._found, self._places = pairs[:, 0], pairs[:, 1]
        i = self._found
        values = np.asarray(positions, dtype=np.float64)
        if values.shape != (len(names),):
            return Reason(Cause.MALFORMED, f'{values.size} positions for {len(names)} joints')
        if not i.size:
            return None
        values = values[self._places]
        problem = self._other_publisher(i, publisher, moment)
        if problem is None and not self._is_harmless(i, values):
            problem = self._implausible(i, values, measured, now)
        if problem is not None:
            return problem
        self.positions[i] = values
        self.times[i] = np.maximum(measured, self.times[i])
        return i

    def _other_publisher(
        self, indices: Indices, publisher: Hashable, moment: Moment
    ) -> Reason | None:
        now, others = moment.monotonic, self._publishers
        followed = indices.tolist()
        for i in followed:
            if publisher != others[i] and now - self._heard[i] <= self._timeout:
                name = self._limits.names[i]
                text = (
                    f'{name} is measured by two publishers: {others[i]} is followed, '
                    f'{publisher} is not'
                )
                return Reason(Cause.SECOND_PUBLISHER, text, name)
        for i in followed:
            others[i], self._heard[i] = publisher, now
        return None

    def _is_harmless(self, i: Indices, values: Array) -> bool:
        """Whether it is plain that positions (K,) can be true; so it is nearly always."""
        went, away = np.abs(values - self.positions[i]), np.abs(values - self._path.now[i])
        ends = self._limits.ends
        is_true = (went <= self._at_once[i]) & (ends[0][i] <= values) & (values <= ends[1][i])
        return bool(is_true.all()) and not bool((away > self._astray[i]).any())

    def _implausible(self, i: Indices, values: Array, measured: int, now: int) -> Reason | None:
        """Why positions (K,) cannot be true, by the joint that is worst."""
        limits, cause = self._limits, Cause.IMPLAUSIBLE_JOINT_STATES
        if not np.isfinite(values).all():
            worst = int(np.argmin(np.isfinite(values)))
            name = limits.names[i[worst]]
            return Reason(cause, f'{name} is {values[worst]}', name, float(values[worst]))
        passed = np.maximum(measured - self.times[i], 0) / SECOND + TIMING
        way, room = np.abs(values - self.positions[i]), limits.fastest[i] * passed
        low, high = (ends[i] for ends in self._path.range(now))
        away = np.maximum(low - values, values - high)
        beyond = np.maximum(limits.ends[0][i] - values, values - limits.ends[1][i])
        checks = (
            ('is {0:.3g} {1} out of its range', beyond, self._beyond[i]),
            ('went {0:.3g} {1}, which it cannot so fast', way, room),
            ('is {0:.3g} {1} from where it was sent', away, self._astray[i]),
        )
        for text, value, limit in checks:
            over = np.where(np.isfinite(value), value - limit, -math.inf)
            worst = int(over.argmax())
            if over[worst] > 0.0:
                name, unit = limits.names[i[worst]], limits.units[i[worst]]
                said = f'{name} ' + text.format(value[worst], unit)
                return Reason(cause, said, name, float(value[worst]), float(limit[worst]), unit)
        return None


def measured_at(stamp: int, now: int, clock: int) -> int:
    """When something stamped `stamp` was measured, on the clock that says `now` (all ns).

    clock: of the stamps. No stamp, or one that lies ahead: now.
    """
    age = clock - stamp if stamp > 0 else 0
    return now - min(max(age, 0), int(DELAY * SECOND))
