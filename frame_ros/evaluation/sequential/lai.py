# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Nearly optimal stopping for a planned maximum of pairs, by backward induction.

Lai (1988), Nearly optimal sequential tests of composite hypotheses, Annals of Statistics 16,
856-886: the test that minimises a Bayes risk, costs of pairs and of wrong decisions, for effects of
several sizes at once. Here the risk is minimised exactly over the states (n, m, w) of
`operating_characteristics`, rather than by his approximation of the boundary.

An effect is a drift (wins - losses) / sqrt(pairs * discordance). In this scale the boundaries are
alike for all discordances q, so that one prior over q gives nearly one error rate for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from frame_ros.evaluation.sequential.operating_characteristics import (
    BETTER,
    CONTINUE,
    NO_DIFFERENCE,
    WORSE,
    Table,
)

Floats = NDArray[np.float64]
# Support of the prior over the discordance, with equal weights, and the weight of the null in each,
# which spends the error rate where policies that succeed in half of the pairs are.
DISCORDANCES = np.array([0.01, 0.07, 0.18, 0.32, 0.46, 0.62, 0.8, 0.95])
NULL_WEIGHTS = np.array([4.0, 2.2, 1.5, 1.1, 0.85, 1.1, 1.2, 1.2])
# Cost of a pair in each: a series of pairs with equal outcomes alone must not end a study soon.
PAIR_COSTS = np.array([0.1, 0.3, 0.7, 1.0, 1.0, 1.0, 1.0, 1.0])
# Effects: drift times sqrt(N), cost of all N pairs in units of a missed effect. For N = 200 they
# are success rates of 0.60 against 0.75, and against 0.90.
EFFECTS = ((3.16, 0.4), (6.55, 1.2))
# Largest |2 p - 1| of a discordant pair's sign.
LARGEST = 0.94
NEVER = 1e100


@dataclass(frozen=True)
class _Layer:
    """Parts of the risk after n pairs, in units of the null's likelihood; (n + 1, n + 1) at
    (m, w) unless stated.

    Attributes:
        cost: of another pair.
        missed_better, missed_worse: of deciding otherwise though the first is better, or worse.
        null: (n + 1, 1) weight of the null.
        discordance: (n + 1, 1) probability that the next pair is discordant.
    """

    cost: Floats
    missed_better: Floats
    missed_worse: Floats
    null: Floats
    discordance: Floats


def lai_table(most: int, is_two_sided: bool, log_penalty: float) -> Table:
    """Returns the decisions that minimise the risk; one-sided: only better can be claimed.

    log_penalty: log of the cost of a wrong claim, in units of a missed effect.
    """
    layers = _layers(most, is_two_sided)
    table: list[NDArray[np.int8]] = []
    risk: Floats = np.zeros(0)
    for layer in reversed(layers):
        claim = np.exp(log_penalty) * layer.null
        better = claim + layer.missed_worse
        worse = claim + layer.missed_better if is_two_sided else np.full_like(better, NEVER)
        stop = np.minimum(np.minimum(better, worse), layer.missed_better + layer.missed_worse)
        codes = np.where(
            stop == better, BETTER, np.where(stop == worse, WORSE, NO_DIFFERENCE)
        ).astype(np.int8)
        if table:
            codes, stop = _continued(layer, risk, codes, stop)
        table.append(codes)
        risk = stop
    return table[::-1]


def _continued(
    layer: _Layer, risk: Floats, codes: NDArray[np.int8], stop: Floats
) -> tuple[NDArray[np.int8], Floats]:
    """Returns decisions and risk where another pair is possible; risk: after that pair."""
    discordant = 0.5 * (risk[1:, 1:] + risk[1:, :-1])
    equal = risk[:-1, :-1]
    going = layer.cost + equal + layer.discordance * (discordant - equal)
    goes_on = going < stop
    return np.where(goes_on, np.int8(CONTINUE), codes), np.where(goes_on, going, stop)


@lru_cache(maxsize=2)
def _layers(most: int, is_two_sided: bool) -> list[_Layer]:
    better, cost = _likelihoods(most)
    return [_layer(n, better, cost, is_two_sided) for n in range(most + 1)]


def _layer(n: int, better: Floats, cost: Floats, is_two_sided: bool) -> _Layer:
    m = np.arange(n + 1)
    logs = m * np.log(DISCORDANCES)[:, None] + (n - m) * np.log(1 - DISCORDANCES)[:, None]
    posterior = np.exp(logs - logs.max(axis=0))
    posterior /= posterior.sum(axis=0)
    size = slice(0, n + 1)
    missed = np.einsum('km,kmw->mw', posterior, better[:, size, size])
    paid = np.einsum('km,kmw->mw', posterior, cost[:, size, size])
    other = np.zeros_like(missed)
    if is_two_sided:
        other, paid = _mirrored(missed), paid + _mirrored(paid)
    return _Layer(
        paid,
        missed,
        other,
        (NULL_WEIGHTS @ posterior)[:, np.newaxis],
        (DISCORDANCES @ posterior)[:, np.newaxis],
    )


def _mirrored(values: Floats) -> Floats:
    """Returns values at (m, m - w); 0 where w > m."""
    m, w = np.ogrid[: len(values), : len(values)]
    return np.where(w <= m, values[m, np.maximum(m - w, 0)], 0.0)


def _likelihoods(most: int) -> tuple[Floats, Floats]:
    """Returns, per discordance, the likelihood ratio of 'the first is better' against the null at
    (m, w), and the same weighted with the cost of a pair: (8, N + 1, N + 1) each.
    """
    m, w = np.ogrid[: most + 1, : most + 1]
    losses = np.maximum(m - w, 0)
    better = np.zeros((len(DISCORDANCES), most + 1, most + 1))
    cost = np.zeros_like(better)
    for place, q in enumerate(DISCORDANCES):
        for drift, price in EFFECTS:
            sign = min(drift / np.sqrt(most * q), LARGEST)
            ratio = np.exp(w * np.log1p(sign) + losses * np.log1p(-sign))
            better[place] += ratio
            cost[place] += ratio * price * PAIR_COSTS[place] / most
    possible = w <= m
    return better * possible, cost * possible
