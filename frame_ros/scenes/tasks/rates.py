# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rates at which steps of a task are reached, of all episodes and of those at the step before."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from frame_ros.core.errors import ValueRangeError
from frame_ros.metrics import wilson_interval
from frame_ros.scenes.tasks.kinds import TASKS
from frame_ros.scenes.tasks.rules import StepOutcomes

Interval = tuple[float, float]
_NOTHING = (float('nan'), float('nan'))


@attrs.frozen
class StepRate:
    """The rates of one step.

    Counts are whole numbers, unless the episodes are scenes of which a share of the runs counts.

    Attributes:
        step: its name.
        episodes: that could be judged.
        reached: of these.
        rate: reached / episodes; NaN without episodes.
        interval: Wilson's, of the rate.
        before: episodes that reached the step before; of the first step all.
        carried: of these, that reached this step too.
        transfer: carried / before; NaN if none did.
        transfer_interval: Wilson's, of the transfer.
        without_before: episodes that reached this step but not the one before.
    """

    step: str
    episodes: int
    reached: float
    rate: float
    interval: Interval
    before: float
    carried: float
    transfer: float
    transfer_interval: Interval
    without_before: float


@attrs.frozen
class TransferRates:
    """The steps of one task by one rule.

    Attributes:
        steps: in their order.
        invalid: why episodes could not be judged, one text each; they count nowhere.
    """

    task: str
    rule: str
    steps: tuple[StepRate, ...]
    invalid: tuple[str, ...]


def transfer_rates(outcomes: Sequence[StepOutcomes], confidence: float = 0.95) -> TransferRates:
    """Counts the steps of episodes of one task, judged by one rule (as the paper's table 2 does,
    and from step to step).

    Raises:
        ValueRangeError: there are none, or they are of several tasks or rules.
    """
    kinds = {(each.task, each.rule) for each in outcomes}
    if len(kinds) != 1:
        found = ', '.join(f'{task} by {rule}' for task, rule in sorted(kinds))
        raise ValueRangeError(
            f'the outcomes are of {found or "no episode"}; they must be of one task and one rule'
        )
    ((task, rule),) = kinds
    judged = [each.reached for each in outcomes if not each.problem]
    rates, former = [], ''
    for step in TASKS[task].steps:
        was_before = [not former or each[former] for each in judged]
        here = [each[step] for each in judged]
        carried = sum(a and b for a, b in zip(was_before, here, strict=True))
        rate, interval = _rate(sum(here), len(judged), confidence)
        transfer, bounds = _rate(carried, sum(was_before), confidence)
        rates.append(
            StepRate(
                step, len(judged), sum(here), rate, interval, sum(was_before), carried, transfer,
                bounds, sum(here) - carried,
            )
        )  # fmt: skip
        former = step
    invalid = tuple(each.problem for each in outcomes if each.problem)
    return TransferRates(task, rule, tuple(rates), invalid)


def _rate(count: int, trials: int, confidence: float) -> tuple[float, Interval]:
    if not trials:
        return float('nan'), _NOTHING
    return count / trials, wilson_interval(count, trials, confidence)
