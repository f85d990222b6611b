# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The tests with a planned maximum of pairs."""

from __future__ import annotations

from frame_ros.core.errors import ValueRangeError
from frame_ros.evaluation.sequential.boundaries import Boundaries, boundaries
from frame_ros.evaluation.sequential.decision import Decision
from frame_ros.evaluation.sequential.operating_characteristics import (
    Characteristics,
    characteristics,
    decision_at,
)
from frame_ros.evaluation.sequential.plan import SequentialPlan


class BoundedTest:
    """A test by Lai's or Barnard's boundaries. Its error rate counts every stop as final: going on
    after one, in hope of another decision, makes it void.

    Attributes:
        plan: alpha, most, method and side.
        boundaries: the decision of every state, and the exact error rate.

    Raises:
        ValueRangeError: so few pairs cannot show a difference at alpha, or the method is betting.
    """

    def __init__(self, plan: SequentialPlan) -> None:
        self.plan = plan
        self.boundaries: Boundaries = boundaries(
            plan.method, plan.most, plan.alpha, plan.side == 'both'
        )

    def decide(self, pairs: int, wins: int, losses: int) -> Decision:
        """Returns the decision after so many pairs, discordant ones by who won them.

        Raises:
            ValueRangeError: the counts contradict each other, or are beyond the planned maximum.
        """
        if not (min(wins, losses) >= 0 and wins + losses <= pairs <= self.plan.most):
            raise ValueRangeError(
                f'{pairs} pairs, {wins} won and {losses} lost; at most {self.plan.most} pairs are '
                'planned, and no more can be discordant than there are'
            )
        if self.plan.side == 'worse':
            return decision_at(self.boundaries.table, pairs, losses, wins).reversed
        return decision_at(self.boundaries.table, pairs, wins, losses)

    def characteristics(self, win: float, loss: float) -> Characteristics:
        """Returns power and mean number of pairs where the first policy wins and loses a pair with
        these probabilities.
        """
        if self.plan.side == 'worse':
            found = characteristics(self.boundaries.table, loss, win)
            return Characteristics(found.worse, found.better, found.no_difference, found.mean_pairs)
        return characteristics(self.boundaries.table, win, loss)
