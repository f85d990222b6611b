# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Intervals for the difference of two success rates that hold after every pair at once.

The hedged capital process of Waudby-Smith and Ramdas (2024), Estimating means of bounded random
variables by betting, JRSS B 86, 1-27, theorem 3 with the predictable plug-in bets of its equation
(26), on (difference of the outcomes of a pair + 1) / 2.
"""

from __future__ import annotations

from math import log, log1p
from typing import Any

import numpy as np

from frame_ros.core.errors import ValueRangeError

# Candidates for the mean in [0, 1], ends included: differences 0.001 apart.
CANDIDATES = np.linspace(0, 1, 2001)
SPACING = float(CANDIDATES[1])
# Largest share of the capital that is bet.
LARGEST_BET = 0.5


def checked_outcome(outcome: Any) -> bool:
    """Returns an outcome; raises ValueRangeError unless it is True or False (1 or 0)."""
    if outcome not in (0, 1):
        raise ValueRangeError(f'an outcome is {outcome!r}; true or false is expected')
    return bool(outcome)


class DifferenceSequence:
    """The success rate of the first policy minus that of the second, over pairs.

    With probability 1 - alpha the intervals after all pairs, for ever, hold the difference.
    Outcomes within a pair may depend on each other; the expected difference must be the same in
    each pair, given those before.

    Attributes:
        lower, upper: the interval after the pairs so far; never wider than before.

    Raises:
        ValueRangeError: alpha is not between 0 and 1.
    """

    def __init__(self, alpha: float = 0.05) -> None:
        if not 0 < alpha < 1:
            raise ValueRangeError(f'alpha is {alpha}; a value between 0 and 1 is expected')
        self._alpha = alpha
        self._pairs, self._sum, self._squares = 0, 0.5, 0.25
        self._logs = np.zeros((2, len(CANDIDATES)))
        self._possible = np.ones(len(CANDIDATES), bool)
        self.lower, self.upper = -1.0, 1.0

    def update(self, first: bool, second: bool) -> tuple[float, float]:
        """Returns (lower, upper) after another pair.

        Raises:
            ValueRangeError: an outcome is neither True nor False. Nothing has changed then.
        """
        value = (checked_outcome(first) - checked_outcome(second) + 1) / 2
        self._pairs += 1
        n = self._pairs
        # The bet is made before the value is seen.
        bet = np.sqrt(2 * log(2 / self._alpha) / (self._squares * log1p(n)))
        with np.errstate(divide='ignore'):
            up = np.minimum(bet, LARGEST_BET / CANDIDATES)
            down = np.minimum(bet, LARGEST_BET / (1 - CANDIDATES))
        self._logs[0] += np.log1p(up * (value - CANDIDATES))
        self._logs[1] += np.log1p(-down * (value - CANDIDATES))
        # Half of the capital is bet on either side.
        self._possible &= self._logs.max(axis=0) < log(2 / self._alpha)
        self._sum += value
        self._squares += (value - self._sum / (n + 1)) ** 2
        places = np.flatnonzero(self._possible)
        if len(places):
            self.lower = max(2 * (float(CANDIDATES[places[0]]) - SPACING) - 1, self.lower)
            self.upper = min(2 * (float(CANDIDATES[places[-1]]) + SPACING) - 1, self.upper)
        return self.lower, self.upper
