# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rollouts that would still resolve the pairs in which no test finds a difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from frame_ros.evaluation.planning.rollouts_needed import (
    RolloutsNeeded,
    episodes_needed,
    pairs_needed,
)
from frame_ros.evaluation.policy_comparison.judgements import TIMES
from frame_ros.evaluation.policy_comparison.options import ComparisonOptions
from frame_ros.evaluation.policy_comparison.resampled import ResampledCells
from frame_ros.evaluation.policy_comparison.study import PairRow
from frame_ros.evaluation.statistics.verdict import Verdict

UNRESOLVED = (Verdict.UNDERPOWERED, Verdict.INDISTINGUISHABLE)
# Of each object, by which a number is known to a few percent.
SIMULATIONS = 1000


def with_further_rollouts(
    pairs: Sequence[PairRow], cells: ResampledCells, options: ComparisonOptions
) -> list[PairRow]:
    """Returns the pairs, those that are unresolved with the rollouts that are needed still, at the
    level that Bonferroni leaves to each pair. PhAIL, appendix H.
    """
    level = options.alpha / max(1, sum(bool(pair.decided_by) for pair in pairs))
    return [
        replace(pair, more=_needed(pair, cells, options, level))
        if pair.judgement.verdict in UNRESOLVED
        else pair
        for pair in pairs
    ]


def _needed(
    pair: PairRow, cells: ResampledCells, options: ComparisonOptions, level: float
) -> RolloutsNeeded | None:
    """Returns them; None where the test is of unpaired successes."""
    if pair.decided_by == TIMES and pair.times is not None:
        first, second = (
            {test.object: cells[policy][test.object].cell for test in pair.times.objects}
            for policy in (pair.first, pair.second)
        )
        return episodes_needed(
            first,
            second,
            None,
            options.tau,
            options.power,
            level,
            options.resamples,
            SIMULATIONS,
            options.seed,
            pair.times.p,
        )
    result = pair.successes.result if pair.successes else None
    if result is None or not result.is_paired or result.paired is None:
        return None
    objects = len(result.unpaired.strata) if result.unpaired else 1
    return pairs_needed(result.paired.counts, objects, options.power, level)
