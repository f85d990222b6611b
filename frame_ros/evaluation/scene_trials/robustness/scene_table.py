# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One row per scene of one policy and task: its factors, and its outcomes over the repeats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.evaluation.scene_trials.result import TrialResult
from frame_ros.evaluation.scene_trials.robustness.campaign_data import CampaignData
from frame_ros.evaluation.scene_trials.robustness.scene_factors import Factor, scene_factors
from frame_ros.metrics import REGISTRY
from frame_ros.scenes.description.scene import Scene

Array = NDArray[np.float64]
NAN = float('nan')
SUCCESS = 'success'
# Category of a metric -> the family in which the report has it.
FAMILIES = {
    'task': 'task',
    'trajectory': 'quality',
    'efficiency': 'quality',
    'safety': 'safety',
    'uncertainty': 'confidence',
    'confidence': 'confidence',
}
ONE_PER_SCENE = (
    'The unit is the scene: of a scene that was run several times the mean over the runs counts as '
    'one value, so that intervals are rather too wide than too narrow.'
)


@dataclass(frozen=True)
class SceneTable:
    """Unchanged scenes of one policy, task and robot.

    Attributes:
        rule: by which success is judged.
        scenes: (n,) scenes.
        trials: (n,) of each its trials that count, by repeat.
        factors: name -> factor, its values (n,).
        success: (n,) share of the trials that succeeded.
        metrics: id -> (n,) mean over the trials; NaN: none has it.
    """

    policy: str
    task: str
    robot: str
    rule: str
    scenes: tuple[Scene, ...]
    trials: tuple[tuple[TrialResult, ...], ...]
    factors: Mapping[str, Factor]
    success: Array
    metrics: Mapping[str, Array]

    @property
    def name(self) -> str:
        """Policy, task and robot in words."""
        return f'{self.policy}, {self.task}, {self.robot}'

    @property
    def outcomes(self) -> dict[str, Array]:
        """SUCCESS and the metrics, (n,) each."""
        return {SUCCESS: self.success, **self.metrics}

    @property
    def trial_count(self) -> int:
        """The number of trials."""
        return sum(map(len, self.trials))


def family_of(outcome: str) -> str:
    """Returns the family, one of FAMILIES' values, of SUCCESS or of a metric's id."""
    if outcome == SUCCESS:
        return 'task'
    return FAMILIES[REGISTRY[outcome].category] if outcome in REGISTRY else 'task'


def scene_tables(
    data: CampaignData, rule: str = 'paper', metrics: Sequence[str] = ()
) -> list[SceneTable]:
    """Returns a table per policy, task and robot, of the trials in which nothing was mutated.

    metrics: ids; empty: all that the registry knows, of which the trials have two values.
    """
    groups: dict[tuple[str, str, str], dict[str, list[TrialResult]]] = {}
    for trial in data.trials:
        if not data.mutation(trial):
            scene = data.scenes[trial.scene]
            own = groups.setdefault((trial.policy, scene.task.kind, scene.robot), {})
            own.setdefault(trial.scene, []).append(trial)
    return [_table(data, key, rows, rule, metrics) for key, rows in sorted(groups.items())]


def success_bounds(data: CampaignData, table: SceneTable) -> tuple[float, float, int]:
    """Returns the success of a table with its trials that do not count taken as failures and as
    successes, and the number of these; scenes of which no trial counts are in both.
    """
    runs = {s.name: [t.is_success(table.rule) for t in own]
            for s, own in zip(table.scenes, table.trials)}  # fmt: skip
    broken: dict[str, int] = {}
    for trial in data.invalid:
        scene = data.scenes[trial.scene]
        key = trial.policy, scene.task.kind, scene.robot
        if key == (table.policy, table.task, table.robot) and not data.mutation(trial):
            broken[trial.scene] = broken.get(trial.scene, 0) + 1
    low, high = [], []
    for name in dict.fromkeys((*runs, *broken)):
        own, more = runs.get(name, []), broken.get(name, 0)
        low.append(sum(own) / (len(own) + more))
        high.append((sum(own) + more) / (len(own) + more))
    return float(np.mean(low)), float(np.mean(high)), sum(broken.values())


def _table(
    data: CampaignData,
    key: tuple[str, str, str],
    rows: Mapping[str, list[TrialResult]],
    rule: str,
    metrics: Sequence[str],
) -> SceneTable:
    scenes = tuple(data.scenes[name] for name in rows)
    trials = tuple(tuple(sorted(each, key=lambda t: t.repeat)) for each in rows.values())
    names = metrics or [
        name for name in REGISTRY if any(name in t.metrics for own in trials for t in own)
    ]
    columns = {
        name: np.array([_mean([t.metrics.get(name, NAN) for t in own]) for own in trials])
        for name in names
    }
    if not metrics:
        columns = {
            name: column
            for name, column in columns.items()
            if len(np.unique(column[np.isfinite(column)])) > 1
        }
    success = np.array([_mean([float(t.is_success(rule)) for t in own]) for own in trials])
    return SceneTable(*key, rule, scenes, trials, scene_factors(scenes), success, columns)


def _mean(values: Sequence[float]) -> float:
    finite = [value for value in values if np.isfinite(value)]
    return float(np.mean(finite)) if finite else NAN
