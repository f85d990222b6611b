# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Type I errors of the tests of two policies, and the time that they take. PhAIL, appendix J.

Generated episodes: 4 objects, 40 episodes of each policy on each, 8 operations of an episode whose
times are correlated, drops, censoring; two policies that do not differ, new episodes in each trial.
The same as `frame-ros null-check --generated`. Then the scenarios of recorded episodes, on one set
of generated ones: halves of each policy and of the human reference, labels shuffled.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace

from parts.bars import Bars, parse

from frame_ros.cli.null_check import NullCheckOptions, as_text
from frame_ros.evaluation.null_calibration.calibration import (
    GENERATED,
    NullCalibration,
    generated_calibration,
    null_calibration,
)
from frame_ros.evaluation.null_calibration.generated import GeneratedOptions, generated_outcomes
from frame_ros.evaluation.planning.pooled_tests import KS

LOWEST, HIGHEST = 0.03, 0.08
MOST_SECONDS = 60.0


def main() -> int:
    """Runs both parts; returns 1 if a bar was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--trials', type=int, default=500)
    parser.add_argument('--resamples', type=int, default=500)
    parser.add_argument('--seed', type=int, default=0)
    arguments = parse(parser, trials=20, resamples=100)
    bars = Bars(arguments)
    options = NullCheckOptions(
        trials=arguments.trials, resamples=arguments.resamples, seed=arguments.seed
    )
    generated_calibration(NullCheckOptions(trials=10, resamples=100))  # compiles the loops
    begun = time.perf_counter()
    found = generated_calibration(options)
    seconds = time.perf_counter() - begun
    print(as_text(found), flush=True)
    rate = rate_of(found, GENERATED)
    bars.at_least('macro-KS, share of null trials with p < 0.05', rate, LOWEST)
    bars.at_most('macro-KS, share of null trials with p < 0.05', rate, HIGHEST)
    bars.at_most(f'{options.trials} trials of all tests, s', seconds, MOST_SECONDS)
    outcomes = generated_outcomes(GeneratedOptions(), 0, {'a': 1.0, 'b': 1.1, 'human': 0.5})
    outcomes = [replace(each, is_human=each.policy == 'human') for each in outcomes]
    begun = time.perf_counter()
    recorded = null_calibration(outcomes, options)
    seconds = time.perf_counter() - begun
    print(f'\n{as_text(recorded)}', flush=True)
    bars.at_most('four scenarios of recorded episodes, s', seconds, MOST_SECONDS)
    return bars.exit_status()


def rate_of(found: NullCalibration, scenario: str) -> float:
    """Returns the share of trials in which macro-KS has p < 0.05."""
    row = next(each for each in found.rows if (each.scenario, each.test) == (scenario, KS))
    return row.rates[1]


if __name__ == '__main__':
    sys.exit(main())
