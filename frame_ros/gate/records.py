# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Records of a command gate: its state, its interventions, and counts of both."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.gate.limits.command_limits import Excess

Array = NDArray[np.float64]


class GateStatus(IntEnum):
    """States of a gate; the numbers are those of msg/GateState."""

    IDLE = 0
    PASSING = 1
    HOLDING = 2
    STOPPED = 3
    TAKEOVER = 4


class Act(IntEnum):
    """Actions of a gate on a command; the numbers are those of msg/GateIntervention."""

    LIMITED = 1
    REFUSED = 2
    HELD = 3
    STOPPED = 4
    RESET = 5
    TAKEOVER = 6


class Moment(NamedTuple):
    """A point in time, ns: on the monotonic clock, which nobody sets, and on the robot's clock."""

    monotonic: int
    clock: int


@dataclass(frozen=True)
class Reason:
    """The reason for an intervention: one of GateIntervention's causes, and any excess."""

    cause: str
    text: str = ''
    joint: str = ''
    value: float = math.nan
    limit: float = math.nan
    unit: str = ''

    @classmethod
    def of(cls, excess: Excess) -> Reason:
        """Returns the reason for an exceeded limit."""
        return cls(excess.cause, excess.text, excess.joint, excess.value, excess.limit, excess.unit)


class Known(NamedTuple):
    """The knowledge of where the joints are.

    Attributes:
        positions: (D,) rad or m, inf where nobody knows, NaN where it does not matter.
        room: (D,) rad or m, how far from there a joint may be held.
    """

    positions: Array
    room: Array

    def are_lost(self, places: Array) -> NDArray[np.bool_]:
        """Returns (D,) whether a joint may not be held at its place (D,); NaN: it has none."""
        with np.errstate(invalid='ignore'):
            result: NDArray[np.bool_] = np.abs(self.positions - places) > self.room
        return result


class Output(NamedTuple):
    """A command to the arm.

    Attributes:
        stamp: ns.
        positions, velocities: (K,).
        is_hold: the gate's own.
        times: (K,) ns, the stream's time of arrival of each joint: at most the slot (jitter) before
            it is sent.
        known: where joints that it leaves out may be held; None: wherever they were sent.
    """

    stamp: int
    names: tuple[str, ...]
    positions: Array
    velocities: Array
    is_hold: bool
    times: NDArray[np.int64]
    known: Known | None = None


@dataclass(frozen=True)
class Intervention:
    """One message of a run of interventions, as msg/GateIntervention; stamp: ns."""

    act: Act
    reason: Reason
    stamp: int
    episode_id: str
    sequence: int
    count: int = 1
    is_over: bool = False


@dataclass
class GateCounts:
    """Counts since activation: commands received, what became of them, holds and stops."""

    received: int = 0
    passed: int = 0
    limited: int = 0
    refused: int = 0
    holds: int = 0
    stops: int = 0


@dataclass
class _Run:
    first: Intervention
    count: int
    last: int  # monotonic, ns


@dataclass
class InterventionLog:
    """Turns runs of interventions of one kind and cause into pairs of messages.

    Args:
        publish: gets every message.
        mark: gets the first of each kind and cause in an episode.
        gap: ns without another one after which a run of limited or refused commands is over.
    """

    publish: Callable[[Intervention], None]
    mark: Callable[[Intervention], None]
    gap: int = SECOND // 4
    _runs: dict[tuple[Act, str], _Run] = field(default_factory=dict)
    _marked: set[tuple[Act, str]] = field(default_factory=set)
    _sequence: int = 0

    def add(self, act: Act, reason: Reason, moment: Moment, episode_id: str) -> None:
        """Adds a command or tick with an intervention; begins a run if none of its kind runs."""
        key = (act, reason.cause)
        run = self._runs.get(key)
        if run is not None:
            run.count, run.last = run.count + 1, moment.monotonic
            return
        first = self.once(act, reason, moment, episode_id)
        self._runs[key] = _Run(first, 1, moment.monotonic)

    def once(self, act: Act, reason: Reason, moment: Moment, episode_id: str) -> Intervention:
        """Logs an intervention of one message."""
        message = Intervention(act, reason, moment.clock, episode_id, self._next())
        self.publish(message)
        key = (act, reason.cause)
        if episode_id and key not in self._marked:
            self._marked.add(key)
            self.mark(message)
        return message

    def end(self, act: Act, moment: Moment) -> None:
        """Ends the runs of this kind."""
        for key in [key for key in self._runs if key[0] == act]:
            self._end(key, moment)

    def expire(self, moment: Moment) -> None:
        """Ends the runs of limited and refused commands that have had no addition for `gap`."""
        for key, run in list(self._runs.items()):
            if key[0] in (Act.LIMITED, Act.REFUSED) and moment.monotonic - run.last > self.gap:
                self._end(key, moment)

    def end_all(self, moment: Moment) -> None:
        """Ends every run."""
        for key in list(self._runs):
            self._end(key, moment)

    def begin_episode(self) -> None:
        """Marks the first interventions again, in another episode."""
        self._marked.clear()

    def _end(self, key: tuple[Act, str], moment: Moment) -> None:
        run = self._runs.pop(key)
        self.publish(
            replace(
                run.first,
                stamp=moment.clock,
                sequence=self._next(),
                count=run.count,
                is_over=True,
            )
        )

    def _next(self) -> int:
        self._sequence += 1
        return self._sequence - 1
