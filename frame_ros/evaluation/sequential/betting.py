# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Evidence that may be looked at after every pair, with no planned maximum: a bet against equality.

Under the null the discordant pairs are won by either policy with probability 1/2, whatever came
before and whatever the success rates. The capital of a gambler who bets on a win with the odds of a
mixture of p is then a nonnegative martingale that begins at 1, so that it ever reaches 1 / alpha
with probability at most alpha (Ville's inequality). Waudby-Smith and Ramdas (2024), Estimating
means of bounded random variables by betting, JRSS B 86, 1-27; the mixture is that of Krichevsky and
Trofimov (1981), IEEE Transactions on Information Theory 27, 199-207, with another prior.
"""

from __future__ import annotations

from math import inf, log

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.errors import ValueRangeError
from frame_ros.evaluation.sequential.decision import Decision
from frame_ros.evaluation.sequential.plan import SequentialPlan

# Beta(a, a) of the mixture; 1/2 is Krichevsky's and Trofimov's.
PRIOR = 2.0


def log_evidence(
    wins: ArrayLike, losses: ArrayLike, side: str = 'both', prior: float = PRIOR
) -> NDArray[np.float64]:
    """Returns the log of the e-value against 'neither policy is better', or for a side against
    'the first policy is not better' (or not worse): (...,).

    wins, losses: (...,) discordant pairs won by the first and by the second policy.

    Raises:
        ValueRangeError: a count is negative, or the side unknown.
    """
    from scipy.special import betainc, betaln

    won, lost = np.asarray(wins, float), np.asarray(losses, float)
    if np.any(won < 0) or np.any(lost < 0):
        raise ValueRangeError(f'{wins!r} wins and {losses!r} losses; counts from 0 are expected')
    if side not in ('both', 'better', 'worse'):
        raise ValueRangeError(f'side is {side!r}; expected: both, better or worse')
    if side == 'worse':
        won, lost = lost, won
    found = (won + lost) * log(2) + betaln(won + prior, lost + prior) - betaln(prior, prior)
    if side == 'both':
        return np.asarray(found)
    with np.errstate(divide='ignore'):
        # The share of the mixture above 1/2; 0, which is too little, if it is below 1e-300.
        return np.asarray(found + log(2) + np.log(betainc(lost + prior, won + prior, 0.5)))


class BettingTest:
    """An anytime-valid test: the decision holds whenever and for whatever reason one stops.

    Attributes:
        plan: alpha, side, and the maximum of pairs, if any.

    Raises:
        ValueRangeError: by its method the plan bets, and the best outcomes of all its pairs would
            not be enough.
    """

    def __init__(self, plan: SequentialPlan) -> None:
        self.plan = plan
        if plan.method == 'betting' and 0 < plan.most < (least := self._fewest_pairs()):
            raise ValueRangeError(
                f'most is {plan.most}; at least {least} pairs are needed, for the bet on fewer '
                f'never wins 1 / alpha = {1 / plan.alpha:g} times its stake'
            )

    def decide(self, pairs: int, wins: int, losses: int) -> Decision:
        """Returns the decision after so many pairs, discordant ones by who won them."""
        if self.evidence(wins, losses) >= 1 / self.plan.alpha:
            return Decision.BETTER if wins > losses else Decision.WORSE
        if self.plan.most and pairs >= self.plan.most:
            return Decision.NO_DIFFERENCE
        return Decision.CONTINUE

    def _fewest_pairs(self) -> int:
        """Returns the number of pairs below which nothing can be claimed."""
        pairs, is_won = 1, self.plan.side != 'worse'
        while self.evidence(pairs * is_won, pairs * (not is_won)) < 1 / self.plan.alpha:
            pairs += 1
        return pairs

    def evidence(self, wins: int, losses: int) -> float:
        """Returns the e-value: how many times its stake the bet has won."""
        value = float(log_evidence(wins, losses, self.plan.side))
        return float(np.exp(value)) if value < 700 else inf
