# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The Kaplan-Meier estimate of the time-to-success CDF, and the scalars that are read from it.

A hard failure (a ghost) is an event at infinity: at risk at every finite time, so that F stays
below 1. A censored operation is at risk at its own time: it is censored just after the successes at
that time. S stays flat after the last time. PhAIL, sections 3.1, 3.2 and appendix L.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ValueRangeError
from frame_ros.evaluation.survival.cell import Cell
from frame_ros.evaluation.survival.samples import TAU, as_cell, checked_tau

Array = NDArray[np.float64]
# A quantile counts as reached within rounding: 3/4 * 2/3 misses 1/2 by a bit.
ROUNDING = 1e-12
# Variants of units per hour.
RESTRICTED, COMPLETED = 'restricted', 'completed'


@dataclass(frozen=True)
class KaplanMeier:
    """An estimate of F(t) = P(T <= t).

    Attributes:
        times: (k,) s, distinct finite times at which something was done, ascending.
        survival: (k,) S = 1 - F from each of them on.
        at_risk: (k,) operations at risk just before each.
        done: (k,) operations done at each.
        censored_times: (c,) s, ascending.
        count: operations.
        ghosts: hard failures among them.
    """

    times: Array
    survival: Array
    at_risk: NDArray[np.intp]
    done: NDArray[np.intp]
    censored_times: Array
    count: int
    ghosts: int = field(default=0)

    def cdf(self, t: Any) -> Any:
        """Returns F(t) for t of any shape, in s; a float for a scalar. At infinity: the asymptote
        of F over finite times.

        Raises:
            ValueRangeError: t is NaN.
        """
        found = 1.0 - self.survival_at(t)
        return found if np.ndim(t) else float(found)

    def survival_at(self, t: Any, is_before: bool = False) -> Any:
        """Returns S(t) for t of any shape, in s; is_before: its limit from the left.

        Raises:
            ValueRangeError: t is NaN.
        """
        when = np.asarray(t, dtype=np.float64)
        if np.isnan(when).any():
            raise ValueRangeError('t is NaN; a time in s is expected')
        places = np.searchsorted(self.times, when, 'left' if is_before else 'right')
        return np.concatenate([[1.0], self.survival])[places]

    def quantile(self, q: Any) -> Any:
        """Returns inf{t: F(t) >= q} in s for shares q of any shape; infinite where F stays below.

        Raises:
            ValueRangeError: a share is not in (0, 1].
        """
        share = np.asarray(q, dtype=np.float64)
        if not ((share > 0.0) & (share <= 1.0)).all():
            raise ValueRangeError(f'a quantile of {q} is asked for; a share in (0, 1] is expected')
        # S descends; the first place at which it is at most 1 - q.
        places = np.searchsorted(-self.survival, -(1.0 - share + ROUNDING), 'left')
        found = np.concatenate([self.times, [math.inf]])[places]
        return found if np.ndim(q) else float(found)

    @property
    def median(self) -> float:
        """inf{t: F(t) >= 1/2} in s; infinite if F stays below."""
        return float(self.quantile(0.5))

    @property
    def asymptote(self) -> float:
        """F after the last time; without censoring 1 less the share of hard failures."""
        return float(1.0 - self.survival[-1]) if len(self.times) else 0.0

    def restricted_mean(self, tau: float = TAU) -> float:
        """RMST(tau) = integral of 1 - F over [0, tau] in s; a hard failure counts as tau.

        Raises:
            ValueRangeError: tau is not positive and finite.
        """
        tau = checked_tau(tau)
        until = self.times[self.times <= tau]
        edges = np.concatenate([[0.0], until, [tau]])
        return float(np.concatenate([[1.0], self.survival[: len(until)]]) @ np.diff(edges))

    def units_per_hour(self, tau: float = TAU, variant: str = RESTRICTED) -> float:
        """Returns 'restricted': 3600 / RMST(tau), in which hard failures and slow operations count
        as tau; or 'completed': 3600 / E[T | T < tau], the pace of those that were done, NaN if none
        was.

        Raises:
            ValueRangeError: an unknown variant, or tau is not positive and finite.
        """
        if variant not in (RESTRICTED, COMPLETED):
            raise ValueRangeError(
                f'the variant of units per hour is {variant!r}; expected: {RESTRICTED}, {COMPLETED}'
            )
        rmst, before = self.restricted_mean(tau), 1.0 - float(self.survival_at(tau, True))
        return float(units_per_hour_of(rmst, before, tau, variant))

    def mtbf_a(self, tau: float = TAU) -> float:
        """Mean time between failures or assists in s: RMST(tau) / (1 - F(tau)); infinite if all
        are done by tau.

        Raises:
            ValueRangeError: tau is not positive and finite.
        """
        return float(mtbf_a_of(self.restricted_mean(tau), self.cdf(tau)))


