# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Failures by their kind: the same asymptote of a CDF can come from very different ones."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from frame_ros.evaluation.outcomes.operation import Ending, Operation


@dataclass(frozen=True)
class FailureCounts:
    """Endings of the operations of several episodes (PhAIL, appendix F).

    Attributes:
        operations: number of those that ended by success or a hard failure, safety stops included.
        drops: operations whose item was lost or left.
        failures: operations that failed in another way.
        safety_stops: episodes with a safety stop.
        timeouts: episodes whose time ran out.
        stopped: episodes that ended otherwise with an operation open.
    """

    episodes: int
    operations: int
    successes: int
    drops: int
    failures: int
    safety_stops: int
    timeouts: int
    stopped: int

    @property
    def drop_rate(self) -> float:
        """Drops per operation; NaN without any."""
        return _share(self.drops, self.operations)

    @property
    def failure_rate(self) -> float:
        """Other hard failures per operation; NaN without any."""
        return _share(self.failures, self.operations)

    @property
    def safety_stop_rate(self) -> float:
        """Share of the episodes with a safety stop; NaN without any episode."""
        return _share(self.safety_stops, self.episodes)

    @property
    def timeout_rate(self) -> float:
        """Share of the episodes whose time ran out, likewise."""
        return _share(self.timeouts, self.episodes)


def failure_counts(episodes: Iterable[Sequence[Operation]]) -> FailureCounts:
    """Returns the endings of episodes, each given by its operations. Drops and failures count by
    operation, which include those that a safety stop ended; safety stops and timeouts by episode.
    """
    counts: Counter[Ending] = Counter()
    number = stops = timeouts = stopped = 0
    for operations in episodes:
        endings = Counter(operation.ending for operation in operations)
        counts += endings
        number += 1
        stops += endings[Ending.SAFETY_STOP] > 0
        timeouts += endings[Ending.TIMEOUT] > 0
        stopped += endings[Ending.STOPPED] > 0
    ended = (Ending.SUCCESS, Ending.DROP, Ending.FAILURE, Ending.SAFETY_STOP)
    return FailureCounts(
        number,
        sum(counts[ending] for ending in ended),
        counts[Ending.SUCCESS],
        counts[Ending.DROP],
        counts[Ending.FAILURE],
        stops,
        timeouts,
        stopped,
    )


def _share(count: int, total: int) -> float:
    return count / total if total else math.nan
