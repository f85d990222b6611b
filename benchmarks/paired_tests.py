#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Tests and intervals of binary outcomes against those of SciPy, statsmodels and fieldtrial.

    python benchmarks/paired_tests.py [--studies 2000] [--most 120] [--seed 0] [--json]

A study is two policies of random success rates, often 0 or 1, with random correlation, in 1 to
`--most` pairs, and as many episodes, or others, without pairs. Compared are, of the same outcomes:

- McNemar's exact test with statsmodels and fieldtrial, and SciPy's binomial test;
- Tango's interval with fieldtrial, at random confidence;
- Boschloo's test with SciPy and fieldtrial (which calls SciPy's);
- Newcombe's interval with statsmodels and fieldtrial;
- Holm's and Bonferroni's adjustment of the study's p-values with statsmodels and fieldtrial.

Printed are the largest differences; above 1e-9 the exit status is 1, in a short run, too. SciPy
looks for the supremum of Boschloo's test from 32 success rates and misses it now and then; if its
value rises when it begins with 512, that one is compared, and the study is counted and printed. A
package that is not installed has no row: `pip install fieldtrial==0.3.0 statsmodels`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from parts.bars import Bars, parse

from frame_ros.evaluation import (
    bonferroni,
    boschloo,
    holm,
    mcnemar_exact,
    newcombe_interval,
    tango_interval,
)
from frame_ros.evaluation.binary.paired import pair_counts

BAR = 1e-9
# A smaller difference of two values of Boschloo's test is that of rounding and of stopping.
STOPPED = 1e-11
# Name of a quantity -> its value or ends in one study.
Found = dict[str, Any]


class Study:
    """Outcomes of two policies.

    Attributes:
        a, b: (n,) bool, paired.
        counts: successes and trials of both without pairs, as `boschloo` takes them.
        p_values: some p-values that are adjusted.
    """

    def __init__(self, random: np.random.Generator, most: int) -> None:
        rates = np.where(random.random(2) < 0.15, random.integers(0, 2, 2), random.random(2))
        n, m = (int(each) for each in random.integers(1, most + 1, 2))
        # The same luck for both policies in some of the pairs.
        luck = random.random((2, n))
        luck[1] = np.where(random.random(n) < random.random(), luck[0], luck[1])
        self.a, self.b = luck < rates[:, None]
        self.counts = int(self.a.sum()), n, int(random.binomial(m, rates[1])), m
        self.confidence = float(random.choice([0.5, 0.8, 0.9, 0.95, 0.99, 0.9999]))
        self.p_values = random.random(random.integers(1, 10)) ** 3
        self.table = pair_counts(self.a, self.b)


def ours(study: Study) -> Found:
    """All quantities by this package."""
    return {
        'McNemar': mcnemar_exact(study.a, study.b),
        'Tango': tango_interval(study.a, study.b, study.confidence),
        'Boschloo': boschloo(*study.counts),
        'Newcombe': newcombe_interval(*study.counts, study.confidence),
        'Holm': holm(study.p_values),
        'Bonferroni': bonferroni(study.p_values),
    }


def scipy_reference() -> Callable[[Study], Found]:
    """Those that SciPy has."""
    from scipy.stats import binomtest, boschloo_exact

    def found(study: Study) -> Found:
        x, n, y, m = study.counts
        discordant = study.table.discordant
        mcnemar = binomtest(study.table.only_a, discordant).pvalue if discordant else 1.0
        return {
            'McNemar': mcnemar,
            'Boschloo': boschloo_exact([[x, y], [n - x, m - y]]).pvalue,
        }

    return found


def better_supremum(study: Study) -> float:
    """Boschloo's test by SciPy from more success rates."""
    from scipy.stats import boschloo_exact

    x, n, y, m = study.counts
    return float(boschloo_exact([[x, y], [n - x, m - y]], n=512).pvalue)


def statsmodels_reference() -> Callable[[Study], Found]:
    """Those that statsmodels has; raises ImportError if it is not installed."""
    from statsmodels.stats.contingency_tables import mcnemar
    from statsmodels.stats.multitest import multipletests
    from statsmodels.stats.proportion import confint_proportions_2indep

    def found(study: Study) -> Found:
        both, only_a, only_b, neither = study.table
        adjusted = {
            name: multipletests(study.p_values, method=name.lower())[1]
            for name in ('Holm', 'Bonferroni')
        }
        return adjusted | {
            'McNemar': mcnemar([[both, only_a], [only_b, neither]], exact=True).pvalue,
            'Newcombe': confint_proportions_2indep(
                *study.counts, method='newcomb', compare='diff', alpha=1.0 - study.confidence
            ),
        }

    return found


