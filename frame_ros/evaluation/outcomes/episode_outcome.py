# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""An episode as the comparison of policies takes it: who acted on what, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from frame_ros.core.meanings import MeaningEnum
from frame_ros.evaluation.outcomes.operation import Operation


class LabelSource(MeaningEnum):
    """Sources of the operations of an episode."""

    EVENTS = 'events', 'events that were recorded with the episode'
    DETECTED = 'detected', 'found in the telemetry of the gripper'
    REVIEWED = 'reviewed', 'confirmed or corrected by a reviewer'
    OUTCOME = 'outcome', 'the outcome of the whole episode, which is its one operation'
    FILE = 'file', 'a file of outcomes'


@dataclass(frozen=True)
class EpisodeOutcome:
    """The end of one episode.

    Attributes:
        name: unique among those that are compared.
        policy: label of the policy, or of the human reference (`is_human`).
        object: what was manipulated; '' if not said.
        task: the instruction; '' if not said.
        duration: s; NaN if not known.
        operations: by time; never empty (an episode without success has one censored or ghost
            operation); where times are not known, empty.
        is_success: whether the task was done; None if not known.
        stages: stage -> whether it was reached, in their order, such as grasped, lifted, placed;
            empty if not known. A stage counts as reached only if those before it were.
        pair: what episodes of different policies share that are paired: a scene or seed, within
            task and object; '' for an unpaired one.
        is_human: whether a human teleoperated it, as the reference.
        label_source: where the operations come from.
        operator_count: successes that the operator wrote down; None if not known.
        interventions: number of times that an operator took over.
        conditions: name -> value of what was set up: camera, tote, site, session, ...
        date: day and time of its start, ISO 8601 in UTC; '' if not known.
        source: the bag or file; None if it was made in memory.
        notes: what makes it doubtful, in words.
    """

    name: str
    policy: str
    object: str
    task: str
    duration: float
    operations: tuple[Operation, ...]
    is_success: bool | None
    stages: Mapping[str, bool] = field(default_factory=dict)
    pair: str = ''
    is_human: bool = False
    label_source: LabelSource = LabelSource.EVENTS
    operator_count: int | None = None
    interventions: int = 0
    conditions: Mapping[str, str] = field(default_factory=dict)
    date: str = ''
    source: Path | None = None
    notes: tuple[str, ...] = ()

    @property
    def successes(self) -> int:
        """Operations that succeeded."""
        return sum(operation.event and not operation.is_ghost for operation in self.operations)

    @property
    def has_labels(self) -> bool:
        """False if the outcome of the episode alone says that nothing succeeded: then any source of
        labels gives the same.
        """
        return self.label_source is not LabelSource.OUTCOME or self.successes > 0

    @property
    def furthest_stage(self) -> int | None:
        """Number of stages reached in order, from 0; None if stages are not known."""
        if not self.stages:
            return None
        reached = list(self.stages.values())
        return reached.index(False) if False in reached else len(reached)
