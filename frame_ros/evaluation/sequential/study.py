# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A sequential comparison of two policies, pair by pair."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from frame_ros.core.errors import ValueRangeError
from frame_ros.evaluation.sequential.betting import BettingTest
from frame_ros.evaluation.sequential.bounded import BoundedTest
from frame_ros.evaluation.sequential.confidence_sequence import DifferenceSequence, checked_outcome
from frame_ros.evaluation.sequential.decision import Decision
from frame_ros.evaluation.sequential.plan import SequentialPlan


@dataclass(frozen=True)
class Step:
    """The state of a study after a pair.

    Attributes:
        pairs: so far.
        first_successes, second_successes: of either policy.
        wins, losses: pairs in which only the first, or only the second policy succeeded.
        decision: on the first compared with the second.
        lower, upper: of the difference of the success rates, first minus second; two-sided, and
            valid after every pair at once, whatever the method.
        evidence: e-value against the null; at least 1 / alpha is enough by itself.
    """

    pairs: int
    first_successes: int
    second_successes: int
    wins: int
    losses: int
    decision: Decision
    lower: float
    upper: float
    evidence: float

    @property
    def difference(self) -> float:
        """Success rate of the first minus that of the second; 0 before the first pair."""
        return (self.wins - self.losses) / max(self.pairs, 1)


class SequentialStudy:
    """Takes the outcomes of pair after pair, and says when to stop.

    Attributes:
        plan: of the study, fixed at its start.
        step: the state after the last pair.

    Raises:
        ValueRangeError: the planned maximum is too small for alpha.
    """

    def __init__(self, plan: SequentialPlan | None = None) -> None:
        self.plan = SequentialPlan() if plan is None else plan
        self._bets = BettingTest(self.plan)
        self._test = self._bets if self.plan.method == 'betting' else BoundedTest(self.plan)
        self._interval = DifferenceSequence(self.plan.alpha)
        self.step = Step(0, 0, 0, 0, 0, Decision.CONTINUE, -1.0, 1.0, 1.0)

    def update(self, first: bool, second: bool) -> Step:
        """Returns the state after another pair.

        first, second: whether either policy succeeded.

        Raises:
            ValueRangeError: the study has ended: a decision is final; or an outcome is neither True
                nor False.
        """
        first, second = checked_outcome(first), checked_outcome(second)
        old = self.step
        if old.decision is not Decision.CONTINUE:
            raise ValueRangeError(
                f'the study ended after {old.pairs} pairs: {old.decision}; a further pair belongs '
                'to a new study'
            )
        pairs = old.pairs + 1
        wins = old.wins + (first and not second)
        losses = old.losses + (second and not first)
        self.step = Step(
            pairs,
            old.first_successes + bool(first),
            old.second_successes + bool(second),
            wins,
            losses,
            self._test.decide(pairs, wins, losses),
            *self._interval.update(first, second),
            self._bets.evidence(wins, losses),
        )
        return self.step


def sequential_test(
    first: Iterable[bool], second: Iterable[bool], plan: SequentialPlan | None = None
) -> list[Step]:
    """Returns the states of a study after each pair, up to its decision; later pairs are not used.

    first, second: (n,) whether either policy succeeded, in the order of the pairs. Outcomes of
    streams that are not paired are paired by their order: valid where neither policy's success rate
    changes with what came before, and which episode comes next does not depend on outcomes.

    Raises:
        ValueRangeError: the numbers of outcomes differ, or one is neither true nor false.
    """
    a, b = list(first), list(second)
    if len(a) != len(b):
        raise ValueRangeError(f'{len(a)} and {len(b)} outcomes; as many of both are expected')
    outcomes = [(checked_outcome(one), checked_outcome(other)) for one, other in zip(a, b)]
    study = SequentialStudy(plan)
    steps: list[Step] = []
    for one, other in outcomes:
        steps.append(study.update(one, other))
        if study.step.decision is not Decision.CONTINUE:
            break
    return steps
