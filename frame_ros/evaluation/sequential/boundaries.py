# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of decisions with a stated error rate, for a planned maximum of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import Protocol

from frame_ros.core.errors import ValueRangeError
from frame_ros.evaluation.sequential.barnard import barnard_table
from frame_ros.evaluation.sequential.lai import lai_table
from frame_ros.evaluation.sequential.operating_characteristics import Table, type_one_error

# The search ends when the error rate is that close to alpha, as a share of it, or the log of the
# penalty that well known.
CLOSE, NARROW = 0.005, 0.01
STEP = 0.3
# More than between the points of the grid of discordances.
MARGIN = 3e-5


class _Method(Protocol):
    def __call__(self, most: int, is_two_sided: bool, log_penalty: float, /) -> Table: ...


# Method -> its table, and about what log penalty times alpha gives alpha, one- and two-sided.
METHODS: dict[str, tuple[_Method, float, float]] = {
    'lai': (lai_table, -1.7, -1.0),
    'barnard': (barnard_table, -0.3, 0.35),
}


@dataclass(frozen=True)
class Boundaries:
    """The decisions of a test with a planned maximum.

    Attributes:
        table: per n, codes of decisions at (m, w); see `operating_characteristics`.
        type_one: largest probability of a claim under any null, stops without a claim counted as
            final (binding).
        worst_discordance: of the null where it is reached.
    """

    table: Table
    type_one: float
    worst_discordance: float


@lru_cache(maxsize=8)
def boundaries(method: str, most: int, alpha: float, is_two_sided: bool) -> Boundaries:
    """Returns the boundaries with an error rate of at most alpha under every null.

    Two-sided: half of it is in either direction. One-sided: only better can be claimed.

    Raises:
        ValueRangeError: no outcome of so many pairs is rare enough, or there is no such method.
    """
    if method not in METHODS:
        raise ValueRangeError(f'method is {method!r}; expected: {", ".join(METHODS)}')
    if not 0.0 < alpha <= 0.5:
        raise ValueRangeError(f'alpha is {alpha}; a value above 0 and at most 0.5 is expected')
    least = fewest_pairs(alpha, is_two_sided)
    if most < least:
        raise ValueRangeError(
            f'most is {most}; at least {least} pairs are needed, for no outcome of fewer has a '
            f'probability of at most {alpha:g} under the null'
        )
    found = _search(method, most, alpha, is_two_sided)
    if found.type_one <= 0:
        raise ValueRangeError(
            f'most is {most}; too few pairs for the method {method} at alpha = {alpha:g}: plan '
            f'{2 * least} or more, or another method'
        )
    return found


def fewest_pairs(alpha: float, is_two_sided: bool) -> int:
    """Returns the number of pairs below which nothing can be claimed: 2^-n must not exceed alpha,
    or its half.
    """
    pairs = 1
    while 0.5**pairs * (2 if is_two_sided else 1) > alpha - MARGIN:
        pairs += 1
        if pairs > 1000:
            break
    return pairs


def _search(method: str, most: int, alpha: float, is_two_sided: bool) -> Boundaries:
    """Bisects the penalty of a wrong claim; the error rate falls with it, in steps."""
    make, *offsets = METHODS[method]
    bar = max(alpha - MARGIN, alpha / 2)

    def at(penalty: float) -> Boundaries:
        table = make(most, is_two_sided, penalty)
        return Boundaries(table, *type_one_error(table))

    penalty = offsets[is_two_sided] - log(alpha)
    step, found = STEP, at(penalty)
    while found.type_one > bar:
        penalty, step = penalty + step, 2 * step
        found = at(penalty)
    high, low = penalty, penalty - step
    while (lower := at(low)).type_one <= bar and high - low < 8:
        high, found, low, step = low, lower, low - step, 2 * step
    while high - low > NARROW and found.type_one < bar - CLOSE * alpha:
        middle = (low + high) / 2
        tried = at(middle)
        if tried.type_one <= bar:
            high, found = middle, tried
        else:
            low = middle
    return found
