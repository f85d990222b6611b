# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rates of the steps of a task where the unit is the scene, not the run."""

from __future__ import annotations

from collections.abc import Sequence

from frame_ros.evaluation.scene_trials.result import TrialResult
from frame_ros.metrics import wilson_interval
from frame_ros.scenes.tasks.kinds import TASKS
from frame_ros.scenes.tasks.rates import StepRate, TransferRates

NAN = float('nan')


def scene_step_rates(
    task: str, scenes: Sequence[Sequence[TrialResult]], rule: str
) -> TransferRates | None:
    """Returns the rates of the steps of one task; None where a step is not known.

    Of the runs of a scene the share that reached a step counts, so that all counts are sums of
    shares over scenes, and Wilson's intervals are of so many scenes.

    Args:
        scenes: of each its trials, at least one.
    """
    reached = [[each.steps.get(rule, {}) for each in trials] for trials in scenes]
    if task not in TASKS or not reached:
        return None
    steps = TASKS[task].steps
    if any(set(steps) - set(each) for own in reached for each in own):
        return None
    rates, former = [], ''
    for step in steps:
        here = _shares([[each[step] for each in own] for own in reached])
        before = _shares([[not former or each[former] for each in own] for own in reached])
        both = _shares(
            [[each[step] and (not former or each[former]) for each in own] for own in reached]
        )
        rate, interval = _rate(here, len(reached))
        transfer, bounds = _rate(both, before)
        rates.append(
            StepRate(
                step, len(reached), here, rate, interval, before, both, transfer, bounds,
                here - both,
            )
        )  # fmt: skip
        former = step
    return TransferRates(task, rule, tuple(rates), ())


def _shares(scenes: Sequence[Sequence[bool]]) -> float:
    return float(sum(sum(own) / len(own) for own in scenes))


def _rate(count: float, scenes: float) -> tuple[float, tuple[float, float]]:
    if not scenes > 0:
        return NAN, (NAN, NAN)
    # Less than one scene is no sample from which an interval follows.
    interval = wilson_interval(min(count, scenes), scenes) if scenes >= 1 else (0.0, 1.0)
    return count / scenes, interval
