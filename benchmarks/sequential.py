#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Sequential tests of two policies in simulated paired studies: wrong verdicts, power, pairs.

Success rates 0.60 against 0.75, and 0.60 against 0.90, of policies that are independent within a
pair, at most 200 pairs, alpha 0.05. The exact figure, by recursion, stands next to each simulated
one; the wrong verdicts are also those of the worst null of all. Further rows: pairs
whose outcomes hang together, as they do in the same scene, and equal rates from 0.05 to 0.95.

The requirement was on two sides: power 0.9 with a mean of at most 105 pairs, at most 200, and 32
pairs for 0.60 against 0.90. It is missed, which is printed, and no test of two sides with 0.025
each can meet it: both bounds are printed, too. The exit status judges the error rates, and the same
figures on one side at 0.05, which is another question, to be chosen before the study.

Those of fieldtrial and robotruth on the same outcomes are printed where they are installed
(`pip install fieldtrial==0.3.0 robotruth==0.1.6`).

    python benchmarks/sequential.py [--studies 2000] [--seed 1]
"""

import argparse
import sys
from collections.abc import Callable
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray
from parts.bars import Bars, parse
from scipy.optimize import minimize_scalar
from scipy.stats import binom

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


def differences(
    win: float, loss: float, studies: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """1 where the first policy wins a pair, -1 where it loses it, 0 where they are equal:
    (studies, MOST).
    """
    draws = rng.random((studies, MOST))
    return np.where(draws < win, 1, np.where(draws < win + loss, -1, 0))


def simulate(
    table: Table, win: float, loss: float, studies: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Decision and pairs of each study."""
    difference = differences(win, loss, studies, rng)
    won = np.cumsum(difference > 0, axis=1)
    discordant = np.cumsum(difference != 0, axis=1)
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


def most_power(first: float, second: float, alpha: float) -> float:
    """The most power of any test of at most MOST pairs of independent policies, stopped early or
    not, that claims 'better' with a probability of at most alpha where both have one success rate:
    Neyman's and Pearson's for the rate that makes it least.
    """
    counts = np.arange(MOST + 1)

    def chances(p: float, q: float) -> NDArray[np.float64]:
        return np.outer(binom.pmf(counts, MOST, p), binom.pmf(counts, MOST, q)).ravel()

    def power(rate: float) -> float:
        null, alternative = chances(rate, rate), chances(first, second)
        order = np.argsort(-alternative / null)
        sizes = np.cumsum(null[order])
        return float(np.interp(alpha, sizes, np.cumsum(alternative[order])))

    return min(power(rate) for rate in np.linspace(second, first, 31))


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
    if (method, side) == ('lai', 'both'):
        missed(name, near, far)
    if (method, side) != ('lai', 'better'):
        return
    bars.at_least(f'{name}: power, 0.60 against 0.75', near[0], POWER)
    bars.at_most(f'{name}: mean pairs, 0.60 against 0.75', near[2], MEAN_PAIRS)
    bars.at_most(f'{name}: mean pairs, 0.60 against 0.90', far[2], MEAN_PAIRS_FAR)


def missed(name: str, near: tuple, far: tuple) -> None:
    """Prints the requirement on two sides, which cannot be met and does not count as a bar."""
    for what, value, bar, is_met in (
        ('power, 0.60 against 0.75', near[0], f'at least {POWER}', near[0] >= POWER),
        ('mean pairs, 0.60 against 0.75', near[2], f'at most {MEAN_PAIRS}', near[2] <= MEAN_PAIRS),
        (
            'mean pairs, 0.60 against 0.90',
            far[2],
            f'at most {MEAN_PAIRS_FAR}',
            far[2] <= MEAN_PAIRS_FAR,
        ),
    ):
        print(f'required: {name}: {what}: {value:.4g}, {bar}: {"met" if is_met else "MISSED"}')


# Differences of a study -> whether a difference was claimed, and the pairs until then.
Other = Callable[[NDArray[np.int64]], tuple[bool, int]]


def fieldtrial_test(alternative: str) -> Other:
    """The anytime-valid test of fieldtrial; raises ImportError if it is not installed."""
    from fieldtrial.stats.confseq import paired_anytime_test

    def test(difference: NDArray[np.int64]) -> tuple[bool, int]:
        found = paired_anytime_test(difference, ALPHA, alternative, breaks=10)
        return found.rejected_at is not None, found.rejected_at or MOST

    return test


def robotruth_test(_: str) -> Other:
    """The sequential test of robotruth; raises ImportError if it is not installed."""
    from robotruth.stats.sequential import sequential_paired_test

    def test(difference: NDArray[np.int64]) -> tuple[bool, int]:
        found = sequential_paired_test(1.0 * (difference < 0), 1.0 * (difference > 0), ALPHA)
        return found.decision in ('A_better', 'B_better'), found.n

    return test


OTHERS = (
    ('fieldtrial, one side', fieldtrial_test, 'greater'),
    ('fieldtrial, two sides', fieldtrial_test, 'two-sided'),
    ('robotruth, two sides', robotruth_test, ''),
)


def others(options: argparse.Namespace) -> None:
    """Prints the figures of other libraries on the same outcomes."""
    for name, make, alternative in OTHERS:
        try:
            test = make(alternative)
        except ImportError as error:
            print(f'{name}: not compared: {error}')
            continue
        for first, second in ((0.6, 0.6), *RATES.values()):
            rng = np.random.default_rng(options.seed)
            studies = differences(*independent(first, second), options.studies, rng)
            claims, pairs = zip(*map(test, studies), strict=True)
            print(
                f'{f"{name}: {first:.2f} against {second:.2f}":44} claims {np.mean(claims):.3f}  '
                f'pairs {np.mean(pairs):5.1f}'
            )


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
    others(options)
    print()
    for name, alpha in (('one side', ALPHA), ('two sides', ALPHA / 2)):
        least = least_mean_pairs(*RATES['0.75'], alpha, POWER)
        most = most_power(*RATES['0.75'], alpha)
        print(
            f'any test of {name}: a power of {POWER} needs a mean of at least {least:.1f} pairs, '
            f'without a maximum; at most {MOST} pairs give a power of at most {most:.3f}'
        )
    return bars.exit_status()


if __name__ == '__main__':
    sys.exit(main())
