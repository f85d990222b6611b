# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The operations of one episode, and what was counted of it."""

from __future__ import annotations

from dataclasses import dataclass

from frame_ros.evaluation.operations.operator_counts import OperatorCounts
from frame_ros.evaluation.outcomes.episode_outcome import LabelSource
from frame_ros.evaluation.outcomes.operation import Ending, Operation


@dataclass(frozen=True)
class EpisodeOperations:
    """The operations of one episode by one source of labels.

    Attributes:
        operations: by their ends; never empty, an episode without any event has one that is
            censored at its end.
        duration: s, of the episode.
        label_source: where they come from.
        counts: those that the operator wrote down.
        interventions: number of times that an operator took over.
        notes: what makes them doubtful, and what was left out, in words.
    """

    operations: tuple[Operation, ...]
    duration: float
    label_source: LabelSource
    counts: OperatorCounts = OperatorCounts()
    interventions: int = 0
    notes: tuple[str, ...] = ()

    @property
    def successes(self) -> int:
        """Number of operations that succeeded."""
        return sum(operation.ending is Ending.SUCCESS for operation in self.operations)

    @property
    def operator_count(self) -> int | None:
        """Successes that the operator counted; None if not known."""
        return self.counts.successes

    @property
    def agrees(self) -> bool | None:
        """True if the operator counted as many successes; None if the operator counted none."""
        count = self.operator_count
        return None if count is None else count == self.successes
