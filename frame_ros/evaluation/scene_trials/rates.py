# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rates at which trials reach the steps of their task."""

from __future__ import annotations

from collections.abc import Sequence

from frame_ros.evaluation.scene_trials.result import TrialResult
from frame_ros.scenes.tasks.rates import TransferRates, transfer_rates
from frame_ros.scenes.tasks.rules import OWN_RULE, RULES, StepOutcomes


def step_rates(task: str, results: Sequence[TrialResult]) -> dict[str, TransferRates]:
    """Returns rule -> rates of the steps, of trials of one task.

    Raises:
        ValueRangeError: there are no trials.
    """
    rules = [*RULES, *([OWN_RULE] if any(OWN_RULE in each.steps for each in results) else ())]
    return {
        rule: transfer_rates([_outcomes(task, rule, each) for each in results]) for rule in rules
    }


def are_repeated(results: Sequence[TrialResult]) -> bool:
    """Returns whether several of the trials that count are of one scene, changed or not: they are
    not independent, so an interval for that many trials would be too narrow.
    """
    scenes = [each.base or each.scene for each in results if each.is_valid]
    return len(set(scenes)) < len(scenes)


def _outcomes(task: str, rule: str, result: TrialResult) -> StepOutcomes:
    steps, times = result.steps.get(rule, {}), result.times.get(rule, {})
    return StepOutcomes(task, rule, dict(steps), dict(times), result.problem)
