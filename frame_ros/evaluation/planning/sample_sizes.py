# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Sample sizes of binary outcomes by formula: an interval of one rate, a paired difference."""

from __future__ import annotations

from math import ceil, isfinite, sqrt
from statistics import NormalDist

import numpy as np

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.plain_text import counted
from frame_ros.metrics import wilson_interval

# Beyond this no number of rollouts is of use to anyone.
MOST = 10**12
# Pairs up to which the power of McNemar's exact test is computed.
MOST_EXACT = 100_000


def mcnemar_sample_size(
    difference: float, discordance: float, power: float = 0.8, alpha: float = 0.05
) -> int:
    """Number of pairs with which McNemar's test by chi-squared finds a difference. Connor 1987;
    PhAIL, appendix H, whose printed 600 to 1500 for 5 points the formula does not give: it gives
    312 and 783 at discordance 0.10 and 0.25.

    n = (z(1 - alpha / 2) sqrt(discordance) + z(power) sqrt(discordance - difference^2))^2
    / difference^2, rounded up.

    Args:
        difference: of the two success rates, in [-1, 1], not 0; its sign does not matter.
        discordance: share of the pairs in which one policy succeeds and the other fails, from
            |difference| to 1.
        power: probability that the test finds it, in (0, 1), at least alpha / 2.
        alpha: level of the test, two-sided, in (0, 1).

    Raises:
        ValueRangeError: an argument is out of its range, or the number exceeds 10^12.
    """
    effect = abs(difference)
    if not 0.0 < effect <= 1.0:
        raise ValueRangeError(
            f'difference is {difference}; a difference of two rates that is not 0, from -1 to 1, '
            'is expected: no number of pairs finds none'
        )
    if not effect <= discordance <= 1.0:
        raise ValueRangeError(
            f'discordance is {discordance}; {effect:g} to 1 is expected: at least the difference '
            'of the rates'
        )
    spread = NormalDist().inv_cdf(1.0 - checked_level(alpha, 'alpha') / 2.0) * sqrt(discordance)
    reach = NormalDist().inv_cdf(checked_level(power, 'power'))
    root = (spread + reach * sqrt(max(discordance - effect * effect, 0.0))) / effect
    if not root > 0.0:
        raise ValueRangeError(
            f'power is {power}; more than the {alpha / 2:g} is expected that chance alone gives'
        )
    if not root * root <= MOST:
        raise ValueRangeError(f'a difference of {difference} needs more than {MOST:.0e} pairs')
    # Rounding in the last places must not add a pair.
    return max(ceil(root * root * (1.0 - 1e-12)), 1)


def mcnemar_power(pairs: int, difference: float, discordance: float, alpha: float = 0.05) -> float:
    """Power of McNemar's exact two-sided test (`mcnemar_exact`): the probability that it finds the
    difference, in its direction. The number of discordant pairs is binomial, and so is that of
    those for the better policy.

    Args:
        pairs: 1 or more.
        difference, discordance, alpha: as of `mcnemar_sample_size`; the difference may be 0.

    Raises:
        ValueRangeError: an argument is out of its range, or no pairs.
    """
    from scipy.stats import binom

    effect = abs(difference)
    if not (pairs >= 1 and effect <= discordance <= 1.0 and discordance > 0.0):
        raise ValueRangeError(
            f'{counted(pairs, "pair")}, difference {difference}, discordance {discordance}; at '
            'least one pair and |difference| <= discordance <= 1 are expected'
        )
    level = checked_level(alpha, 'alpha')
    # Numbers of discordant pairs beyond nine standard deviations do not occur.
    reach = 9.0 * sqrt(pairs * discordance * (1.0 - discordance))
    middle = pairs * discordance
    discordant = np.arange(max(0, int(middle - reach)), min(pairs, ceil(middle + reach)) + 1)
    most = binom.ppf(level / 2.0, discordant, 0.5)
    most = np.where(2.0 * binom.cdf(most, discordant, 0.5) < level, most, most - 1)
    share = min((1.0 + effect / discordance) / 2.0, 1.0)
    found = np.where(most >= 0, binom.sf(discordant - most - 1, discordant, share), 0.0)
    return min(float(binom.pmf(discordant, pairs, discordance) @ found), 1.0)


def mcnemar_exact_sample_size(
    difference: float, discordance: float, power: float = 0.8, alpha: float = 0.05
) -> int:
    """Number of pairs with which McNemar's exact test (`mcnemar_exact`) has the power, and with one
    fewer has not; some more than Connor's formula gives, which is of the test by chi-squared.

    Args:
        difference, discordance, power, alpha: as of `mcnemar_sample_size`.

    Returns:
        Connor's number beyond 100,000, where they differ by less than 1 %.

    Raises:
        ValueRangeError: as `mcnemar_sample_size`.
    """
    many = mcnemar_sample_size(difference, discordance, power, alpha)
    if many > MOST_EXACT:
        return many
    few, step = 0, 1
    while mcnemar_power(many, difference, discordance, alpha) < power:
        few, many, step = many, many + step, 2 * step
    while many - few > 1:
        middle = (few + many) // 2
        is_enough = mcnemar_power(middle, difference, discordance, alpha) >= power
        few, many = (few, middle) if is_enough else (middle, many)
    return many


def wilson_sample_size(half_width: float, rate: float = 0.5, confidence: float = 0.95) -> int:
    """Smallest number of rollouts whose Wilson interval is at most rate +- half_width wide. PhAIL,
    appendix H.

    Args:
        half_width: half of the interval's length, in (0, 0.5).
        rate: success rate that is expected, in [0, 1]; 0.5 needs the most.
        confidence: two-sided coverage, in (0, 1).

    Raises:
        ValueRangeError: an argument is out of its range, or the number exceeds 10^12.
    """
    if not (isfinite(half_width) and 0.0 < half_width < 0.5):
        raise ValueRangeError(f'half_width is {half_width}; a value between 0 and 0.5 is expected')
    if not 0.0 <= rate <= 1.0:
        raise ValueRangeError(f'rate is {rate}; 0 to 1 is expected')
    few, many = 0, 1  # many: enough; few: not
    while wilson_half_width(many, rate, confidence) > half_width:
        few, many = many, 2 * many
        if many > MOST:
            raise ValueRangeError(f'half_width {half_width} needs more than {MOST:.0e} rollouts')
    while many - few > 1:
        middle = (few + many) // 2
        is_enough = wilson_half_width(middle, rate, confidence) <= half_width
        few, many = (few, middle) if is_enough else (middle, many)
    return many


def wilson_half_width(rollouts: int, rate: float, confidence: float = 0.95) -> float:
    """Returns half of the length of the Wilson interval at an observed rate; it falls with the
    number of rollouts.

    Raises:
        ValueRangeError: as `wilson_interval`.
    """
    low, high = wilson_interval(min(rate * rollouts, rollouts), rollouts, confidence)
    return (high - low) / 2.0


def checked_level(value: float, name: str) -> float:
    """Returns a probability.

    Raises:
        ValueRangeError: it is not between 0 and 1.
    """
    if not 0.0 < value < 1.0:
        raise ValueRangeError(f'{name} is {value}; a value between 0 and 1 is expected')
    return float(value)