def fieldtrial_reference() -> Callable[[Study], Found]:
    """Those of fieldtrial; raises ImportError if it is not installed."""
    from fieldtrial.stats.compare import boschloo_test
    from fieldtrial.stats.compare import newcombe_interval as newcombe
    from fieldtrial.stats.multiplicity import adjust_pvalues
    from fieldtrial.stats.paired import mcnemar_exact as mcnemar
    from fieldtrial.stats.paired import tango_interval as tango

    def found(study: Study) -> Found:
        only_a, only_b, pairs = study.table.only_a, study.table.only_b, study.table.pairs
        return {
            'McNemar': mcnemar(only_a, only_b).pvalue,
            'Tango': tango(only_a, only_b, pairs, level=study.confidence),
            'Boschloo': boschloo_test(*study.counts).pvalue,
            'Newcombe': newcombe(*study.counts, level=study.confidence),
            'Holm': adjust_pvalues(list(study.p_values), method='holm').adjusted,
            'Bonferroni': adjust_pvalues(list(study.p_values), method='bonferroni').adjusted,
        }

    return found


REFERENCES = {
    'SciPy': scipy_reference,
    'statsmodels': statsmodels_reference,
    'fieldtrial': fieldtrial_reference,
}


def references() -> dict[str, Callable[[Study], Found]]:
    """Those that are installed; says which are not."""
    found = {}
    for name, load in REFERENCES.items():
        try:
            found[name] = load()
        except ImportError as error:
            print(f'{name} is not compared: {error}', file=sys.stderr)
    return found


def versions(names: Iterable[str]) -> dict[str, str]:
    """Version of each package."""
    from importlib.metadata import version

    return {name: version(name.lower()) for name in names}


def compare(
    options: argparse.Namespace, others: dict[str, Callable[[Study], Found]]
) -> tuple[dict[str, dict[str, float]], dict[str, float], dict[str, list[float]]]:
    """Quantity -> package -> largest difference; package -> seconds; package -> by how much it
    missed the supremum of Boschloo's test.
    """
    random = np.random.default_rng(options.seed)
    largest: dict[str, dict[str, float]] = {}
    seconds = dict.fromkeys(['ours', *others], 0.0)
    missed: dict[str, list[float]] = {}
    for _ in range(options.studies):
        study = Study(random, options.most)
        begin = time.perf_counter()
        own = ours(study)
        seconds['ours'] += time.perf_counter() - begin
        for name, reference in others.items():
            begin = time.perf_counter()
            theirs = reference(study)
            seconds[name] += time.perf_counter() - begin
            shortfall = own['Boschloo'] - theirs.get('Boschloo', own['Boschloo'])
            if shortfall > STOPPED and (better := better_supremum(study)) > theirs['Boschloo']:
                theirs['Boschloo'] = better
                missed.setdefault(name, []).append(shortfall)
            for quantity, value in theirs.items():
                row = largest.setdefault(quantity, {})
                difference = float(np.max(np.abs(np.subtract(value, own[quantity]))))
                row[name] = max(row.get(name, 0.0), difference)
    return largest, seconds, missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--studies', type=int, default=2000, help='random studies')
    parser.add_argument('--most', type=int, default=120, help='most pairs of a study')
    parser.add_argument('--seed', type=int, default=0, help='of the outcomes')
    parser.add_argument('--json', action='store_true', help='print JSON')
    options = parse(parser, studies=60, most=60)
    bars = Bars(options)
    others = references()
    largest, seconds, missed = compare(options, others)
    report(options, largest, seconds, versions(others))
    for name, shortfalls in missed.items():
        print(
            f'{name}: the supremum of Boschloo was missed by up to {max(shortfalls):.1e}; studies: '
            f'{len(shortfalls)}',
            file=sys.stderr,
        )
    worst = max(difference for row in largest.values() for difference in row.values())
    bars.at_most(f'largest difference in {options.studies} studies', worst, BAR)
    return max(int(not worst <= BAR), bars.exit_status())


def report(
    options: argparse.Namespace,
    largest: dict[str, dict[str, float]],
    seconds: dict[str, float],
    found: dict[str, str],
) -> None:
    """Prints the largest differences by quantity and package."""
    if options.json:
        print(json.dumps({'largest': largest, 'seconds': seconds, 'versions': found}))
        return
    print(f'{options.studies} studies of 1 to {options.most} pairs; largest differences:')
    for quantity, row in largest.items():
        cells = ', '.join(f'{name} {found[name]}: {value:.1e}' for name, value in row.items())
        print(f'  {quantity:<11} {cells}')
    print('  seconds     ' + ', '.join(f'{name}: {value:.1f}' for name, value in seconds.items()))


if __name__ == '__main__':
    sys.exit(main())
