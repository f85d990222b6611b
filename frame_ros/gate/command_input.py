# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Commands as they come in: which of them can be understood, and in their order."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.time import SECOND
from frame_ros.gate.causes import Cause
from frame_ros.gate.limits.command_limits import STEP, JointLimits
from frame_ros.gate.named_positions import NamedPositionsReader
from frame_ros.gate.records import Moment, Reason

AHEAD = 0.5  # s that a stamp may lie in the future


class Command(NamedTuple):
    """stamp: ns. names: as they came. indices (K,) among the robot's joints. positions: (K,)."""

    stamp: int
    names: tuple[str, ...]
    indices: NDArray[np.intp]
    positions: NDArray[np.float64]


class CommandReader:
    """Reads commands to some of the joints `names` of a robot, in any order.

    max_age: s before now that a stamp may lie.
    """

    def __init__(self, names: Sequence[str], max_age: float) -> None:
        self._positions = NamedPositionsReader(names)
        self._max_age = max_age
        self._last = 0
        self.publisher: Hashable = None
        self._heard = -int(max_age * SECOND) - 1

    def read(
        self, stamp: int, names: Sequence[str], positions: ArrayLike, moment: Moment
    ) -> Command | Reason:
        """The command, or why it is none. stamp: ns."""
        found = self._positions.read(names, positions)
        if isinstance(found, Reason):
            return found
        return self._order(stamp, moment) or Command(stamp, *found)

    def other_publisher(self, publisher: Hashable, moment: Moment) -> Reason | None:
        """That commands of another publisher were taken within the last `max_age`."""
        silent = (moment.monotonic - self._heard) / SECOND
        if publisher == self.publisher or silent > self._max_age:
            return None
        text = f'commands of two publishers: {self.publisher} is followed, {publisher} is not'
        return Reason(Cause.SECOND_PUBLISHER, text)

    def accept(self, command: Command, publisher: Hashable, moment: Moment) -> None:
        """A command of the publisher that is followed was read: the next must be stamped later.

        A stamp ahead of now counts as now, so that it shuts out none of those that come later.
        """
        if publisher == self.publisher:
            self._last = min(command.stamp, moment.clock)
            self._heard = moment.monotonic

    def follow(self, command: Command, publisher: Hashable, moment: Moment) -> None:
        """A command is sent on: who sent it is followed. Who is refused shuts out nobody."""
        self.publisher = publisher
        self.accept(command, publisher, moment)

    def _order(self, stamp: int, moment: Moment) -> Reason | None:
        if stamp <= 0:
            return Reason(Cause.MALFORMED, 'it has no stamp')
        age = (moment.clock - stamp) / SECOND
        if age < -AHEAD:
            return Reason(
                Cause.OUT_OF_ORDER, f'it is stamped {-age:.3g} s ahead', value=-age, unit='s'
            )
        if age > self._max_age:
            text = f'it was stamped {age:.3g} s ago'
            return Reason(Cause.STALE_COMMAND, text, value=age, limit=self._max_age, unit='s')
        # The last stamp may lie ahead of now only if the clock was set back since.
        if (self._last - moment.clock) / SECOND > AHEAD:
            self._last = 0
        if stamp <= self._last:
            earlier = (self._last - stamp) / SECOND
            text = f'it is stamped {earlier:.3g} s before the last'
            return Reason(Cause.OUT_OF_ORDER, text, value=math.copysign(earlier, -1.0), unit='s')
        return None


def too_far(command: Command, measured: NDArray[np.float64], limits: JointLimits) -> Reason | None:
    """Why a first command is too far from where the arm is. measured: (D,), NaN where not known."""
    i, step = command.indices, limits.step[command.indices]
    distance = np.abs(command.positions - measured[i])
    by = np.where(np.isfinite(distance), distance - step, -math.inf)
    worst = int(by.argmax())
    if not by[worst] > 0.0:
        return None
    name, unit = limits.names[i[worst]], limits.units[i[worst]]
    text = f'the first command is {distance[worst]:.3g} {unit} from the measured {name}'
    return Reason(STEP, text, name, float(distance[worst]), float(step[worst]), unit)
