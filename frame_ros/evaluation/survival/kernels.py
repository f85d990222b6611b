# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Loops over resamples of episodes: Kaplan-Meier curves and what is read from them.

A resample is a row of numbers of episodes, with repetitions. The operations are sorted by time
once; a resample only weights them by the number of times that their episode was drawn. Successes
at one time are taken one after the other: (n - 1) / n times (n - 2) / (n - 1) is (n - 2) / n. Each
row is computed in the same order of operations whoever asks, so threads cannot change a bit of it.

Compiled by numba; without it the same loops run as they are, some hundred times slower.
"""

from __future__ import annotations

from typing import Any

from frame_ros.core.compiled import compiled

# As in kaplan_meier.py, which a compiled module may not import from.
ROUNDING = 1e-12


def _count(draw: Any, sizes: Any, weights: Any) -> float:
    """Sets how often each episode was drawn, (E,); returns the operations at risk."""
    weights[:] = 0.0
    at_risk = 0.0
    for episode in draw:
        weights[episode] += 1.0
        at_risk += sizes[episode]
    return at_risk


_weigh = compiled(_count)


def _two_arms(operations: Any, first: Any, second: Any, tau: float, weights: Any, out: Any) -> None:
    """Statistics of two arms per resample.

    Args:
        operations: times, events, episodes, lasts (m,) of those up to tau by time; sizes (E,) of
            the episodes, with those after tau and ghosts.
        first, second: (B, n), (B, m) numbers of episodes in the arms.
        weights: (2, E) room to work in.
        out: (B, 4) receives sup |F_a - F_b|, RMST_a - RMST_b, F_a(tau) - F_b(tau),
            P(T_a < T_b) with ties and mass beyond tau counted half.
    """
    times, events, episodes, lasts, sizes = operations
    for row in range(first.shape[0]):
        at_risk_a = _weigh(first[row], sizes, weights[0])
        at_risk_b = _weigh(second[row], sizes, weights[1])
        alive_a = alive_b = start_a = start_b = 1.0
        area_a = area_b = largest = faster = before = 0.0
        for place in range(times.shape[0]):
            weight_a = weights[0, episodes[place]]
            weight_b = weights[1, episodes[place]]
            if events[place]:
                width = times[place] - before
                before = times[place]
                area_a += alive_a * width
                area_b += alive_b * width
                # Without a branch, which is dearer than a division; of none at risk none is done.
                some_a, some_b = max(at_risk_a, 1.0), max(at_risk_b, 1.0)
                alive_a *= (some_a - weight_a) / some_a
                alive_b *= (some_b - weight_b) / some_b
                if lasts[place]:
                    largest = max(largest, abs(alive_a - alive_b))
                    faster += (start_a - alive_a) * (0.5 * (start_b + alive_b))
                    start_a, start_b = alive_a, alive_b
            at_risk_a -= weight_a
            at_risk_b -= weight_b
        area_a += alive_a * (tau - before)
        area_b += alive_b * (tau - before)
        out[row, 0] = largest
        out[row, 1] = area_a - area_b
        out[row, 2] = alive_b - alive_a
        out[row, 3] = faster + 0.5 * alive_a * alive_b


def _one_arm(operations: Any, draws: Any, tau: float, grid: Any, weights: Any, out: Any) -> None:
    """Statistics of one arm per resample.

    Args:
        operations: times, events, episodes, lasts (m,) of all but ghosts by time; sizes (E,) of
            the episodes, with ghosts.
        draws: (B, n) numbers of episodes.
        grid: (K,) s, not decreasing.
        weights: (E,) room to work in.
        out: (B, 4 + K) receives RMST(tau), F(tau), F before tau, the median (infinite if F does not
            reach 1/2), F at each time of the grid.
    """
    times, events, episodes, lasts, sizes = operations
    for row in range(draws.shape[0]):
        at_risk = _weigh(draws[row], sizes, weights)
        alive = at_tau = before_tau = 1.0
        area = before = 0.0
        median = float('inf')
        point = 0
        for place in range(times.shape[0]):
            weight = weights[episodes[place]]
            if events[place]:
                now = times[place]
                while point < grid.shape[0] and grid[point] < now:
                    out[row, 4 + point] = 1.0 - alive
                    point += 1
                if now <= tau:
                    area += alive * (now - before)
                    before = now
                some = max(at_risk, 1.0)
                alive *= (some - weight) / some
                if now <= tau:
                    at_tau = alive
                if now < tau:
                    before_tau = alive
                if alive <= 0.5 + ROUNDING and median == float('inf'):
                    median = now
            at_risk -= weight
        while point < grid.shape[0]:
            out[row, 4 + point] = 1.0 - alive
            point += 1
        out[row, 0] = area + at_tau * (tau - before)
        out[row, 1] = 1.0 - at_tau
        out[row, 2] = 1.0 - before_tau
        out[row, 3] = median


two_arms = compiled(_two_arms)
one_arm = compiled(_one_arm)
