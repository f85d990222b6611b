# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Stages of a task, such as grasped, lifted, placed, of two policies: a test of each, with Holm's
adjustment, and of the furthest one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.plain_text import counted
from frame_ros.evaluation.binary.needed import Aim
from frame_ros.evaluation.binary.partial_credit import (
    RESAMPLES,
    PartialCredit,
    paired_credit,
    unpaired_credit,
)
from frame_ros.evaluation.binary.successes import (
    PairedSuccesses,
    UnpairedSuccesses,
    paired_successes,
    unpaired_successes,
)
from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome
from frame_ros.evaluation.statistics.several_tests import holm

Whole = NDArray[np.int64]
Strata = dict[tuple[str, str], tuple[list[int], list[int]]]


@dataclass(frozen=True)
class StageRow:
    """One stage of two policies: the share of episodes that reach it, and all before it.

    Attributes:
        paired: None if there is no pair with known stages.
        p: of the paired comparison, if half of the episodes of the policy that has fewer are in
            pairs, else of the unpaired one.
        p_holm: adjusted for all stages.
    """

    stage: str
    paired: PairedSuccesses | None
    unpaired: UnpairedSuccesses
    p: float
    p_holm: float


@dataclass(frozen=True)
class StageComparison:
    """Stages of two policies.

    Attributes:
        stages: those that all episodes with stages have, in their order.
        rows: one per stage.
        paired: of the furthest stage in pairs; None if there is no pair with known stages.
        unpaired: of the furthest stage in all episodes on common objects.
        remarks: stages and episodes that do not count, in words.
    """

    stages: tuple[str, ...]
    rows: tuple[StageRow, ...]
    paired: PartialCredit | None
    unpaired: PartialCredit
    remarks: tuple[str, ...]


def common_stages(outcomes: Iterable[EpisodeOutcome]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the stages that all episodes with stages have, in the order of the first one, and
    those that some lack. None are common if two episodes have them in another order.
    """
    lists = [tuple(each.stages) for each in outcomes if each.stages]
    if not lists:
        return (), ()
    every = dict.fromkeys(stage for names in lists for stage in names)
    common = tuple(stage for stage in lists[0] if all(stage in names for names in lists))
    if any(tuple(stage for stage in names if stage in common) != common for names in lists):
        return (), tuple(every)
    return common, tuple(stage for stage in every if stage not in common)


def stage_number(outcome: EpisodeOutcome, stages: Sequence[str]) -> int | None:
    """Returns how many of these stages an episode reached, all before each of them included; None
    if its stages are not known.
    """
    furthest = outcome.furthest_stage
    if furthest is None:
        return None
    return len(set(list(outcome.stages)[:furthest]) & set(stages))


def compare_stages(
    first: Sequence[EpisodeOutcome],
    second: Sequence[EpisodeOutcome],
    pairs: Iterable[tuple[int, int]],
    aim: Aim | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> StageComparison | None:
    """Compares the stages that two policies reach.

    Args:
        first, second: their episodes; those without stages do not count.
        pairs: places of paired episodes in both.
        aim: the margin, power and level.
        resamples, seed: of the intervals of mean partial credit.

    Returns:
        None if no two episodes of both policies have a stage in common.
    """
    aim = aim or Aim()
    stages, lacking = common_stages([*first, *second])
    a, b = ([stage_number(each, stages) for each in rows] for rows in (first, second))
    known = [(i, j) for i, j in pairs if a[i] is not None and b[j] is not None]
    left, right = (
        np.array([numbers[pair[side]] for pair in known], np.int64)
        for side, numbers in enumerate((a, b))
    )
    strata = _strata(first, second, a, b)
    if not stages or not strata:
        return None
    rows = [_row(n, stage, left, right, strata, aim) for n, stage in enumerate(stages)]
    adjusted = holm([row.p for row in rows]).tolist()
    arrays = {key: (np.array(x), np.array(y)) for key, (x, y) in strata.items()}
    return StageComparison(
        stages,
        tuple(
            StageRow(row.stage, row.paired, row.unpaired, row.p, p)
            for row, p in zip(rows, adjusted)
        ),
        paired_credit(left, right, len(stages), aim, resamples, seed) if known else None,
        unpaired_credit(arrays, len(stages), aim, resamples, seed),
        tuple(_remarks(lacking, [*first, *second], [*a, *b], stages)),
    )


def _row(number: int, stage: str, left: Whole, right: Whole, strata: Strata, aim: Aim) -> StageRow:
    reached = {
        key: ([x > number for x in a], [y > number for y in b]) for key, (a, b) in strata.items()
    }
    unpaired = unpaired_successes(reached, aim.confidence)
    if not len(left):
        return StageRow(stage, None, unpaired, unpaired.p, unpaired.p)
    paired = paired_successes(left > number, right > number, aim.confidence)
    is_paired = 2 * len(left) >= min(unpaired.trials_a, unpaired.trials_b)
    p = paired.p if is_paired else unpaired.p
    return StageRow(stage, paired, unpaired, p, p)


def _strata(
    first: Sequence[EpisodeOutcome],
    second: Sequence[EpisodeOutcome],
    a: Sequence[int | None],
    b: Sequence[int | None],
) -> Strata:
    """Numbers of stages by task and object, of those that both policies have."""
    found: Strata = {}
    for side, (outcomes, numbers) in enumerate(((first, a), (second, b))):
        for outcome, number in zip(outcomes, numbers):
            if number is not None:
                found.setdefault((outcome.task, outcome.object), ([], []))[side].append(number)
    return {key: (x, y) for key, (x, y) in found.items() if x and y}


def _remarks(
    lacking: Sequence[str],
    outcomes: Sequence[EpisodeOutcome],
    numbers: Sequence[int | None],
    stages: Sequence[str],
) -> list[str]:
    found = []
    if lacking:
        found.append(f'stages that some episodes lack do not count: {", ".join(lacking)}')
    if unknown := sum(number is None for number in numbers):
        found.append(f'{unknown} of {len(outcomes)} episodes have no stages and do not count')
    failed = sum(
        number == len(stages) and outcome.is_success is False
        for outcome, number in zip(outcomes, numbers)
    )
    if failed:
        found.append(
            f'{counted(failed, "episode")} reached the last stage, as failures all the same'
        )
    return found
