#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""False alarms of the thresholds and of drift detection, in simulated deployments.

Each deployment draws calibration episodes of its own, fits the thresholds to them as
`frame-ros calibrate` does, and watches one more successful episode, inference by inference. Risks
are random walks with heavy tails over a level and a trend of their episode, 5 to 60 inferences
long; three scores hang together, and each is missing in 5 % of the inferences.

Bars: the share of deployments with a false alarm lies within the 99.9 % interval of the nominal
rate, which is that of the binomial distribution, and where several scores share it by Bonferroni,
or drift is detected, not above that interval; false alarms per hour are not above the rate by more
than 3.29 standard errors. Beside them, without a bar, the rate where an assumption does not hold.

    python benchmarks/guarantees.py [--deployments 1000] [--json]
"""

import argparse
import json
import math
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np
from parts.bars import Bars, parse
from scipy.stats import binom

from frame_ros.confidence import (
    DriftDetector,
    FalseAlarmRate,
    Guarantee,
    RiskEpisode,
    fit_guarantee,
    horizon_thresholds,
)
from frame_ros.confidence.thresholds import threshold_at

SCORES = ('a', 'b', 'c')
PERIOD = 0.5  # s between inferences
LEVEL = 0.999  # of the intervals
SIGMAS = 3.29
HOUR = 3600.0

Draw = Callable[[np.random.Generator], RiskEpisode]


@dataclass
class Row:
    """A line of the table. rate, nominal: per deployment, or per hour."""

    name: str
    rate: float
    nominal: float
    lowest: float
    highest: float


def episode(rng: np.random.Generator, shift: float = 0.0) -> RiskEpisode:
    """A successful episode. shift: of the level of all its risks."""
    count = int(rng.integers(5, 61))
    common = rng.standard_t(3, size=count).cumsum()
    own = rng.standard_t(3, size=(len(SCORES), count)).cumsum(axis=1)
    level = rng.normal(shift, 2.0, size=(len(SCORES), 1))
    trend = 0.1 * np.arange(count) * rng.random()
    risks = 0.8 * common + 0.6 * own + level + trend
    risks[rng.random(risks.shape) < 0.05] = np.nan
    return RiskEpisode(PERIOD * np.arange(count), PERIOD * count, dict(zip(SCORES, risks)))


def first_alarm(guarantee: Guarantee, new: RiskEpisode) -> float | None:
    """The time of the first alarm, s; None: none."""
    for number, time in enumerate(new.times.tolist()):
        risks = {name: float(each[number]) for name, each in new.risks.items()}
        if guarantee.exceeded(risks, time):
            return time
    return None


def interval(nominal: float, count: int) -> tuple[float, float]:
    """The shares of `count` that a rate gives in 99.9 % of the cases."""
    lowest, highest = binom.interval(LEVEL, count, nominal)
    return lowest / count, highest / count


def per_episode(
    name: str, deployments: int, episodes: int, scores: tuple[str, ...], rate: FalseAlarmRate,
    form: str, sharing: str, draw_new: Draw = episode,
) -> Row:  # fmt: skip
    """Deployments with a false alarm."""
    rng = np.random.default_rng(7)
    alarms = 0
    for _ in range(deployments):
        calibration = [episode(rng) for _ in range(episodes)]
        found = fit_guarantee(calibration, scores, rate, form, sharing)
        alarms += first_alarm(found, draw_new(rng)) is not None
    return Row(name, alarms / deployments, rate.value, *interval(rate.value, deployments))


def per_hour(name: str, deployments: int, rate: float, form: str) -> Row:
    """False alarms per hour of all deployments together, of the worst of all scores."""
    rng = np.random.default_rng(8)
    wanted = FalseAlarmRate(rate, 'hour')
    alarms, hours = np.zeros(deployments), np.zeros(deployments)
    for number in range(deployments):
        calibration = [episode(rng) for _ in range(60)]
        new = episode(rng)
        time = first_alarm(fit_guarantee(calibration, SCORES, wanted, form, 'worst'), new)
        alarms[number] = time is not None
        hours[number] = (new.duration if time is None else time) / HOUR
    error = SIGMAS * float(np.std(alarms - rate * hours)) * math.sqrt(deployments) / hours.sum()
    return Row(name, float(alarms.sum() / hours.sum()), rate, 0.0, rate + error)


def horizon_quantiles(name: str, deployments: int) -> Row:
    """Deployments with an alarm of a 10 % quantile at each percent of completion."""
    rng = np.random.default_rng(9)

    def confidences(risks: np.ndarray) -> np.ndarray:
        known = risks[~np.isnan(risks)]
        return 1.0 / (1.0 + np.exp(0.1 * known))

    alarms = 0
    for _ in range(deployments):
        calibration = [confidences(episode(rng).risks['a']) for _ in range(39)]
        thresholds = horizon_thresholds([each for each in calibration if len(each)])
        new = confidences(episode(rng).risks['a'])
        alarms += any(
            value < threshold_at(thresholds, number / len(new))
            for number, value in enumerate(new, 1)
        )
    return Row(name, alarms / deployments, 0.1, math.nan, math.nan)


def drift(deployments: int) -> list[Row]:
    """Deployments of 200 episodes with a false alarm of the martingale, and of its CUSUM."""
    rng = np.random.default_rng(10)
    alpha, per_alarm, episodes = 0.05, 2000.0, 200
    by_martingale = by_cusum = 0
    for _ in range(deployments):
        # The scores of an episode hang together.
        values = rng.standard_t(3, size=(30 + episodes, 1)) + rng.normal(size=(30 + episodes, 3))
        reference = dict(zip(SCORES, values[:30].T.tolist()))
        stream = [dict(zip(SCORES, row)) for row in values[30:].tolist()]
        by_martingale += is_reported(DriftDetector(reference, alpha, 1e12), stream)
        by_cusum += is_reported(DriftDetector(reference, 1e-12, per_alarm), stream)
    rows = []
    for name, count, nominal in (
        ('drift, martingale, ever', by_martingale, alpha),
        ('drift, CUSUM, in 200 episodes', by_cusum, episodes / per_alarm),
    ):
        _, highest = interval(nominal, deployments)
        rows.append(Row(name, count / deployments, nominal, 0.0, highest))
    return rows


def is_reported(detector: DriftDetector, stream: list[dict[str, float]]) -> bool:
    """Does it report a drift?"""
    return any(detector.update(values).is_drifting for values in stream)


def delays(deployments: int, shift: float) -> float:
    """Median of the episodes until a drift is reported that sets in after 100 stable ones."""
    rng = np.random.default_rng(11)
    found = []
    for _ in range(deployments):
        detector = DriftDetector({'a': rng.normal(size=50).tolist()})
        for value in rng.normal(size=100).tolist():
            detector.update({'a': value})
        delay = 1
        while not detector.update({'a': float(rng.normal(shift))}).is_drifting:
            delay += 1
            if delay > 1000:
                break
        found.append(delay)
    return float(np.median(found))


def measure(deployments: int) -> tuple[list[Row], list[Row], list[Row]]:
    """Rows that must lie in their interval, that must not lie above it, and that have no bar."""
    alpha = FalseAlarmRate(0.1)
    exact = [
        per_episode('threshold, 19 episodes', deployments, 19, ('a',), FalseAlarmRate(0.05),
                    'constant', 'bonferroni'),
        per_episode('threshold, 39 episodes', deployments, 39, ('a',), alpha, 'constant',
                    'bonferroni'),
        per_episode('band, 58 episodes', deployments, 58, ('a',), alpha, 'band', 'bonferroni'),
        per_episode('worst of three, 58 episodes', deployments, 58, SCORES, alpha, 'constant',
                    'worst'),
        per_episode('worst of three, band, 58 episodes', deployments, 58, SCORES, alpha, 'band',
                    'worst'),
    ]  # fmt: skip
    bounded = [
        per_episode('three by Bonferroni, 29 episodes', deployments, 29, SCORES, alpha, 'constant',
                    'bonferroni'),
        per_episode('threshold kept with confidence 0.9', deployments, 39, ('a',),
                    FalseAlarmRate(0.1, confidence=0.9), 'constant', 'bonferroni'),
        per_hour('30 per hour, worst of three', deployments, 30.0, 'constant'),
        per_hour('30 per hour, band, worst of three', deployments, 30.0, 'band'),
        *drift(max(deployments // 5, 5)),
    ]  # fmt: skip
    shown = [
        per_episode('threshold, new episodes shifted by one spread of the level', deployments, 39,
                    ('a',), alpha, 'constant', 'bonferroni', lambda rng: episode(rng, 2.0)),
        horizon_quantiles('10 % quantile at each percent of the horizon', deployments),
    ]  # fmt: skip
    return exact, bounded, shown


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--deployments', type=int, default=1000)
    parser.add_argument('--json', action='store_true', help='print JSON')
    options = parse(parser, deployments=20)
    exact, bounded, shown = measure(options.deployments)
    late = {shift: delays(50 if not options.short else 5, shift) for shift in (1.0, 2.0, 4.0)}
    if options.json:
        rows = [asdict(row) for row in (*exact, *bounded, *shown)]
        print(json.dumps({'rows': rows, 'drift_delay': late}, indent=2))
    else:
        print('| thresholds | false alarms | nominal | 99.9 % of the cases |')
        print('| --- | --- | --- | --- |')
        for row in (*exact, *bounded, *shown):
            between = f'{row.lowest:.3g} to {row.highest:.3g}' if row in exact else (
                f'at most {row.highest:.3g}' if row in bounded else 'no bar'
            )  # fmt: skip
            print(f'| {row.name} | {row.rate:.3g} | {row.nominal:g} | {between} |')
        for shift, delay in late.items():
            print(f'a drift by {shift:g} spreads after 100 stable episodes is reported {delay:g} '
                  'episodes later (median)')  # fmt: skip
    bars = Bars(options)
    for row in exact:
        bars.at_least(f'{row.name}, false alarms', row.rate, row.lowest)
    for row in (*exact, *bounded):
        bars.at_most(f'{row.name}, false alarms', row.rate, row.highest)
    return bars.exit_status()


if __name__ == '__main__':
    sys.exit(main())
