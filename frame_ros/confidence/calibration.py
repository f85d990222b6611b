# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Calibration of confidences: do they mean what they say, and do they find failures?

VLA calibration, section 3.4. The binning is that of the package the paper used: METRICS.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.confidence.samples import (
    Array,
    as_confidences,
    as_episodes,
    as_outcomes,
    episode_resamples,
)
from frame_ros.confidence.weighted_samples import Bins, WeightedSamples
from frame_ros.core.errors import ValueRangeError
from frame_ros.metrics import wilson_interval
from frame_ros.metrics.arrays import are_equal, checked_count

BINS = 12
RESAMPLES = 1000
NAN = float('nan')
# Share of the resamples that must have a value for there to be an interval.
_LEAST_KNOWN = 0.95
# Resamples times samples that are held in memory at once.
_BLOCK = 4_000_000


class BrierParts(NamedTuple):
    """Brier score = reliability - resolution + uncertainty + within_bins.

    Attributes:
        score: the Brier score.
        reliability: mean squared gap between confidence and success rate of the bins; 0 is best.
        resolution: variance of the bins' success rates; larger is better.
        uncertainty: variance of the outcome.
        within_bins: what the confidences inside the bins add, which the three leave out.
    """

    score: float
    reliability: float
    resolution: float
    uncertainty: float
    within_bins: float


@dataclass(frozen=True)
class ReliabilityBin:
    """One bar of a reliability diagram.

    Attributes:
        upper: upper edge of the bin.
        count: samples in it.
        confidence: their mean confidence.
        success_rate: their share of successes, with its 95 % Wilson interval.
    """

    upper: float
    count: int
    confidence: float
    success_rate: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class Estimate:
    """A value with its percentile interval over resampled episodes; NaN where there is none."""

    value: float
    lower: float
    upper: float


def expected_calibration_error(
    confidences: Any, outcomes: Any, bins: int = BINS, q: float = 1
) -> float:
    """ECE_q with bins of equal mass, in [0, 1]. VLA calibration, eq. 2.

    Args:
        confidences: (N,) in [0, 1].
        outcomes: (N,) booleans, or 0 and 1.
        bins: M; of fewer samples each is a bin.
        q: the norm: 1, 2, ...; infinity: the largest gap.

    Raises:
        ShapeError: no sample, or not as many outcomes as confidences.
        ValueRangeError: a confidence is not in [0, 1], an outcome not 0 or 1, bins or q below 1.
    """
    if not isinstance(q, (int, float, np.number)) or not q >= 1:
        raise ValueRangeError(f'q is {q!r}; a number of 1 or more is expected')
    samples, found = _binned(confidences, outcomes, bins)
    return float(samples.calibration_error(found, q)[0])


def maximum_calibration_error(confidences: Any, outcomes: Any, bins: int = BINS) -> float:
    """MCE: the largest gap between confidence and success rate of a bin, in [0, 1].

    Arguments and errors as of `expected_calibration_error`.
    """
    samples, found = _binned(confidences, outcomes, bins)
    return float(samples.largest_gap(found)[0])


def brier_score(confidences: Any, outcomes: Any) -> float:
    """Mean squared difference between confidence and outcome, in [0, 1].

    Arguments and errors as of `expected_calibration_error`.
    """
    return float(_samples(confidences, outcomes).brier()[0])


def brier_parts(confidences: Any, outcomes: Any, bins: int = BINS) -> BrierParts:
    """The Brier score and what it is made of (Murphy 1973, over the bins of ECE).

    Arguments and errors as of `expected_calibration_error`.
    """
    samples, found = _binned(confidences, outcomes, bins)
    parts = samples.brier(), samples.reliability(found), samples.resolution(found)
    score, reliability, resolution = (float(part[0]) for part in parts)
    uncertainty = float(samples.uncertainty[0])
    rest = score - (reliability - resolution + uncertainty)
    return BrierParts(score, reliability, resolution, uncertainty, rest)


