# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The results of a comparison of policies, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.meanings import MeaningEnum
from frame_ros.evaluation.binary.comparison import SuccessComparison
from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome
from frame_ros.evaluation.outcomes.outcome_set import LeftOut
from frame_ros.evaluation.planning.rollouts_needed import RolloutsNeeded
from frame_ros.evaluation.policy_comparison.estimates import EpisodeSet, Estimate
from frame_ros.evaluation.policy_comparison.facts import Difference
from frame_ros.evaluation.policy_comparison.options import ComparisonOptions
from frame_ros.evaluation.policy_comparison.scores import Score
from frame_ros.evaluation.statistics.verdict import Judgement
from frame_ros.evaluation.survival.cell import Cell

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """A time-to-success CDF with its pointwise band.

    Attributes:
        times: (G,) s.
        cdf, lower, upper: (G,).
    """

    times: Array
    cdf: Array
    lower: Array
    upper: Array


@dataclass(frozen=True)
class CellRow:
    """A policy on an object, or the mean over its objects.

    Attributes:
        policy: or the human reference.
        object: '' for the mean over objects with equal weights.
        operations: of the episodes with times.
        scores: id -> estimate, of all scores of the study.
        endings: ending -> number of operations.
        episodes: number of the set.
        missing: objects of the study without episodes, in a mean.
        cell: operations; None in a mean, or without times.
        curve: of the cell; of a mean that of the curves.
    """

    policy: str
    object: str
    operations: int
    scores: Mapping[str, Estimate]
    endings: Mapping[str, int]
    episodes: int
    missing: tuple[str, ...] = ()
    cell: Cell | None = None
    curve: Curve | None = None


@dataclass(frozen=True)
class FailureRow:
    """Failures of a policy by their kind. PhAIL, appendix F.

    Attributes:
        shares: kind -> share of operations or episodes.
    """

    policy: str
    shares: Mapping[str, Estimate]


@dataclass(frozen=True)
class ConditionRow:
    """A policy under one value of a condition. PhAIL, appendix G.

    Attributes:
        result: completion by tau, else success, mean over objects.
    """

    condition: str
    value: str
    policy: str
    score: str
    result: Estimate


@dataclass(frozen=True)
class LabelRow:
    """A policy by one source of labels. PhAIL, appendix E.

    Attributes:
        source: 'all', or the value of a `LabelSource`.
        rank: by the score, from 1; 0 without a value.
    """

    source: str
    policy: str
    score: str
    result: Estimate
    rank: int


@dataclass(frozen=True)
class Ranking:
    """Policies by one score. PhAIL, section 5.3.

    Attributes:
        score: its id.
        policies: the best first, those without a value left out.
    """

    score: str
    policies: tuple[str, ...]


class Relation(MeaningEnum):
    """Relations of two time-to-success CDFs, mean over objects."""

    FIRST_ABOVE = 'first_above', 'the first is at or above the second at all times'
    SECOND_ABOVE = 'second_above', 'the second is at or above the first at all times'
    CROSSING = 'crossing', 'each is above the other at some time'
    EQUAL = 'equal', 'they are the same'


@dataclass(frozen=True)
class ObjectTest:
    """The KS test on one object.

    Attributes:
        distance, time: sup |F_a - F_b|, and where it is, s.
        sign: 1 if the first is above there.
    """

    object: str
    distance: float
    time: float
    sign: int
    p: float
    episodes: int


@dataclass(frozen=True)
class TimesTest:
    """Times of two policies. PhAIL, section 3.3.

    Attributes:
        objects: those compared.
        distance: macro KS; p: by permutation of the episodes;
            p_bonferroni, p_holm: adjusted for the pairs.
        logrank_stratified, logrank_pooled: p-values.
        rmst_difference: of the first minus the second, s, mean over objects.
        differences: score -> advantage of the first, positive: better; with intervals.
        relation: of the CDFs; crossing_time: s at which they cross first; NaN without.
        clear_first, clear_second: whether the interval of the difference of the CDFs is above, or
            below, 0 at some time.
    """

    objects: tuple[ObjectTest, ...]
    distance: float
    p: float
    logrank_stratified: float
    logrank_pooled: float
    rmst_difference: Estimate
    differences: Mapping[str, Estimate]
    relation: Relation
    crossing_time: float
    clear_first: bool
    clear_second: bool
    p_bonferroni: float = float('nan')
    p_holm: float = float('nan')


@dataclass(frozen=True)
class SuccessTest:
    """Successes and stages of two policies.

    Attributes:
        result: with stages; its interval of differences is of the first minus the second.
        p_bonferroni, p_holm: of its primary test, adjusted for the pairs.
        paired, all: numbers of the sets of episodes in pairs, and of all.
    """

    result: SuccessComparison
    paired: int
    all: int
    p_bonferroni: float = float('nan')
    p_holm: float = float('nan')


@dataclass(frozen=True)
class PairRow:
    """Two policies.

    Attributes:
        facts: in which they differ; those that are not partial forbid the comparison, unless they
            are in `may_differ`.
        decided_by: name of the test that the judgement rests on; '' without.
        judgement: on the first compared with the second.
        more: rollouts that are needed still at the difference observed; None if it is resolved, or
            not known.
        episodes: number of the set.
    """

    first: str
    second: str
    facts: tuple[Difference, ...]
    times: TimesTest | None
    successes: SuccessTest | None
    decided_by: str
    judgement: Judgement
    episodes: int
    more: RolloutsNeeded | None = None


@dataclass(frozen=True)
class Rule:
    """A rule that was applied.

    Attributes:
        text: the rule.
        applied_to: what it was applied to, in words.
        episodes: number of the set; None if there is none of the study.
    """

    text: str
    applied_to: str
    episodes: int | None = None


@dataclass(frozen=True)
class Study:
    """A comparison of policies.

    Attributes:
        policies: without the human reference, by name; human: its label, '' without.
        headline_score: id of the score that policies are ranked by.
        scores: of every row.
        cells, means: per policy and object, and over objects; the human's last.
        pairs: of policies; the first of each has the better headline score.
        letters: policy -> compact letters.
        best: policies that cannot be distinguished from the best, the best first.
        verdict: (candidate, baseline, judgement on the candidate); None if no pair was asked for.
        left_out: what was read and does not count.
        sets: episodes that numbers come from.
    """

    options: ComparisonOptions
    episodes: tuple[EpisodeOutcome, ...]
    policies: tuple[str, ...]
    human: str
    objects: tuple[str, ...]
    headline_score: str
    scores: tuple[Score, ...]
    cells: tuple[CellRow, ...]
    means: tuple[CellRow, ...]
    failures: tuple[FailureRow, ...]
    conditions: tuple[ConditionRow, ...]
    labels: tuple[LabelRow, ...]
    rankings: tuple[Ranking, ...]
    pairs: tuple[PairRow, ...]
    letters: Mapping[str, str]
    best: tuple[str, ...]
    verdict: tuple[str, str, Judgement] | None
    rules: tuple[Rule, ...]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]
    sets: tuple[EpisodeSet, ...]
    remarks: tuple[str, ...] = field(default=())
