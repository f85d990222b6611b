# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers of pairs or episodes that find the smallest difference that matters."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from statistics import NormalDist

from frame_ros.core.errors import ValueRangeError
from frame_ros.evaluation.planning.sample_sizes import mcnemar_exact_sample_size


@dataclass(frozen=True)
class Aim:
    """A difference that a comparison shall find, stated before the data are seen.

    Attributes:
        margin: the smallest difference of success rates or partial credit that matters, in (0, 1).
        power: probability that it is found, in (0, 1).
        level: of the tests and, as 1 - level, of their intervals, in (0, 1).
        comparisons: number of comparisons among which the level is shared.

    Raises:
        ValueRangeError: a value is outside its range.
    """

    margin: float = 0.1
    power: float = 0.8
    level: float = 0.05
    comparisons: int = 1

    def __post_init__(self) -> None:
        for name, value in (('margin', self.margin), ('power', self.power), ('level', self.level)):
            if not 0.0 < value < 1.0:
                raise ValueRangeError(f'{name} is {value}; a value between 0 and 1 is expected')
        if self.comparisons < 1:
            raise ValueRangeError(f'{self.comparisons} comparisons; at least one is expected')

    @property
    def confidence(self) -> float:
        """Coverage of the intervals."""
        return 1.0 - self.level

    @property
    def shared_level(self) -> float:
        """Level of one comparison by Bonferroni, which Holm's first step has too."""
        return self.level / self.comparisons


def needed_pairs(discordant: int, pairs: int, aim: Aim) -> int:
    """Returns the number of pairs with which McNemar's exact test has the power.

    The share of discordant pairs is taken as (discordant + 1) / (pairs + 2), at least the margin:
    a few pairs without discordance do not show that there is none.
    """
    share = min(1.0, max(aim.margin, (discordant + 1) / (pairs + 2)))
    return mcnemar_exact_sample_size(aim.margin, share, aim.power, aim.shared_level)


def needed_episodes(successes: int, trials: int, aim: Aim) -> int:
    """Returns the number of episodes of each policy for a test of unpaired successes, by the normal
    approximation (Fleiss 1981, equation 3.14, equal numbers, without correction).

    The rates are taken as the margin apart around (successes + 1) / (trials + 2) of both policies,
    moved into [0, 1].
    """
    half = aim.margin / 2.0
    centre = min(1.0 - half, max(half, (successes + 1) / (trials + 2)))
    low, high = centre - half, centre + half
    reach = NormalDist().inv_cdf(1.0 - aim.shared_level / 2.0) * sqrt(2.0 * centre * (1.0 - centre))
    reach += NormalDist().inv_cdf(aim.power) * sqrt(low * (1.0 - low) + high * (1.0 - high))
    return max(1, ceil((max(reach, 0.0) / aim.margin) ** 2))


def needed_for_mean(deviation: float, aim: Aim) -> int:
    """Returns the number of pairs, or of episodes of each policy, that finds a mean difference of
    the margin: ((z(1 - level / 2) + z(power)) deviation / margin)^2.

    deviation: standard deviation of a pair's difference, or the root of the sum of both policies'
    variances.
    """
    z = NormalDist().inv_cdf(1.0 - aim.shared_level / 2.0) + NormalDist().inv_cdf(aim.power)
    return max(1, ceil((max(z, 0.0) * deviation / aim.margin) ** 2))
