# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Decisions of a sequential test after a pair."""

from __future__ import annotations

from frame_ros.core.meanings import MeaningEnum
from frame_ros.evaluation.statistics.verdict import Verdict


class Decision(MeaningEnum):
    """Decisions on the first policy compared with the second; all but the first are final."""

    CONTINUE = 'continue', 'another pair is needed'
    BETTER = 'better', 'the first is better'
    WORSE = 'worse', 'the first is worse'
    NO_DIFFERENCE = (
        'no difference found',
        'no difference was found, and finding one by the last pair is unlikely or impossible; '
        'this does not mean that the policies are equal',
    )

    @property
    def verdict(self) -> Verdict:
        """The verdict of the same meaning, which has the exit status."""
        return VERDICTS[self]

    @property
    def reversed(self) -> Decision:
        """The decision on the second policy compared with the first."""
        swapped = {Decision.BETTER: Decision.WORSE, Decision.WORSE: Decision.BETTER}
        return swapped.get(self, self)


VERDICTS = {
    Decision.CONTINUE: Verdict.UNDERPOWERED,
    Decision.BETTER: Verdict.BETTER,
    Decision.WORSE: Verdict.WORSE,
    Decision.NO_DIFFERENCE: Verdict.INDISTINGUISHABLE,
}
# Decision of each code in a table of decisions.
CODES = tuple(Decision)
