# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Outcomes as a CSV file, one row per operation, which `read_outcomes_csv` reads."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path

from frame_ros.core.output_files import write_whole
from frame_ros.evaluation.outcomes.csv_columns import COLUMNS
from frame_ros.evaluation.outcomes.csv_reading import NOTE_SEPARATOR
from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome
from frame_ros.evaluation.outcomes.facts import CONDITION, STAGE
from frame_ros.evaluation.outcomes.operation import Ending, Operation

NOT_WRITTEN = ('scene', 'seed')  # they are in `pair`


def write_outcomes_csv(outcomes: Sequence[EpisodeOutcome], path: str | Path) -> None:
    """Writes outcomes, all that `read_outcomes_csv` reads: it returns equal ones, except `source`.

    Raises:
        SetupError: it cannot be written.
    """
    write_whole(Path(path).expanduser(), outcomes_csv(outcomes), 'the CSV file')


def outcomes_csv(outcomes: Sequence[EpisodeOutcome]) -> str:
    """Returns the text of the file."""
    rows = [row for outcome in outcomes for row in _rows(outcome)]
    names = [name for name in COLUMNS if name not in NOT_WRITTEN]
    names += _further(outcomes)
    file = StringIO(newline='')
    writer = csv.DictWriter(file, names, restval='', lineterminator='\n')
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def _further(outcomes: Iterable[EpisodeOutcome]) -> list[str]:
    """Returns the columns of stages and conditions, each in the order of first appearance."""
    stages: dict[str, None] = {}
    conditions: dict[str, None] = {}
    for outcome in outcomes:
        stages.update(dict.fromkeys(STAGE + name for name in outcome.stages))
        conditions.update(dict.fromkeys(CONDITION + name for name in outcome.conditions))
    return [*stages, *conditions]


def _rows(outcome: EpisodeOutcome) -> list[dict[str, str]]:
    episode = {
        'episode': outcome.name,
        'policy': outcome.policy,
        'object': outcome.object,
        'task': outcome.task,
        'episode_success': _word(outcome.is_success),
        'duration': repr(outcome.duration) if math.isfinite(outcome.duration) else '',
        'pair': outcome.pair,
        'human': _word(outcome.is_human),
        'operator_count': '' if outcome.operator_count is None else str(outcome.operator_count),
        'interventions': str(outcome.interventions),
        'label_source': outcome.label_source.value,
        'date': outcome.date,
        'notes': NOTE_SEPARATOR.join(outcome.notes),
        **{STAGE + name: _word(value) for name, value in outcome.stages.items()},
        **{CONDITION + name: value for name, value in outcome.conditions.items()},
    }
    operations = [_of_operation(place, each) for place, each in enumerate(outcome.operations)]
    return [{**episode, **each} for each in operations] or [
        {**episode, 'success': _word(outcome.is_success)}
    ]


def _of_operation(place: int, operation: Operation) -> dict[str, str]:
    return {
        'operation': str(place),
        'success': _word(operation.ending is Ending.SUCCESS),
        'ending': operation.ending.value,
        'time': repr(operation.end - operation.begin),
        'begin': repr(operation.begin),
        'end': repr(operation.end),
    }


def _word(truth: bool | None) -> str:
    return '' if truth is None else str(truth).lower()
