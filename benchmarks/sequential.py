#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Sequential tests of two policies in simulated paired studies: wrong verdicts, power, pairs.

Success rates 0.60 against 0.75, and 0.60 against 0.90, of policies that are independent within a
pair, at most 200 pairs, alpha 0.05. The exact figure, by recursion, stands next to each simulated
one; the wrong verdicts are also those of the worst null of all. Further rows: pairs
whose outcomes hang together, as they do in the same scene, and equal rates from 0.05 to 0.95.

No test of two sides at 0.05 can meet the bars on power and pairs together: by the inequality of
Wald and Wolfowitz, a power of 0.9 needs a mean of 116 pairs even without a maximum. The
benchmark prints this bound, and judges the test of one side, which is stated before the study.

    python benchmarks/sequential.py [--studies 2000] [--seed 1]
"""

import argparse
import sys
from math import log, sqrt

import numpy as np
from bars import Bars, parse
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from frame_ros.evaluation.sequential.betting import log_evidence
from frame_ros.evaluation.sequential.boundaries import boundaries
from frame_ros.evaluation.sequential.operating_characteristics import (
    BETTER,
    CONTINUE,
    NO_DIFFERENCE,
    WORSE,
    Table,
    characteristics,
    independent,
    type_one_error,
)

MOST, ALPHA, POWER = 200, 0.05, 0.9
MEAN_PAIRS, MEAN_PAIRS_FAR = 105, 32
RATES = {'0.75': (0.75, 0.60), '0.90': (0.90, 0.60)}
CORRELATIONS = (0.2, 0.4)
NULLS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
METHODS = ('lai', 'barnard', 'betting')
Outcomes = NDArray[np.bool_]


def table_of(method: str, side: str) -> Table:
    """The decisions of a method, betting ended at the same maximum."""
    if method != 'betting':
        return boundaries(method, MOST, ALPHA, side == 'both').table
    m, w = np.ogrid[: MOST + 1, : MOST + 1]
    is_claim = log_evidence(w + 0 * m, np.maximum(m - w, 0), side) >= -log(ALPHA)
    codes = np.where(is_claim, np.where(2 * w > m, BETTER, WORSE), CONTINUE).astype(np.int8)
    codes[w + 0 * m > m] = CONTINUE
    last = np.where(codes == CONTINUE, NO_DIFFERENCE, codes).astype(np.int8)
    return [*(codes[: n + 1, : n + 1] for n in range(MOST)), last]


def probabilities(first: float, second: float, correlation: float = 0.0) -> tuple[float, float]:
    """Probabilities that only the first, and only the second policy succeeds."""
    together = first * second + correlation * sqrt(first * (1 - first) * second * (1 - second))
    return first - together, second - together


def simulate(
    table: Table, win: float, loss: float, studies: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Decision and pairs of each study."""
    draws = rng.random((studies, MOST))
    won = np.cumsum(draws < win, axis=1)
    discordant = np.cumsum(draws < win + loss, axis=1)
    decision, pairs = np.zeros(studies, np.int64), np.full(studies, MOST)
    for n in range(1, MOST + 1):
        now = table[n][discordant[:, n - 1], won[:, n - 1]]
        ends = (decision == CONTINUE) & (now != CONTINUE)
        decision[ends], pairs[ends] = now[ends], n
    return decision, pairs


def row(name: str, table: Table, rates: tuple[float, float], options: argparse.Namespace) -> tuple:
    """Prints simulated and exact figures of a test; the simulated ones are returned."""
    exact = characteristics(table, *rates)
    rng = np.random.default_rng(options.seed)
    decision, pairs = simulate(table, *rates, options.studies, rng)
    better, worse = np.mean(decision == BETTER), np.mean(decision == WORSE)
    print(
        f'{name:44} better {better:.3f} ({exact.better:.4f})  worse {worse:.3f} '
        f'({exact.worse:.4f})  pairs {pairs.mean():5.1f} ({exact.mean_pairs:.2f})'
    )
    return better, worse, pairs.mean()


def least_mean_pairs(first: float, second: float, alpha: float, power: float) -> float:
    """The least mean of any test, of the pairs' full outcomes and without a maximum, that claims
    'better' with these probabilities under the nearest null and the alternative (Wald and
    Wolfowitz 1948, Annals of Mathematical Statistics 19, 326-339, as a data processing inequality).
    """

    def divergence(p: float, q: float) -> float:
        return p * log(p / q) + (1 - p) * log((1 - p) / (1 - q))

    nearest = minimize_scalar(
        lambda p: divergence(first, p) + divergence(second, p),
        bounds=(0.01, 0.99),
        method='bounded',
    )
    return divergence(power, alpha) / nearest.fun


