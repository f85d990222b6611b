# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Successes and stages of two policies: paired first, unpaired as sensitivity, with a verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from frame_ros.core.plain_text import counted
from frame_ros.evaluation.binary.needed import Aim, needed_episodes, needed_pairs
from frame_ros.evaluation.binary.pairing import Pairing, Unpaired, pair_episodes
from frame_ros.evaluation.binary.partial_credit import RESAMPLES
from frame_ros.evaluation.binary.stages import StageComparison, compare_stages
from frame_ros.evaluation.binary.successes import (
    PairedSuccesses,
    UnpairedSuccesses,
    paired_successes,
    unpaired_successes,
)
from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome
from frame_ros.evaluation.statistics.verdict import (
    Judgement,
    Sensitivity,
    judge,
    sensitivity_of,
)

# Names of episodes that a remark lists.
MOST_NAMES = 5


@dataclass(frozen=True)
class SuccessComparison:
    """Successes and stages of two policies.

    Attributes:
        first, second: names of the policies.
        pairing: of all their episodes.
        pairs: places of both episodes of those pairs of which both outcomes are known.
        counted: places of the episodes that the unpaired comparison has, of either policy.
        paired: of the pairs of which both outcomes are known; None if there is none.
        unpaired: of all episodes with known outcomes on common objects; None if there is none.
        is_paired: whether the paired test is the primary one: at least half of the episodes of the
            policy that has fewer are in pairs. This depends on no outcome.
        stages: None if no stages are known of both.
        facts: why the successes cannot be compared, in words; empty if they can.
        remarks: rules that were applied to episodes, in words.
    """

    first: str
    second: str
    aim: Aim
    pairing: Pairing
    pairs: tuple[tuple[int, int], ...]
    counted: tuple[tuple[int, ...], tuple[int, ...]]
    paired: PairedSuccesses | None
    unpaired: UnpairedSuccesses | None
    is_paired: bool
    stages: StageComparison | None
    facts: tuple[str, ...]
    remarks: tuple[str, ...]

    @property
    def primary(self) -> PairedSuccesses | UnpairedSuccesses | None:
        """The result that the verdict rests on."""
        return self.paired if self.is_paired else self.unpaired

    @property
    def p(self) -> float:
        """Two-sided p-value of the primary test, not adjusted; NaN if there is none."""
        return self.primary.p if self.primary else float('nan')

    @property
    def have(self) -> int:
        """Number of pairs; without pairs episodes of the policy that has fewer."""
        if isinstance(self.primary, PairedSuccesses):
            return self.primary.counts.pairs
        return min(self.counts or (0, 0))

    @property
    def counts(self) -> tuple[int, int] | None:
        """Episodes of the first and the second policy in the unpaired result, if that is primary;
        else None.
        """
        if isinstance(self.primary, UnpairedSuccesses):
            return self.primary.trials_a, self.primary.trials_b
        return None

    @property
    def needed(self) -> int | None:
        """Number of pairs, or of episodes of each policy, that finds the margin; None if there is
        no result.
        """
        return _needed(self.primary, self.aim)

    def judged(self, p: float | None = None, comparisons: int | None = None) -> Judgement:
        """Returns the verdict on the successes.

        p: adjusted for the other comparisons; that of the test alone by default.
        comparisons: number of them, for the number of episodes needed; that of the aim by default.
        """
        aim = self.aim if comparisons is None else replace(self.aim, comparisons=comparisons)
        p = self.p if p is None else p
        return judge(
            p,
            [self.primary.difference] if self.primary else [],
            have=self.have,
            needed=_needed(self.primary, aim),
            differing_facts=self.facts,
            level=aim.level,
            unit='pairs' if self.is_paired else 'episodes of each policy',
            counts=self.counts,
            sensitivity=None if p <= aim.level else self._sensitivity(aim),
        )

    def _sensitivity(self, aim: Aim) -> Sensitivity | None:
        """Returns the differences that the primary test finds."""
        if self.primary is None:
            return None
        return sensitivity_of(
            lambda margin: _needed(self.primary, replace(aim, margin=margin)),
            self.have,
            aim.margin,
            aim.power,
        )


