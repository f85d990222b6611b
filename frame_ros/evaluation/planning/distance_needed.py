# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Number of episodes with which the macro-averaged KS test finds a distance stated beforehand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from frame_ros.core.errors import ValueRangeError
from frame_ros.evaluation.planning.bridge import POINTS, BridgeModel, Drift, drifts_of
from frame_ros.evaluation.planning.design_effect import correlation_effect
from frame_ros.evaluation.planning.detection import ALPHA, TARGET
from frame_ros.evaluation.survival.samples import TAU

# Bridges of all objects together, and the fewest of one, by which a number is known to a percent or
# two, also at a level that several pairs share.
SIMULATIONS, FEWEST = 8000, 2000


def episodes_for_distance(
    a: Mapping[str, Any],
    b: Mapping[str, Any],
    distance: float,
    tau: float = TAU,
    power: float = TARGET,
    alpha: float = ALPHA,
) -> int | None:
    """Returns the episodes of each policy and object with which the macro-averaged KS test finds a
    distance of the CDFs on every object, by Brownian bridges. PhAIL, appendix H.

    Of the data it takes how many operations an episode has and how alike they are, not their
    outcomes, nor for how long the CDFs are apart: the difference is taken to be the one that is
    hardest to find. It grows to the distance at F = 1/2, where noise is largest, and falls again as
    steeply as it can: while the one policy does what the other does not. One that lasts is found
    with more power. Distances of n episodes each are multiples of 1/n, of which the next above the
    critical value decides: 1/distance episodes are added, by which that step is half made up for.

    Args:
        a, b: object -> Cell, or (times, events) with each operation as an episode of its own.
        distance: in (0, 1).
        tau: s.
        power, alpha: of the test.

    Returns:
        None if more than a million would be needed.

    Raises:
        ShapeError: the policies share no object.
        ValueRangeError: as `drifts_of`, or an argument is out of range.
    """
    if not 0.0 < distance < 1.0:
        raise ValueRangeError(f'distance is {distance}; a value between 0 and 1 is expected')
    drifts = drifts_of(a, b, tau)
    operations = sorted(round(drift.operations, 3) for drift in drifts.values())
    effective = _effective(tuple(operations), distance, power, alpha)
    own = [cells[name] for cells in (a, b) for name in drifts]
    needed = effective * correlation_effect(own, tau).value + 1.0 / distance
    return max(2, math.ceil(needed)) if math.isfinite(needed) else None


@lru_cache(maxsize=256)
def _effective(operations: tuple[float, ...], distance: float, power: float, alpha: float) -> float:
    """Returns the number where operations of an episode are independent."""
    ends = [0.5 - 0.5 * distance, 0.5 + 0.5 * distance]
    levels = np.union1d(np.linspace(0.0, 1.0, POINTS + 1), ends)
    differences = np.maximum(distance - 2.0 * np.abs(levels - 0.5), 0.0)
    drifts = {f'{i}': Drift(levels, differences, each) for i, each in enumerate(operations)}
    simulations = max(FEWEST, SIMULATIONS // len(drifts))
    return BridgeModel(drifts, alpha, simulations).episodes(power)