def negative_log_likelihood(confidences: Any, outcomes: Any) -> float:
    """Mean of -log of the probability given to the outcome, nats; it is clipped at 1e-12.

    Arguments and errors as of `expected_calibration_error`.
    """
    return float(_samples(confidences, outcomes).log_loss()[0])


def failure_auroc(confidences: Any, outcomes: Any) -> float:
    """Probability that a failure has less confidence than a success; ties count half.

    Arguments and errors as of `expected_calibration_error`; NaN without failures or successes.
    """
    return float(_samples(confidences, outcomes).failure_auroc()[0])


def failure_auprc(confidences: Any, outcomes: Any) -> float:
    """Average precision of low confidence as a detector of failure; NaN without failures.

    Arguments and errors as of `expected_calibration_error`.
    """
    return float(_samples(confidences, outcomes).failure_auprc()[0])


def reliability_diagram(confidences: Any, outcomes: Any, bins: int = BINS) -> list[ReliabilityBin]:
    """The bins of ECE that hold samples.

    Arguments and errors as of `expected_calibration_error`.
    """
    found = _binned(confidences, outcomes, bins)[1]
    rows = zip(found.upper[0], found.weight[0], found.confidence[0], found.success[0])
    return [
        ReliabilityBin(
            float(upper), int(count), float(confidence / count), float(success / count),
            wilson_interval(success, count),
        )
        for upper, count, confidence, success in rows
        if count
    ]  # fmt: skip


# Name -> value of each resample, (R,).
STATISTICS: dict[str, Callable[[WeightedSamples, Bins], Array]] = {
    'ece_1': lambda samples, bins: samples.calibration_error(bins, 1),
    'ece_2': lambda samples, bins: samples.calibration_error(bins, 2),
    'mce': WeightedSamples.largest_gap,
    'brier': lambda samples, bins: samples.brier(),
    'reliability': WeightedSamples.reliability,
    'resolution': WeightedSamples.resolution,
    'uncertainty': lambda samples, bins: samples.uncertainty,
    'nll': lambda samples, bins: samples.log_loss(),
    'auroc': lambda samples, bins: samples.failure_auroc(),
    'auprc': lambda samples, bins: samples.failure_auprc(),
}

# Noise raises these above their true values, and that of a resample once more: percentiles of the
# resamples would lie above the truth. Their intervals are reflected at the value (the basic
# bootstrap, as in the paper's package), and reach up to the value.
RAISED_BY_NOISE = ('ece_1', 'ece_2', 'mce', 'reliability', 'resolution')
# Of these, those that are 0 of a calibrated policy. Reflection is too little there: their intervals
# begin at 0 unless the value is above what all but LEVEL / 2 of calibrated policies would show.
ZERO_IF_CALIBRATED = ('ece_1', 'ece_2', 'mce', 'reliability')
LEVEL = 0.05
_ROUNDING = 1e-9  # below which an error is 0


