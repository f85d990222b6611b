# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Successes of two policies on several objects, in unequal numbers, without pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from frame_ros.core.errors import ShapeError
from frame_ros.evaluation.binary.unpaired import check_counts, newcombe_interval


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
    """Newcombe's interval of the stratified difference: of the weighted mean of each policy's
    rates, as if of so many trials in one object as give it the same variance where all objects have
    one rate, 1 / sum(w^2 / n). With different rates it is wider than it must be, as it is where all
    episodes are taken together. Of one object, and of objects in the same shares, it is Newcombe's.

    Adding the squares of the objects' own Wilson intervals (Zou and Donner 2008) is narrower, and
    too narrow with few episodes of an object: each is drawn towards 1/2, and they add up.

    Raises:
        ShapeError: no object with trials of both policies.
        ValueRangeError: more successes than trials, or confidence outside (0, 1).
    """
    known = _known(strata)
    total = sum(each.weight for each in known)
    shares = [each.weight / total for each in known]
    successes_a, trials_a, successes_b, trials_b = zip(*known, strict=True)
    of_a = as_one_object(successes_a, trials_a, shares)
    of_b = as_one_object(successes_b, trials_b, shares)
    return newcombe_interval(*of_a, *of_b, confidence=confidence)


def as_one_object(
    successes: Sequence[int], trials: Sequence[int], shares: Sequence[float]
) -> tuple[float, float]:
    """Returns successes and trials of one object that has the mean of the objects' rates, and the
    variance of it where all objects have one rate: trials are 1 / sum(share^2 / n).

    shares: weights of the objects, which add up to 1.
    """
    counts = list(zip(successes, trials, shares, strict=True))
    rate = sum(share * k / n for k, n, share in counts)
    size = max(1.0, 1.0 / sum(share * share / n for _, n, share in counts))
    return min(rate, 1.0) * size, size


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
