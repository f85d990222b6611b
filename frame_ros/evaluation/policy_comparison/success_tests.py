# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of the successes and stages of two policies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from frame_ros.evaluation.binary.comparison import compare_successes
from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome
from frame_ros.evaluation.policy_comparison.estimates import EpisodeSets
from frame_ros.evaluation.policy_comparison.facts import TASK
from frame_ros.evaluation.policy_comparison.groups import Grouped
from frame_ros.evaluation.policy_comparison.judgements import aim_of
from frame_ros.evaluation.policy_comparison.options import ComparisonOptions
from frame_ros.evaluation.policy_comparison.study import SuccessTest


def success_test(
    first: Sequence[int],
    second: Sequence[int],
    data: Grouped,
    options: ComparisonOptions,
    sets: EpisodeSets,
) -> SuccessTest:
    """Returns the tests of the successes and stages of two policies.

    first, second: places of their episodes on the objects that both have.
    """
    rows = [[_as_compared(data.episodes[p], options) for p in own] for own in (first, second)]
    result = compare_successes(
        rows[0], rows[1], aim_of(options), max(options.resamples, 1), options.seed
    )
    names = f'{result.first} and {result.second}'
    pairs = [(first[i], second[j]) for i, j in result.pairing.pairs]
    judged = [p for p in (*first, *second) if data.episodes[p].is_success is not None]
    return SuccessTest(
        result,
        sets.number(f'{names}, in pairs', [place for pair in pairs for place in pair]),
        sets.number(f'{names}, judged', judged),
    )


def _as_compared(episode: EpisodeOutcome, options: ComparisonOptions) -> EpisodeOutcome:
    """Returns an episode without its task, where tasks may differ, so that it can be paired."""
    return replace(episode, task='') if TASK in options.may_differ else episode