def calibration_metrics(
    confidences: Any,
    outcomes: Any,
    episodes: Any = None,
    bins: int = BINS,
    resamples: int = RESAMPLES,
    seed: int = 0,
    statistics: tuple[str, ...] = tuple(STATISTICS),
) -> dict[str, Estimate]:
    """All calibration metrics with 95 % intervals over resampled episodes.

    Args:
        confidences, outcomes, bins: as of `expected_calibration_error`.
        episodes: (N,) label of the episode of each sample: samples of one episode are drawn
            together; None: each sample is an episode.
        resamples: of the bootstrap; 0: no intervals.
        seed: of the bootstrap.
        statistics: names of STATISTICS.

    Returns:
        Name -> estimate. The interval holds percentiles of the resamples; of RAISED_BY_NOISE it is
        reflected at the value, and of ZERO_IF_CALIBRATED it begins at 0 where outcomes that are
        drawn with the confidences themselves have errors as large (those of an episode of several
        samples with their mean confidence). Resamples without a value, such as the AUROC of
        successes alone, are left out; if they are more than 5 %, the interval is NaN, as it is
        where all have one value, such as the AUROC of outcomes that the confidences separate, and
        of RAISED_BY_NOISE where the value is 0.

    Raises:
        ShapeError: as of `expected_calibration_error`.
        ValueRangeError: likewise, or an unknown statistic, or a negative number of resamples.
    """
    if unknown := set(statistics) - set(STATISTICS):
        raise ValueRangeError(f'no statistic is called {min(unknown)!r}: {", ".join(STATISTICS)}')
    if resamples < 0:
        raise ValueRangeError(f'{resamples} resamples; 0 or more are expected')
    values = as_confidences(confidences)
    successes = as_outcomes(outcomes, len(values))
    owner = as_episodes(episodes, len(values))
    plain = WeightedSamples(values, successes)
    points = _statistics(plain, bins, statistics)
    drawn = episode_resamples(int(owner.max()) + 1, resamples, seed)
    rows = max(1, _BLOCK // len(values))
    blocks = [
        _statistics(WeightedSamples(values, successes, part[:, owner]), bins, statistics)
        for part in np.split(drawn, range(rows, resamples, rows))
        if len(part)
    ]
    drawn_values = {name: [block[name] for block in blocks] for name in statistics}
    found = {
        name: _estimate(name, float(points[name][0]), drawn_values[name]) for name in statistics
    }
    if resamples:
        drawn_bins = _calibrated_bins(plain.bins(bins), values, owner, resamples, seed)
        for name in set(statistics) & set(ZERO_IF_CALIBRATED):
            found[name] = _from_zero(found[name], STATISTICS[name](plain, drawn_bins))
    return found


def _from_zero(found: Estimate, of_calibrated: Array) -> Estimate:
    """Returns the estimate, whose interval begins at 0 unless errors of calibrated policies are
    smaller.
    """
    is_larger = found.value > float(np.quantile(of_calibrated, 1.0 - LEVEL / 2.0))
    return found if is_larger or math.isnan(found.lower) else replace(found, lower=0.0)


def _calibrated_bins(
    found: Bins, values: Array, owner: NDArray[np.intp], resamples: int, seed: int
) -> Bins:
    """Returns the bins of the same confidences, (R, M), with outcomes as of a calibrated policy."""
    chances = np.bincount(owner, values) / np.bincount(owner)
    hits = np.random.default_rng([seed, 1]).random((resamples, len(chances))) < chances
    counts = np.zeros((len(chances), found.upper.shape[1]))
    np.add.at(counts, (owner, np.searchsorted(found.upper[0], values)), 1.0)
    return replace(found, success=hits.astype(np.float64) @ counts)


def _statistics(samples: WeightedSamples, bins: int, names: tuple[str, ...]) -> dict[str, Array]:
    found = samples.bins(checked_count(bins, 'bins', 1))
    return {name: STATISTICS[name](samples, found) for name in names}


def _estimate(name: str, value: float, blocks: list[Array]) -> Estimate:
    values = np.concatenate(blocks) if blocks else np.zeros(0)
    known = values[np.isfinite(values)]
    if not len(known) or len(known) < _LEAST_KNOWN * len(values) or are_equal(known):
        return Estimate(value, NAN, NAN)
    lower, upper = map(float, np.percentile(known, (2.5, 97.5)))
    if name in RAISED_BY_NOISE:
        lower, upper = max(0.0, 2.0 * value - upper), max(value, 2.0 * value - lower)
        if upper < _ROUNDING:  # of a value of 0, which not all resamples have
            return Estimate(value, NAN, NAN)
    return Estimate(value, lower, upper)


def _samples(confidences: Any, outcomes: Any) -> WeightedSamples:
    values = as_confidences(confidences)
    return WeightedSamples(values, as_outcomes(outcomes, len(values)))


def _binned(confidences: Any, outcomes: Any, bins: int) -> tuple[WeightedSamples, Bins]:
    samples = _samples(confidences, outcomes)
    return samples, samples.bins(checked_count(bins, 'bins', 1))
