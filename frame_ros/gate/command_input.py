# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Incoming commands: their form, their order and their publisher."""

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
    """A readable command."""

    stamp: int  # ns
    names: tuple[str, ...]  # the joints, in the message's order
    indices: NDArray[np.intp]  # (K,) places of these joints among the robot's
    positions: NDArray[np.float64]  # (K,) rad or m


class CommandReader:
    """Reads commands to some joints of a robot, in any order, of at most `max_age` s.

    Attributes:
        publisher: whose commands are followed.
        joints: (D,) those that the commands of one publisher were for, sent on or not; none before
            its first.
    """

    def __init__(self, names: Sequence[str], max_age: float) -> None:
        self._positions = NamedPositionsReader(names)
        self._max_age = max_age
        self._last = 0
        self.joints = np.zeros(len(names), dtype=bool)
        self._commander: Hashable = None
        self.publisher: Hashable = None
        self._heard = -int(max_age * SECOND) - 1

    def read(
        self, stamp: int, names: Sequence[str], positions: ArrayLike, moment: Moment
    ) -> Command | Reason:
        """Returns the command, or why it cannot be read. stamp: ns."""
        found = self._positions.read(names, positions)
        if isinstance(found, Reason):
            return found
        return self._order_problem(stamp, moment) or Command(stamp, *found)

    def other_publisher(self, publisher: Hashable, moment: Moment) -> Reason | None:
        """Returns a reason if another publisher was followed within the last `max_age`."""
        silent = (moment.monotonic - self._heard) / SECOND
        if publisher == self.publisher or silent > self._max_age:
            return None
        text = f'commands of two publishers: {self.publisher} is followed, {publisher} is not'
        return Reason(Cause.SECOND_PUBLISHER, text)

    def accept(self, command: Command, publisher: Hashable, moment: Moment) -> None:
        """Notes a command that was read: the next of this publisher must be stamped later. A stamp
        ahead of now counts as now, so that it shuts out no later commands.
        """
        if publisher != self._commander:
            self.forget_publisher()
            self._commander = publisher
        self.joints[command.indices] = True
        if publisher == self.publisher:
            self._last = min(command.stamp, moment.clock)
            self._heard = moment.monotonic

    def follow(self, command: Command, publisher: Hashable, moment: Moment) -> None:
        """Follows the publisher whose command is sent on; a refused one shuts out nobody."""
        self.publisher = publisher
        self.accept(command, publisher, moment)

    def forget_publisher(self) -> None:
        """The publisher has gone: another one may command other joints."""
        self.joints[:] = False

    def forget_order(self) -> None:
        """The clock was set back: the next command may have any stamp."""
        self._last = 0

    def _order_problem(self, stamp: int, moment: Moment) -> Reason | None:
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
        # The last stamp can lie ahead of now only if a clock was set back, if only the system's.
        if (self._last - moment.clock) / SECOND > AHEAD:
            self.forget_order()
        if stamp <= self._last:
            earlier = (self._last - stamp) / SECOND
            text = f'it is stamped {earlier:.3g} s before the last'
            return Reason(Cause.OUT_OF_ORDER, text, value=math.copysign(earlier, -1.0), unit='s')
        return None


def too_far(command: Command, measured: NDArray[np.float64], limits: JointLimits) -> Reason | None:
    """Returns why a first command is too far from where the arm is, or None.

    measured: (D,), NaN where unknown.
    """
    i, step = command.indices, limits.step[command.indices]
    distance = np.abs(command.positions - measured[i])
    by = np.where(np.isfinite(distance), distance - step, -math.inf)
    worst = int(by.argmax())
    if not by[worst] > 0.0:
        return None
    name, unit = limits.names[i[worst]], limits.units[i[worst]]
    text = f'the first command is {distance[worst]:.3g} {unit} from the measured {name}'
    return Reason(STEP, text, name, float(distance[worst]), float(step[worst]), unit)
