# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Power of the macro-averaged KS test by simulated Brownian bridges with drift. PhAIL, appendix H,
steps 2, 4 and 5.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.evaluation.survival.kaplan_meier import kaplan_meier
from frame_ros.evaluation.survival.samples import TAU, as_cell, checked_tau, objects_of

Array = NDArray[np.float64]
SIMULATIONS = 4000
# Points of a bridge. The largest values between them are drawn from their distribution.
POINTS = 48
# Effective numbers of episodes between which power is sought.
FEWEST, MOST = 0.25, 1e6


class Drift(NamedTuple):
    """The difference of two CDFs on one object, as the model takes it.

    Attributes:
        levels: (G,) ascending from 0: F of both policies together.
        differences: (G,) F_a - F_b at these levels.
        operations: of an episode: the harmonic mean of both policies' means, halved: n episodes of
            each with so many independent operations make n * operations the square of the factor of
            the difference.
    """

    levels: Array
    differences: Array
    operations: float


def drift_of(a: Any, b: Any, tau: float = TAU, points: int = POINTS) -> Drift:
    """Returns the drift of two cells of one object, by their Kaplan-Meier estimates up to tau.

    Args:
        a, b: Cell, or (times, events) with each operation as an episode of its own.
        tau: s, finite.
        points: G.

    Raises:
        ShapeError, ValueRangeError: as `kaplan_meier`, or tau is not positive and finite.
    """
    tau, first, second = checked_tau(tau), as_cell(a, 'a'), as_cell(b, 'b')
    curves = kaplan_meier(first.times, first.events), kaplan_meier(second.times, second.events)
    times = np.union1d(curves[0].times, curves[1].times)
    times = np.concatenate([[0.0], times[(times <= tau) & (times > 0.0)]])
    of_a, of_b = (np.asarray(curve.cdf(times)) for curve in curves)
    together, differences = (of_a + of_b) / 2.0, of_a - of_b
    # The largest difference is kept, whichever points are taken.
    chosen = np.searchsorted(together, np.linspace(0.0, together[-1], points))
    places = np.union1d(chosen, [0, int(np.argmax(np.abs(differences)))])
    means = [len(each.times) / (int(each.episodes[-1]) + 1) for each in (first, second)]
    operations = 1.0 / sum(1.0 / mean for mean in means)
    return Drift(together[places], differences[places], operations)


def drifts_of(a: Mapping[str, Any], b: Mapping[str, Any], tau: float = TAU) -> dict[str, Drift]:
    """Returns the drift of each object that both policies have.

    Raises:
        ShapeError: no object is of both.
        ValueRangeError: as `drift_of`.
    """
    shared = objects_of(a, b).shared
    if not shared:
        raise ShapeError('the policies share no object; at least one is expected')
    return {name: drift_of(a[name], b[name], tau) for name in shared}


