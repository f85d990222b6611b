# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One operation of an episode, such as one placement, as survival analysis takes it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.meanings import MeaningEnum


class Ending(MeaningEnum):
    """Ends of an operation."""

    SUCCESS = 'success', 'done'
    DROP = 'drop', 'the object was lost, or lay where it may not at the end of the episode'
    FAILURE = 'failure', 'a hard failure of another kind: the operation cannot be done any more'
    SAFETY_STOP = 'safety_stop', 'the user or a safety function stopped the robot'
    TIMEOUT = 'timeout', 'the time of the episode ran out'
    STOPPED = 'stopped', 'the episode ended before the operation did'


# Endings that no time mends: ghosts, which end at infinity (PhAIL, section 3.1).
GHOSTS = (Ending.DROP, Ending.FAILURE, Ending.SAFETY_STOP)


@dataclass(frozen=True)
class Operation:
    """One operation: it begins where the one before it ended, or with the episode.

    Attributes:
        begin: s since the episode's start.
        end: s since the episode's start, at or after `begin`.

    Raises:
        ValueRangeError: a time is not finite, or the end is before the beginning.
    """

    begin: float
    end: float
    ending: Ending

    def __post_init__(self) -> None:
        if not (math.isfinite(self.begin) and math.isfinite(self.end) and self.begin <= self.end):
            raise ValueRangeError(
                f'an operation from {self.begin} to {self.end} s; two finite times in order are '
                'expected'
            )

    @property
    def is_ghost(self) -> bool:
        """True if it ended in a hard failure, which counts as done at infinity."""
        return self.ending in GHOSTS

    @property
    def time(self) -> float:
        """T in s: to success, to censoring, or infinite (a hard failure). PhAIL, section 3.1."""
        return math.inf if self.is_ghost else self.end - self.begin

    @property
    def event(self) -> bool:
        """delta: True if the operation ended by itself, False if it was censored."""
        return self.is_ghost or self.ending is Ending.SUCCESS
