# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Planned numbers of episodes against the true ones, where these are known: generated policies.

Two policies of which one takes 15 % longer, 4 objects, 8 operations of an episode. True: the share
of new studies in which macro-KS finds them, by number of episodes. Planned: what studies of 40
episodes of each policy and object say, by bridges (the paper's way, and less what noise adds), and
by subsampling. Then subsampling of two policies that do not differ at all.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
from numpy.typing import NDArray
from parts.bars import Bars, parse

from frame_ros.evaluation.null_calibration.generated import GeneratedOptions, generated_cells
from frame_ros.evaluation.planning.bridge import BridgeModel, drifts_of
from frame_ros.evaluation.planning.design_effect import fitted_effect
from frame_ros.evaluation.planning.detection import (
    ALPHA,
    TARGET,
    DetectionCurve,
    detection_curves,
)
from frame_ros.evaluation.planning.pooled_tests import KS
from frame_ros.evaluation.planning.rollouts_needed import episodes_needed
from frame_ros.evaluation.survival.cell import Cell
from frame_ros.evaluation.survival.macro_ks import macro_ks

SLOWER = 1.15
EPISODES = 40
NUMBERS = (20, 40, 60, 80, 100)
MOST_SECONDS = 20.0
MOST_ERROR = 0.05


def main() -> int:
    """Runs all parts; returns 1 if a bar was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--studies', type=int, default=300, help='new ones, of each number')
    parser.add_argument('--plans', type=int, default=60, help='studies from which is planned')
    parser.add_argument('--trials', type=int, default=300, help='of each subsampling')
    parser.add_argument('--curves', type=int, default=5, help='pairs that are subsampled')
    options = parse(parser, studies=10, plans=3, trials=10, curves=1)
    bars = Bars(options)
    true = true_curve(options.studies)
    smallest = true.smallest()
    print(f'true rates at {true.episodes} episodes: {np.round(true.rates, 2).tolist()}')
    print(f'true number for {TARGET}: {smallest.episodes} ({smallest.low} to {smallest.high})')
    planned(options.plans)
    errors, seconds = [], []
    for name, slower in (('that differ', SLOWER), ('that do not differ', 1.0)):
        rates = []
        for number in range(options.curves):
            a, b = study(EPISODES, 10_000 + number, slower)
            begun = time.perf_counter()
            curve = detection_curves(a, b, trials=options.trials, seed=number)[KS]
            seconds.append(time.perf_counter() - begun)
            model = BridgeModel(drifts_of(a, b))
            errors.append(fitted_effect([model], [curve.episodes], [curve.rates]).error)
            rates.append(curve.rates)
        shown = np.round(np.mean(rates, axis=0), 2).tolist()
        print(f'subsampled from policies {name}, at {curve.episodes} episodes: mean {shown}')
    bars.at_most('bridges against subsampling, rms of rates', float(np.mean(errors)), MOST_ERROR)
    bars.at_most('detection curves of a pair, median s', float(np.median(seconds)), MOST_SECONDS)
    return bars.exit_status()


def study(episodes: int, seed: int, slower: float) -> tuple[dict[str, Cell], dict[str, Cell]]:
    """Returns the cells of two new policies."""
    random = np.random.default_rng(seed)
    options = GeneratedOptions(episodes=episodes)
    return generated_cells(options, random), generated_cells(options, random, slower)


def true_curve(studies: int) -> DetectionCurve:
    """Returns the shares of new studies in which macro-KS finds the difference, by permutations."""
    rates = []
    for number in NUMBERS:
        p = [
            macro_ks(*study(number, seed, SLOWER), resamples=300, has_replacement=False).p
            for seed in range(studies)
        ]
        rates.append(float((np.array(p) <= ALPHA).mean()))
    return DetectionCurve(KS, NUMBERS, np.array(rates), studies)


def planned(studies: int) -> None:
    """Prints the numbers that studies say; those that have no number count as more than all."""
    found = [
        episodes_needed(*study(EPISODES, 20_000 + seed, SLOWER), simulations=2000)
        for seed in range(studies)
    ]
    unresolved = [each for each in found if not each.is_resolved]
    print(f'{studies} studies of {EPISODES} episodes, {len(unresolved)} unresolved; they plan')
    for name, rows in (('all', found), ('unresolved', unresolved)):
        for kind in ('at_observed', 'corrected', 'low'):
            values = [getattr(each, kind) for each in rows]
            numbers = np.array([np.inf if each is None else each for each in values])
            print(f'  {name}, {kind}: {quartiles(numbers)}')


def quartiles(numbers: NDArray[np.float64]) -> str:
    """Returns median and quartiles, each one of the numbers."""
    if not len(numbers):
        return 'none'
    low, middle, high = np.quantile(numbers, (0.25, 0.5, 0.75), method='inverted_cdf')
    return f'median {middle:.0f}, quartiles {low:.0f} to {high:.0f}'


if __name__ == '__main__':
    sys.exit(main())
