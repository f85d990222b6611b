# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of the planning of rollouts."""

from __future__ import annotations

from frame_ros.core.options import option, options, rule
from frame_ros.evaluation.planning.bridge import SIMULATIONS
from frame_ros.evaluation.planning.detection import ALPHA, RESAMPLES, TARGET, TRIALS
from frame_ros.evaluation.survival.samples import TAU


@options
class PlanOptions:
    """Numbers of rollouts."""

    success_rate: float = option(0.5, 'that is expected', at_least=0.0, at_most=1.0)
    half_width: float = option(
        0.05, "half of the length that the success rate's interval shall have", above=0.0, below=0.5
    )
    difference: float = option(0.05, 'of success rates that shall be found', above=0.0, at_most=1.0)
    discordance: float = option(
        0.0,
        'share of pairs in which one policy succeeds and the other fails; 0: as if the policies '
        'succeeded independently, at the success rate and the difference above or below it',
        at_least=0.0, at_most=1.0,
    )  # fmt: skip
    power: float = option(TARGET, 'probability of finding it', above=0.0, below=1.0)
    alpha: float = option(ALPHA, 'level of the tests', above=0.0, below=0.5)
    tau: float = option(TAU, 'time up to which CDFs are compared', unit='s', above=0.0)
    thresholds: tuple[float, ...] = option(
        (), 'times at which success is compared; none: by which 1/2 and 3/4 are done', unit='s',
        above=0.0,
    )  # fmt: skip
    episodes: tuple[int, ...] = option(
        (),
        'of each policy and object, at which the detection rate is found; none: 1/4 to 2 times '
        'those that there are',
        at_least=2, at_most=10_000,
    )  # fmt: skip
    trials: int = option(TRIALS, 'subsamples of each number', at_least=10, at_most=100_000)
    resamples: int = option(RESAMPLES, 'of each subsample', at_least=19, at_most=100_000)
    simulations: int = option(
        SIMULATIONS, 'Brownian bridges of each object', at_least=100, at_most=1_000_000
    )
    seed: int = option(0, 'of everything that is drawn', at_least=0)

    @rule('resamples', 'at least 1 / alpha: with fewer no p is below alpha')
    def _can_reject(self) -> bool:
        return self.resamples * self.alpha >= 1.0
