# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Exact error rates, power and mean number of pairs of a table of decisions.

A study is a walk over (n, m, w): n pairs, m of them discordant (one policy succeeded, the other
failed), w of those won by the first policy. Its probabilities follow by recursion over n.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ValueRangeError
from frame_ros.evaluation.sequential.decision import CODES, Decision

CONTINUE, BETTER, WORSE, NO_DIFFERENCE = range(len(CODES))
# Grid of discordances on which the error rate is computed, even in arcsin(sqrt(q)).
GRID = 2001
Floats = NDArray[np.float64]
# Per n from 0 to N: (n + 1, n + 1) codes of decisions at (m, w); w > m cannot be.
Table = Sequence[NDArray[np.int8]]


@dataclass(frozen=True)
class Characteristics:
    """Behaviour of a test for given probabilities of a win and a loss of the first policy.

    Attributes:
        better: probability of this final decision.
        worse: the same.
        no_difference: the same; the sum of the three is 1.
        mean_pairs: mean number of pairs at the decision.
    """

    better: float
    worse: float
    no_difference: float
    mean_pairs: float


def characteristics(table: Table, win: float, loss: float) -> Characteristics:
    """Returns the exact characteristics of a test.

    Args:
        win: probability that the first policy succeeds in a pair and the second fails.
        loss: probability of the contrary.

    Raises:
        ValueRangeError: the two are no probabilities of disjoint events.
    """
    if not (win >= 0 and loss >= 0 and win + loss <= 1 + 1e-12):
        raise ValueRangeError(
            f'win = {win}, loss = {loss}; two probabilities with a sum of at most 1 are expected'
        )
    going: Floats = np.ones((1, 1))
    stopped, mean = np.zeros(len(CODES)), 0.0
    for n, codes in enumerate(table):
        at = np.bincount(codes.ravel(), going.ravel(), len(CODES))
        stopped[1:] += at[1:]
        mean += n * at[1:].sum()
        going = _next(np.where(codes == CONTINUE, going, 0.0), win, loss, max(1 - win - loss, 0.0))
    better, worse, none = map(float, stopped[1:])
    return Characteristics(better, worse, none, float(mean))


def independent(first: float, second: float) -> tuple[float, float]:
    """Returns (win, loss) of policies with these success rates, independent within a pair."""
    return first * (1 - second), second * (1 - first)


def type_one_error(table: Table) -> tuple[float, float]:
    """Returns the largest probability, over all nulls, of claiming a difference, and the
    discordance at which it is reached.

    Where neither policy is better, wins and losses of a pair have one probability, q/2 each,
    whatever the success rates and the correlation within pairs are: q in [0, 1] is all nulls.
    """
    rates = claim_rates(table, discordances())
    place = int(np.argmax(rates))
    return float(rates[place]), float(discordances()[place])


def claim_rates(table: Table, discordance: Floats) -> Floats:
    """Returns the exact probability of claiming any difference under the null.

    discordance: (...,) probability that the outcomes of a pair differ.
    """
    weights = _claims(table)
    if discordance is discordances():
        return _powers(len(weights) - 1) @ weights
    return _power_terms(len(weights) - 1, np.asarray(discordance, float)) @ weights


@lru_cache(maxsize=1)
def discordances() -> Floats:
    """Returns the grid of discordances, from 0 to 1. Between its points a probability of 0.05 of
    an event in 200 pairs is higher by less than 3e-5 (by the bound of its second derivative).
    """
    return np.asarray(np.sin(np.linspace(0, np.pi / 2, GRID)) ** 2)


def _claims(table: Table) -> Floats:
    """Returns, per number of discordant pairs among N, the number of sequences of concordant and
    discordant pairs times the share of their signs that lead to a claim.
    """
    going: Floats = np.ones((1, 1))
    claimed: Floats = np.zeros(1)
    for n, codes in enumerate(table):
        claimed = claimed + np.where((codes == BETTER) | (codes == WORSE), going, 0.0).sum(axis=1)
        if n < len(table) - 1:
            claimed = np.append(claimed, 0.0) + np.append(0.0, claimed)
            going = _next(np.where(codes == CONTINUE, going, 0.0), 0.5, 0.5, 1.0)
    return claimed


def _next(going: Floats, win: float, loss: float, equal: float) -> Floats:
    made = np.zeros((len(going) + 1, len(going) + 1))
    made[:-1, :-1] = going * equal
    made[1:, 1:] += going * win
    made[1:, :-1] += going * loss
    return made


@lru_cache(maxsize=4)
def _powers(pairs: int) -> Floats:
    return _power_terms(pairs, discordances())


def _power_terms(pairs: int, discordance: Floats) -> Floats:
    """Returns (..., N + 1): q^k (1 - q)^(N - k)."""
    places = np.arange(pairs + 1)
    q = discordance[..., np.newaxis]
    return np.asarray(q**places * (1 - q) ** (pairs - places))


def decision_at(table: Table, pairs: int, wins: int, losses: int) -> Decision:
    """Returns the decision after so many pairs."""
    return CODES[table[pairs][wins + losses, wins]]