def units_per_hour_of(rmst: Any, before_tau: Any, tau: float, variant: str = RESTRICTED) -> Array:
    """Returns units per hour of RMST in s and of F before tau, of any one shape."""
    rmst, before = np.asarray(rmst, np.float64), np.asarray(before_tau, np.float64)
    with np.errstate(divide='ignore', invalid='ignore'):
        if variant == RESTRICTED:
            return np.asarray(3600.0 / rmst)
        # The integral of t dF over [0, tau) is RMST - tau S(tau-).
        mean = (rmst - tau * (1.0 - before)) / before
        return np.where(before > 0.0, 3600.0 / mean, np.nan)


def mtbf_a_of(rmst: Any, completion: Any) -> Array:
    """Returns RMST / (1 - F(tau)) in s; infinite where F(tau) is 1."""
    with np.errstate(divide='ignore', invalid='ignore'):
        alive = 1.0 - np.asarray(completion, np.float64)
        return np.where(alive > ROUNDING, np.asarray(rmst) / alive, np.inf)


def kaplan_meier(times: Any, events: Any) -> KaplanMeier:
    """Kaplan-Meier estimate. Kaplan and Meier 1958; PhAIL, section 3.1.

    Args:
        times: (n,) s, 0 or more; infinite for a hard failure.
        events: (n,) 1: done (also a hard failure), 0: censored.

    Raises:
        ShapeError: another shape, or nothing in them.
        ValueRangeError: a time is negative or NaN, or an infinite one is no event.
    """
    return curve_of(as_cell((times, events)))


def curve_of(cell: Cell) -> KaplanMeier:
    """Returns the estimate of a checked cell."""
    times, events, _ = cell
    is_success = events & np.isfinite(times)
    distinct, done = np.unique(times[is_success], return_counts=True)
    at_risk = np.asarray(len(times) - np.searchsorted(np.sort(times), distinct, 'left'))
    return KaplanMeier(
        distinct,
        np.cumprod((at_risk - done) / at_risk),
        at_risk,
        done,
        np.sort(times[~events]),
        len(times),
        int(np.isinf(times).sum()),
    )


def restricted_mean(times: Any, events: Any, tau: float = TAU) -> float:
    """RMST(tau) in s, the integral of 1 - F over [0, tau]. PhAIL, table 1.

    Raises:
        ShapeError, ValueRangeError: as `kaplan_meier`, or tau is not positive and finite.
    """
    return kaplan_meier(times, events).restricted_mean(tau)


def completion_fraction(times: Any, events: Any, tau: float = TAU) -> float:
    """F(tau), the share of operations done by tau. PhAIL, table 1.

    Raises:
        ShapeError, ValueRangeError: as `kaplan_meier`, or tau is not positive.
    """
    return float(kaplan_meier(times, events).cdf(checked_tau(tau, may_be_infinite=True)))


def success_at(times: Any, events: Any, t: Any) -> Any:
    """Success rate at t: F(t), for t of any shape in s. PhAIL, table 1.

    Raises:
        ShapeError, ValueRangeError: as `kaplan_meier`, or t is NaN.
    """
    return kaplan_meier(times, events).cdf(t)


def units_per_hour(times: Any, events: Any, tau: float = TAU, variant: str = RESTRICTED) -> float:
    """Units per hour. PhAIL, table 1; the variants: `KaplanMeier.units_per_hour`.

    Raises:
        ShapeError, ValueRangeError: as `kaplan_meier`, or tau is not positive and finite, or an
            unknown variant.
    """
    return kaplan_meier(times, events).units_per_hour(tau, variant)


def mtbf_a(times: Any, events: Any, tau: float = TAU) -> float:
    """Mean time between failures or assists in s: RMST(tau) / (1 - F(tau)). PhAIL, table 1.

    Raises:
        ShapeError, ValueRangeError: as `kaplan_meier`, or tau is not positive and finite.
    """
    return kaplan_meier(times, events).mtbf_a(tau)
