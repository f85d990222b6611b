# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of the comparison of policies."""

from __future__ import annotations

from frame_ros.core.options import option, options
from frame_ros.evaluation.policy_comparison.facts import OPTIONAL

CORRECTIONS = ('holm', 'bonferroni')


@options
class ComparisonOptions:
    """The comparison of policies."""

    tau: float = option(
        240.0, 'horizon of restricted mean, completion, rates and tests', unit='s', above=0.0
    )
    success_times: tuple[float, ...] = option(
        (30.0, 60.0), 'times at which the share of done operations is given', unit='s', above=0.0
    )
    resamples: int = option(1000, 'of whole episodes, for intervals and tests', at_least=100)
    seed: int = option(0, 'of the resamples', at_least=0)
    alpha: float = option(0.05, 'level of the tests; intervals cover 1 - alpha', above=0, below=0.5)
    correction: str = option(
        'holm', 'adjustment for the number of pairs that verdicts follow', choices=CORRECTIONS
    )
    smallest_difference: float = option(
        0.1,
        'smallest difference that matters, of success rates or, on every object, of the shares '
        'done by some time: a test with too few episodes to find it is underpowered',
        above=0.0, below=1.0,
    )  # fmt: skip
    power: float = option(0.8, 'probability of finding that difference', at_least=0.5, below=1.0)
    human: str = option('', 'policy that is the human reference, where the episodes do not say it')
    may_differ: tuple[str, ...] = option(
        (), 'facts in which policies may differ and be compared all the same', choices=OPTIONAL
    )
    baseline: str = option('', 'policy against which the candidate is judged')
    candidate: str = option('', 'policy that is judged')
