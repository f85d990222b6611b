# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Results of the tests of successes, paired and unpaired, of counted outcomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.evaluation.binary.paired import PairCounts, mcnemar_p, pair_counts, tango_ends
from frame_ros.evaluation.binary.strata import (
    Stratum,
    is_balanced,
    stratified_difference,
    stratified_interval,
)
from frame_ros.evaluation.binary.unpaired import boschloo, newcombe_interval
from frame_ros.evaluation.statistics.permutation import permutation_p

Outcomes = NDArray[np.bool_]
MCNEMAR = 'McNemar, exact'
BOSCHLOO = 'Boschloo'
STRATIFIED = 'exact, stratified by object'


@dataclass(frozen=True)
class PairedSuccesses:
    """Two policies in pairs of episodes.

    Attributes:
        difference: success rate of the first minus that of the second, over the pairs.
        lower, upper: Tango's interval of it.
        p: McNemar's exact test.
    """

    counts: PairCounts
    difference: float
    lower: float
    upper: float
    p: float

    @property
    def test(self) -> str:
        """Name of the test."""
        return MCNEMAR


@dataclass(frozen=True)
class UnpairedSuccesses:
    """Two policies in all their episodes on common objects.

    Attributes:
        strata: (task, object) -> counts of both.
        successes_a, trials_a, successes_b, trials_b: over the objects.
        is_stratified: whether the policies have unequal shares of the objects; then difference,
            interval and p are of the comparison within objects, else of all episodes together.
        difference: success rate of the first minus that of the second.
        lower, upper: Newcombe's interval of it.
        p: Boschloo's test, or the exact one within objects.
        p_boschloo: Boschloo's test of all episodes together.
    """

    strata: Mapping[tuple[str, str], Stratum]
    successes_a: int
    trials_a: int
    successes_b: int
    trials_b: int
    is_stratified: bool
    difference: float
    lower: float
    upper: float
    p: float
    p_boschloo: float

    @property
    def test(self) -> str:
        """Name of the test."""
        return STRATIFIED if self.is_stratified else BOSCHLOO


def paired_successes(a: Outcomes, b: Outcomes, confidence: float = 0.95) -> PairedSuccesses:
    """Returns the comparison of (n,) paired outcomes, at least one."""
    counts = pair_counts(a, b)
    only_a, only_b = counts.only_a, counts.only_b
    lower, upper = tango_ends(only_a, only_b, counts.pairs, confidence)
    return PairedSuccesses(counts, counts.difference, lower, upper, mcnemar_p(only_a, only_b))


def unpaired_successes(
    strata: Mapping[tuple[str, str], tuple[Sequence[bool], Sequence[bool]]],
    confidence: float = 0.95,
) -> UnpairedSuccesses:
    """Returns the comparison of outcomes by (task, object); both policies have some of each."""
    counted = {
        key: Stratum(int(sum(a)), len(a), int(sum(b)), len(b)) for key, (a, b) in strata.items()
    }
    rows = list(counted.values())
    total = Stratum(*(sum(column) for column in zip(*rows, strict=True)))
    p_boschloo = boschloo(*total)
    if is_balanced(rows):
        difference = total.successes_a / total.trials_a - total.successes_b / total.trials_b
        lower, upper = newcombe_interval(*total, confidence)
        p = p_boschloo
    else:
        difference = stratified_difference(rows)
        lower, upper = stratified_interval(rows, confidence)
        p = permutation_p(strata.values())
    return UnpairedSuccesses(
        counted, *total, not is_balanced(rows), difference, lower, upper, p, p_boschloo
    )
