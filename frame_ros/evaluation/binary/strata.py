# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Successes of two policies on several objects, in unequal numbers, without pairs."""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt
from typing import NamedTuple

from frame_ros.core.errors import ShapeError
from frame_ros.evaluation.binary.unpaired import check_counts
from frame_ros.metrics import wilson_interval


class Stratum(NamedTuple):
    """Successes of two policies on one object of one task."""

    successes_a: int
    trials_a: int
    successes_b: int
    trials_b: int

    @property
    def weight(self) -> float:
        """Mantel and Haenszel's: n m / (n + m); 0 if a policy has no trial."""
        total = self.trials_a + self.trials_b
        return self.trials_a * self.trials_b / total if total else 0.0


def stratified_difference(strata: Iterable[Stratum]) -> float:
    """Returns the mean of the objects' differences of success rates, a minus b, weighted by
    n m / (n + m). Mantel and Haenszel 1959.

    Raises:
        ShapeError: no object with trials of both policies.
        ValueRangeError: more successes than trials.
    """
    known = _known(strata)
    total = sum(each.weight for each in known)
    return sum(each.weight * _rates(each) for each in known) / total


def stratified_interval(strata: Iterable[Stratum], confidence: float = 0.95) -> tuple[float, float]:
    """Newcombe's interval of the stratified difference: distances to the ends of the Wilson
    intervals, times the weights, added as squares over policies and objects. Zou and Donner 2008,
    equations 1 and 2. Of one object it is Newcombe's.

    Raises:
        ShapeError: no object with trials of both policies.
        ValueRangeError: more successes than trials, or confidence outside (0, 1).
    """
    known = _known(strata)
    total = sum(each.weight for each in known)
    below = above = 0.0
    for each in known:
        low_a, high_a = wilson_interval(each.successes_a, each.trials_a, confidence)
        low_b, high_b = wilson_interval(each.successes_b, each.trials_b, confidence)
        a, b = each.successes_a / each.trials_a, each.successes_b / each.trials_b
        square = (each.weight / total) ** 2
        below += square * ((a - low_a) ** 2 + (high_b - b) ** 2)
        above += square * ((high_a - a) ** 2 + (b - low_b) ** 2)
    centre = stratified_difference(known)
    return max(-1.0, centre - sqrt(below)), min(1.0, centre + sqrt(above))


def is_balanced(strata: Iterable[Stratum]) -> bool:
    """Returns whether both policies have the same shares of the objects: then their difference is
    not one of the objects.
    """
    known = list(strata)
    total_a = sum(each.trials_a for each in known)
    total_b = sum(each.trials_b for each in known)
    return all(each.trials_a * total_b == each.trials_b * total_a for each in known)


def _rates(stratum: Stratum) -> float:
    return stratum.successes_a / stratum.trials_a - stratum.successes_b / stratum.trials_b


def _known(strata: Iterable[Stratum]) -> list[Stratum]:
    found = [each for each in strata if each.weight > 0.0]
    if not found:
        raise ShapeError('no object has trials of both policies; at least one is expected')
    for each in found:
        check_counts(each.successes_a, each.trials_a)
        check_counts(each.successes_b, each.trials_b)
    return found
