# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Campaigns of failure prediction: trials of a policy, and their episodes with kinds of failure."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from frame_ros.confidence.score_episode import ScoreEpisode
from frame_ros.evaluation.failure_prediction.faults import FAULTS, NONE
from frame_ros.evaluation.failure_prediction.trial import episode_trial, kept_episode
from frame_ros.evaluation.trials.campaign import Outcome, Trial

OWN = 'own'  # kind of a failure without a planted fault
SEEDS = 1000  # at most of one policy and fault


@dataclass(frozen=True)
class PolicyTrials:
    """The trials of one policy.

    Attributes:
        name: in tables.
        policy: as `make_policy` takes it.
        options: of it, and `n_action_steps`.
        undisturbed: episodes without a fault.
        faults: planted in further episodes.
        disturbed: episodes of each.
        first_seed: at least SEEDS times the number of FAULTS apart from that of another.
    """

    name: str
    policy: str
    undisturbed: int
    disturbed: int
    first_seed: int
    faults: Sequence[str] = tuple(kind for kind in FAULTS if kind != NONE)
    options: Mapping[str, Any] = field(default_factory=dict)

    def trials(self, share: float = 1.0) -> Iterator[Trial]:
        """Yields the trials, shuffled, so that an interrupted campaign has some of each kind.

        Args:
            share: of each kind, the first ones, at least one.
        """
        wanted = []
        for place, kind in enumerate(FAULTS):
            most = self.undisturbed if kind == NONE else self.disturbed
            if kind == NONE or kind in self.faults:
                first = self.first_seed + SEEDS * place
                count = min(most, max(1, round(share * most)))
                wanted += [(kind, seed) for seed in range(first, first + count)]
        random.Random(0).shuffle(wanted)
        for kind, seed in wanted:
            yield episode_trial(self.name, self.policy, kind, seed, **self.options)


@dataclass(frozen=True)
class PolicyEpisodes:
    """The judged episodes of one policy.

    Attributes:
        episodes: undisturbed successes and all failures.
        kinds: of failure, the planted fault or OWN; '' of a success.
        recovered: disturbed episodes that succeeded, which are in no figure.
    """

    name: str
    episodes: list[ScoreEpisode]
    kinds: list[str]
    recovered: int


def episodes_of(name: str, outcomes: Sequence[Outcome]) -> PolicyEpisodes:
    """Returns the episodes of the policy of that name; outcomes with a problem are left out."""
    found = PolicyEpisodes(name, [], [], 0)
    recovered = 0
    for outcome in outcomes:
        settings = outcome.trial.settings
        if settings['group'] != name or outcome.problem:
            continue
        episode, fault = kept_episode(outcome), str(settings['fault'])
        if episode.outcome and fault != NONE:
            recovered += 1
            continue
        found.episodes.append(episode)
        found.kinds.append('' if episode.outcome else OWN if fault == NONE else fault)
    return PolicyEpisodes(name, found.episodes, found.kinds, recovered)