class Bridges:
    """Standard Brownian bridges at some levels, with the largest values between them.

    Between two levels a Brownian bridge with linear drift is a bridge again, whatever the drift, so
    its maximum has a known distribution: with ends x and y over a step h it is
    (x + y + sqrt((x - y)^2 - 2 h log U)) / 2, U uniform. So a coarse grid does not miss the peaks.
    """

    def __init__(self, levels: Any, simulations: int, random: np.random.Generator) -> None:
        """Draws them.

        Args:
            levels: (G,) ascending within [0, 1].
            simulations: S.

        Raises:
            ShapeError: fewer than one level.
            ValueRangeError: levels that are not ascending within [0, 1].
        """
        grid = np.asarray(levels, dtype=np.float64)
        if grid.ndim != 1 or not len(grid):
            raise ShapeError(f'levels have shape {grid.shape}; (G,) is expected')
        steps = np.diff(grid, prepend=0.0)
        if not ((steps >= 0.0).all() and grid[-1] <= 1.0 + 1e-12):
            raise ValueRangeError('levels are not ascending from 0 to 1')
        noise = random.standard_normal((simulations, len(grid))) * np.sqrt(steps)
        walks = np.cumsum(noise, axis=1)
        rest = random.standard_normal(simulations) * math.sqrt(max(1.0 - grid[-1], 0.0))
        self.values: Array = walks - grid * (walks[:, -1] + rest)[:, None]
        # -2 h log U of each step, for the maximum and the minimum.
        self._peaks = [
            2.0 * steps[1:] * random.standard_exponential((simulations, len(grid) - 1))
            for _ in range(2)
        ]

    def suprema(self, drift: Any = 0.0) -> Array:
        """Returns (S,) sup |B + drift|; drift: (G,), linear between the levels."""
        paths = self.values + drift
        before, after = paths[:, :-1], paths[:, 1:]
        squares = (after - before) ** 2
        sums = before + after
        above = sums + np.sqrt(squares + self._peaks[0])
        below = np.sqrt(squares + self._peaks[1]) - sums
        inner = np.maximum(above, below).max(axis=1, initial=0.0) / 2.0
        return np.asarray(np.maximum(inner, np.abs(paths).max(axis=1)))


@dataclass(frozen=True)
class BridgeModel:
    """The macro-averaged KS test of two policies, as bridges. Numbers of episodes are per object
    and policy, and effective: divided by the design effect.

    Attributes:
        drifts: object -> the difference there.
        alpha: level of the test.
        simulations: of each object.
        seed: of the simulations; all numbers of episodes share them.
    """

    drifts: Mapping[str, Drift]
    alpha: float = 0.05
    simulations: int = SIMULATIONS
    seed: int = 0

    @cached_property
    def _bridges(self) -> list[tuple[Drift, Bridges]]:
        random = np.random.default_rng(self.seed)
        return [
            (drift, Bridges(np.minimum(drift.levels, 1.0), self.simulations, random))
            for drift in self.drifts.values()
        ]

    @cached_property
    def _critical(self) -> float:
        """Of the macro-averaged distance of one effective episode; it falls with their root."""
        sums = [bridges.suprema() / math.sqrt(d.operations) for d, bridges in self._bridges]
        return float(np.quantile(np.mean(sums, axis=0), 1.0 - self.alpha))

    @property
    def distance(self) -> float:
        """The macro-averaged KS distance of the drifts."""
        return float(np.mean([np.abs(each.differences).max() for each in self.drifts.values()]))

    def power(self, episodes: float) -> float:
        """Returns the share of simulations that exceed the critical value, which comes from the
        same bridges without drift. Equation of step 5.

        Raises:
            ValueRangeError: not a positive number of episodes.
        """
        if not (math.isfinite(episodes) and episodes > 0.0):
            raise ValueRangeError(f'{episodes} episodes; a positive number is expected')
        macro = []
        for drift, bridges in self._bridges:
            factor = math.sqrt(episodes * drift.operations)
            macro.append(bridges.suprema(factor * drift.differences) / factor)
        exceeds = np.mean(macro, axis=0) > self._critical / math.sqrt(episodes)
        return float(exceeds.mean())

    def episodes(self, power: float = 0.8) -> float:
        """Returns the effective number of episodes that reaches a power, within 0.1 %; infinite
        without a difference, or where more than a million would be needed.

        Raises:
            ValueRangeError: power is not between alpha and 1.
        """
        if not self.alpha < power < 1.0:
            raise ValueRangeError(f'power is {power}; {self.alpha:g} to 1 is expected')
        low, high = FEWEST, 1.0
        if not self.distance > 0.0:
            return math.inf
        while self.power(high) < power:
            low, high = high, 2.0 * high
            if high > MOST:
                return math.inf
        while high / low > 1.001:
            middle = math.sqrt(low * high)
            low, high = (low, middle) if self.power(middle) >= power else (middle, high)
        return high
