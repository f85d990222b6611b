# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Calibration of one sample, or of many resamples of it at once, by weights.

A resample draws each sample a whole number of times. Sorted once, every statistic of R resamples of
N samples then follows from cumulative sums over (R, N) weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
NAN = float('nan')
CLIP = 1e-12  # least probability in the negative log-likelihood


@dataclass(frozen=True)
class Bins:
    """Sums over M equal-mass bins of each resample, (R, M); a merged bin has weight 0.

    Attributes:
        weight: number of samples.
        confidence: sum of their confidences.
        success: number of successes.
        upper: upper edge, the last 1.
    """

    weight: Array
    confidence: Array
    success: Array
    upper: Array

    @property
    def gaps(self) -> Array:
        """Success rate less mean confidence, (R, M); 0 in bins without weight."""
        return _ratio(self.success - self.confidence, self.weight, 0.0)


class WeightedSamples:
    """N confidences and outcomes, in R resamples.

    Args:
        confidences: (N,) in [0, 1].
        outcomes: (N,) 0.0 or 1.0.
        weights: (R, N) times that each sample was drawn, at least one per row; None: once each.
    """

    def __init__(
        self, confidences: Array, outcomes: Array, weights: NDArray[np.int64] | None = None
    ) -> None:
        order = np.argsort(confidences, kind='stable')
        self._values, self._outcomes = confidences[order], outcomes[order]
        count = len(confidences)
        chosen = np.ones((1, count)) if weights is None else weights[:, order].astype(np.float64)
        self._weights = chosen
        self._cumulated = np.zeros((len(chosen), count + 1))
        np.cumsum(chosen, axis=1, out=self._cumulated[:, 1:])

    @property
    def total(self) -> Array:
        """Samples of each resample, (R,)."""
        return self._cumulated[:, -1]

    def bins(self, count: int) -> Bins:
        """Cuts each resample into `count` bins of equal mass.

        The sorted values are cut as `numpy.array_split` cuts; edges are the midpoints between
        neighbouring parts; a value belongs to the first edge that is not below it. There are no
        more bins than samples.
        """
        count = min(count, int(self.total.max()))
        parts = np.minimum(self.total, count)[:, None]
        size, larger = np.divmod(self.total[:, None], parts)
        numbers = np.arange(1, count)[None]
        # Beyond the parts of a small resample every cut is its end, so that the bins are empty.
        cuts = np.minimum(numbers * size + np.minimum(numbers, larger), self.total[:, None])
        below = self._values[self._places(cuts - 1)]
        above = self._values[self._places(np.minimum(cuts, self.total[:, None] - 1))]
        edges = np.where(cuts < self.total[:, None], 0.5 * (below + above), 1.0)
        edges = np.concatenate([edges, np.ones((len(edges), 1))], axis=1)
        ends = np.searchsorted(self._values, edges, side='right')
        weight, confidence, success = (
            np.diff(np.take_along_axis(sums, ends, axis=1), axis=1, prepend=0.0)
            for sums in (self._cumulated, self._confidence_sums, self._success_sums)
        )
        return Bins(weight, confidence, success, edges)

    def _places(self, ranks: Array) -> NDArray[np.intp]:
        """Returns the sorted places of the drawn samples of these ranks from 0, (R, K)."""
        rows, count = self._weights.shape
        # One search over all rows: each is lifted above the row before it.
        lift = (self.total.max() + 1.0) * np.arange(rows)[:, None]
        lifted = (self._cumulated[:, 1:] + lift).ravel()
        found = np.searchsorted(lifted, (ranks + lift).ravel(), side='right')
        return found.reshape(ranks.shape) - count * np.arange(rows)[:, None]

    @cached_property
    def _confidence_sums(self) -> Array:
        return self._sums(self._values)

    @cached_property
    def _success_sums(self) -> Array:
        return self._sums(self._outcomes)

    def _sums(self, values: Array) -> Array:
        sums = np.zeros(self._cumulated.shape)
        np.cumsum(self._weights * values, axis=1, out=sums[:, 1:])
        return sums

    def calibration_error(self, bins: Bins, q: float) -> Array:
        """ECE_q, (R,)."""
        # In units of the largest gap, whose power does not vanish however large q is.
        largest = self.largest_gap(bins)
        if q == math.inf:
            return largest
        shares, gaps = bins.weight / self.total[:, None], np.abs(bins.gaps)
        parts = _ratio(gaps, np.broadcast_to(largest[:, None], gaps.shape), 0.0)
        return largest * (shares * parts**q).sum(axis=1) ** (1.0 / q)

    def largest_gap(self, bins: Bins) -> Array:
        """MCE, (R,)."""
        return np.abs(bins.gaps).max(axis=1)

    def brier(self) -> Array:
        """Brier score, (R,)."""
        return self._weights @ (self._values - self._outcomes) ** 2 / self.total

    def log_loss(self) -> Array:
        """Negative log-likelihood, (R,), nats."""
        found = np.where(self._outcomes > 0.0, self._values, 1.0 - self._values)
        return self._weights @ -np.log(np.maximum(found, CLIP)) / self.total

    def reliability(self, bins: Bins) -> Array:
        """Mean squared gap of the bins, (R,)."""
        return (bins.weight * bins.gaps**2).sum(axis=1) / self.total

    def resolution(self, bins: Bins) -> Array:
        """Variance of the bins' success rates, (R,)."""
        rates = _ratio(bins.success, bins.weight, 0.0) - self.success_rate[:, None]
        return (bins.weight * rates**2).sum(axis=1) / self.total

    @property
    def success_rate(self) -> Array:
        """Share of successes, (R,)."""
        return self._success_sums[:, -1] / self.total

    @property
    def uncertainty(self) -> Array:
        """Variance of the outcome, (R,)."""
        return self.success_rate * (1.0 - self.success_rate)

    def failure_auroc(self) -> Array:
        """Probability that a failure has less confidence than a success, ties half, (R,)."""
        failures, successes = self._steps
        above = successes[:, -1:] - successes[:, 1:]
        here = np.diff(failures, axis=1) * (above + 0.5 * np.diff(successes, axis=1))
        return _ratio(here.sum(axis=1), failures[:, -1] * successes[:, -1], NAN)

    def failure_auprc(self) -> Array:
        """Average precision of low confidence as a detector of failure, (R,)."""
        failures, successes = self._steps
        precision = _ratio(failures[:, 1:], failures[:, 1:] + successes[:, 1:], 0.0)
        found = (np.diff(failures, axis=1) * precision).sum(axis=1)
        return _ratio(found, failures[:, -1], NAN)

    @cached_property
    def _steps(self) -> tuple[Array, Array]:
        """Failures and successes up to the end of each run of equal confidences, (R, U + 1)."""
        is_end = np.append(np.diff(self._values) > 0.0, True)
        ends = np.concatenate([[0], np.flatnonzero(is_end) + 1])
        successes = self._success_sums[:, ends]
        return self._cumulated[:, ends] - successes, successes


def _ratio(numerator: Array, denominator: Array, otherwise: float) -> Array:
    """Returns the quotient; `otherwise` where the denominator is 0."""
    is_some = denominator > 0.0
    return np.where(is_some, numerator / np.where(is_some, denominator, 1.0), otherwise)