def fixed_power(rates: tuple[float, float], is_two_sided: bool) -> float:
    """Power of the test of the signs after all pairs, alone: no sequential test with the same
    maximum has more than rounding above it.
    """
    table = [np.zeros((n + 1, n + 1), np.int8) for n in range(MOST)]
    m, w = np.ogrid[: MOST + 1, : MOST + 1]
    z = (2 * w - m) / np.sqrt(np.maximum(m, 1))
    low, high = 1.0, 3.0
    for _ in range(30):
        bound = (low + high) / 2
        codes = np.where(z >= bound, BETTER, np.where((z <= -bound) & is_two_sided, WORSE, 3))
        final = [*table, np.where(w <= m, codes, 0).astype(np.int8)]
        over = type_one_error(final)[0] > ALPHA
        low, high = (bound, high) if over else (low, bound)
    codes = np.where(z >= high, BETTER, 3)
    return characteristics([*table, np.where(w <= m, codes, 0).astype(np.int8)], *rates).better


def judged(method: str, side: str, options: argparse.Namespace, bars: Bars) -> None:
    """Prints the figures of a test, and judges them."""
    table = table_of(method, side)
    name = f'{method}, {"two sides" if side == "both" else "one side"}'
    worst, discordance = type_one_error(table)
    null = row(f'{name}: 0.60 against 0.60', table, independent(0.6, 0.6), options)
    near = row(f'{name}: 0.75 against 0.60', table, independent(*RATES['0.75']), options)
    far = row(f'{name}: 0.90 against 0.60', table, independent(*RATES['0.90']), options)
    print(f'{name}: worst null, exact: {worst:.5f}, at a discordance of {discordance:.2f}')
    bars.at_most(f'{name}: wrong verdicts, 0.60 against 0.60', null[0] + null[1], ALPHA)
    bars.at_most(f'{name}: wrong verdicts, worst null, exact', worst, ALPHA)
    if (method, side) != ('lai', 'better'):
        return
    bars.at_least(f'{name}: power, 0.60 against 0.75', near[0], POWER)
    bars.at_most(f'{name}: mean pairs, 0.60 against 0.75', near[2], MEAN_PAIRS)
    bars.at_most(f'{name}: mean pairs, 0.60 against 0.90', far[2], MEAN_PAIRS_FAR)


def further(side: str, options: argparse.Namespace) -> None:
    """Prints rows of correlated pairs and of equal rates."""
    table = table_of('lai', side)
    name = 'lai, two sides' if side == 'both' else 'lai, one side'
    for correlation in CORRELATIONS:
        for first, second in ((0.6, 0.6), *RATES.values()):
            rates = probabilities(first, second, correlation)
            if min(rates) >= 0:
                text = f'{name}: {first:.2f} against {second:.2f}, corr. {correlation}'
                row(text, table, rates, options)
    for rate in NULLS:
        row(f'{name}: {rate:.2f} against {rate:.2f}', table, independent(rate, rate), options)


def main() -> int:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--studies', type=int, default=2000, help='simulated studies per row')
    parser.add_argument('--seed', type=int, default=1, help='of the simulation')
    options = parse(parser, studies=200)
    bars = Bars(options)
    print(f'{options.studies} studies a row, seed {options.seed}; exact figures in brackets\n')
    for method in METHODS:
        for side in ('better', 'both'):
            judged(method, side, options, bars)
            print()
    for side in ('better', 'both'):
        further(side, options)
        print()
    near = independent(*RATES['0.75'])
    for is_two_sided, alpha in ((False, ALPHA), (True, ALPHA / 2)):
        least = least_mean_pairs(*RATES['0.75'], alpha, POWER)
        power = fixed_power(near, is_two_sided)
        print(
            f'{"two sides" if is_two_sided else "one side"}: a power of {POWER} needs a mean of at '
            f'least {least:.1f} pairs without a maximum; all {MOST} pairs, never stopped early, '
            f'give a power of {power:.3f}'
        )
    return bars.exit_status()


if __name__ == '__main__':
    sys.exit(main())