def compare_successes(
    first: Sequence[EpisodeOutcome],
    second: Sequence[EpisodeOutcome],
    aim: Aim | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> SuccessComparison:
    """Compares the successes and stages of two policies.

    Pairs are made before outcomes are looked at; one of which an outcome is not known is left out,
    and the other episode counts among the unpaired ones only. The unpaired comparison has all
    episodes with known outcomes on tasks and objects of both policies, paired or not.

    Args:
        first, second: episodes of one policy each.
        aim: the smallest difference that matters, power and level.
        resamples, seed: of the intervals of mean partial credit.
    """
    aim = aim or Aim()
    pairing = pair_episodes(first, second)
    pairs = tuple(
        (i, j)
        for i, j in pairing.pairs
        if first[i].is_success is not None and second[j].is_success is not None
    )
    a, b = (
        np.array([outcomes[pair[side]].is_success for pair in pairs], np.bool_)
        for side, outcomes in enumerate((first, second))
    )
    paired = paired_successes(a, b, aim.confidence) if pairs else None
    strata, alone = _strata(first, second)
    counted = [
        tuple(
            place
            for place, each in enumerate(outcomes)
            if each.is_success is not None and (each.task, each.object) in strata
        )
        for outcomes in (first, second)
    ]
    unpaired = unpaired_successes(strata, aim.confidence) if strata else None
    fewer = min(unpaired.trials_a, unpaired.trials_b) if unpaired else 0
    is_paired = paired is not None and 2 * len(pairs) >= fewer
    names = _name(first), _name(second)
    return SuccessComparison(
        *names,
        aim,
        pairing,
        pairs,
        (counted[0], counted[1]),
        paired,
        unpaired,
        is_paired,
        compare_stages(first, second, pairing.pairs, aim, resamples, seed),
        tuple(_facts(first, second, bool(strata))),
        tuple(_remarks(names, (first, second), pairing, alone, unpaired, len(pairs))),
    )


def _needed(primary: PairedSuccesses | UnpairedSuccesses | None, aim: Aim) -> int | None:
    if isinstance(primary, PairedSuccesses):
        return needed_pairs(primary.counts.discordant, primary.counts.pairs, aim)
    if primary is None:
        return None
    successes = primary.successes_a + primary.successes_b
    return needed_episodes(successes, primary.trials_a + primary.trials_b, aim)


Outcomes = dict[tuple[str, str], tuple[list[bool], list[bool]]]


def _strata(
    first: Sequence[EpisodeOutcome], second: Sequence[EpisodeOutcome]
) -> tuple[Outcomes, list[tuple[str, str]]]:
    """Outcomes by task and object of both policies, and the objects that one of them lacks."""
    found: Outcomes = {}
    for side, outcomes in enumerate((first, second)):
        for each in outcomes:
            if each.is_success is not None:
                own = found.setdefault((each.task, each.object), ([], []))
                own[side].append(each.is_success)
    both = {key: (a, b) for key, (a, b) in found.items() if a and b}
    return both, [key for key in found if key not in both]


def _name(outcomes: Sequence[EpisodeOutcome]) -> str:
    return outcomes[0].policy if outcomes else ''


def _facts(
    first: Sequence[EpisodeOutcome], second: Sequence[EpisodeOutcome], are_common: bool
) -> list[str]:
    for outcomes in (first, second):
        if not any(each.is_success is not None for each in outcomes):
            name = _name(outcomes) or 'a policy'
            return [f'{name} has no episode of which success or failure is known']
    return [] if are_common else ['the policies have no task and object in common']


def _remarks(
    names: tuple[str, str],
    sides: tuple[Sequence[EpisodeOutcome], Sequence[EpisodeOutcome]],
    pairing: Pairing,
    alone: Sequence[tuple[str, str]],
    unpaired: UnpairedSuccesses | None,
    pairs: int,
) -> list[str]:
    found = []
    has_keys = any(each.pair for outcomes in sides for each in outcomes)
    for name, outcomes, left in zip(names, sides, (pairing.first_left, pairing.second_left)):
        if has_keys:
            for reason in Unpaired:
                places = [place for place, own in left.items() if own is reason]
                if places:
                    listed = listed_names([outcomes[place].name for place in places])
                    found.append(f'{name}: {len(places)} unpaired, as {reason.meaning}: {listed}')
        unknown = [each.name for each in outcomes if each.is_success is None]
        if unknown:
            found.append(
                f'{name}: {len(unknown)} do not count, as neither success nor failure is known: '
                f'{listed_names(unknown)}'
            )
    if alone:
        words = listed_names([' '.join(filter(None, key)) or '(not named)' for key in alone])
        found.append(f'objects of one policy only do not count: {words}')
    several = Counter(count for count in _key_counts(sides[0], pairing) if count > 1)
    if several:
        found.append(f'{sum(several.values())} pair keys have several pairs, matched in order')
    if unpaired and unpaired.is_stratified:
        found.append(
            'the policies have unequal shares of the objects: the unpaired comparison is within '
            "objects, and Boschloo's test of all episodes is of the objects, too"
        )
    fewer = min(unpaired.trials_a, unpaired.trials_b) if unpaired else 0
    if has_keys and 2 * pairs < fewer:
        found.append(
            f'{counted(fewer, "episode")} of a policy make {counted(pairs, "pair")}, less than '
            'half: the test of all episodes decides'
        )
    elif pairs == 1:
        found.append('there is one pair: no test can find a difference')
    return found


def _key_counts(first: Sequence[EpisodeOutcome], pairing: Pairing) -> list[int]:
    keys = Counter((first[i].task, first[i].object, first[i].pair) for i, _ in pairing.pairs)
    return list(keys.values())


def listed_names(names: Sequence[str]) -> str:
    """Returns the first names, and how many more there are."""
    more = len(names) - MOST_NAMES
    return ', '.join(names[:MOST_NAMES]) + (f' and {more} more' if more > 0 else '')
